/*
 * What the generated deep copies (deep_copy.h) cannot know from vk.xml: members that the
 * specification says are ignored, in which applications leave garbage. Each rule gets a structure
 * that was copied by its members, before any of its pointers is followed, and clears those that must
 * not be: with its count, or with a fixed array in its place where the count or the array has to
 * stay; and the handles that a copy that shares is without. The graphics pipeline's rule comes first and leaves what the others need in struct pm_copy. Source:
 * Vulkan 1.4.309, chapters 10.2 (VkGraphicsPipelineCreateInfo and its valid usage), 14.2.1
 * (VkDescriptorSetLayoutBinding) and the chapters of each state.
 *
 * Private to pm_vulkan_generated.
 *
 * Thread safety: a struct pm_copy belongs to one call.
 */
#pragma once

#include "deep_copy.h"

struct pm_copy {
    struct pm_arena *arena;
    struct pm_interned *states; /* NULL: nothing is shared with other copies */
    struct pm_error *error;
    const struct pm_copy_subpass *subpass;  /* NULL: not known */
    bool failed;                            /* *error is filled */
    bool shares;                            /* it is without what tells copies from each other */
    bool (*left_out)(VkStructureType type); /* of chains; NULL: nothing is */

    /* of the graphics pipeline being copied */
    const VkPipelineDynamicStateCreateInfo *dynamic; /* the application's; NULL: none */
    bool reads_formats;  /* the formats of VkPipelineRenderingCreateInfo are used */
    bool counts_formats; /* their number is */
};

void pm_rule_VkGraphicsPipelineCreateInfo(struct pm_copy *copy, VkGraphicsPipelineCreateInfo *info);
void pm_rule_VkComputePipelineCreateInfo(struct pm_copy *copy, VkComputePipelineCreateInfo *info);
void pm_rule_VkPipelineShaderStageCreateInfo(struct pm_copy *copy,
                                             VkPipelineShaderStageCreateInfo *stage);
void pm_rule_VkPipelineViewportStateCreateInfo(struct pm_copy *copy,
                                               VkPipelineViewportStateCreateInfo *info);
void pm_rule_VkPipelineMultisampleStateCreateInfo(struct pm_copy *copy,
                                                  VkPipelineMultisampleStateCreateInfo *info);
void pm_rule_VkPipelineColorBlendStateCreateInfo(struct pm_copy *copy,
                                                 VkPipelineColorBlendStateCreateInfo *info);
void pm_rule_VkPipelineSampleLocationsStateCreateInfoEXT(
    struct pm_copy *copy, VkPipelineSampleLocationsStateCreateInfoEXT *info);
void pm_rule_VkPipelineDiscardRectangleStateCreateInfoEXT(
    struct pm_copy *copy, VkPipelineDiscardRectangleStateCreateInfoEXT *info);
void pm_rule_VkPipelineColorWriteCreateInfoEXT(struct pm_copy *copy,
                                               VkPipelineColorWriteCreateInfoEXT *info);
void pm_rule_VkPipelineViewportWScalingStateCreateInfoNV(
    struct pm_copy *copy, VkPipelineViewportWScalingStateCreateInfoNV *info);
void pm_rule_VkPipelineViewportShadingRateImageStateCreateInfoNV(
    struct pm_copy *copy, VkPipelineViewportShadingRateImageStateCreateInfoNV *info);
void pm_rule_VkPipelineViewportCoarseSampleOrderStateCreateInfoNV(
    struct pm_copy *copy, VkPipelineViewportCoarseSampleOrderStateCreateInfoNV *info);
void pm_rule_VkPipelineViewportExclusiveScissorStateCreateInfoNV(
    struct pm_copy *copy, VkPipelineViewportExclusiveScissorStateCreateInfoNV *info);
void pm_rule_VkPipelineViewportDepthClampControlCreateInfoEXT(
    struct pm_copy *copy, VkPipelineViewportDepthClampControlCreateInfoEXT *info);
void pm_rule_VkPipelineRenderingCreateInfo(struct pm_copy *copy,
                                           VkPipelineRenderingCreateInfo *info);
void pm_rule_VkAttachmentSampleCountInfoAMD(struct pm_copy *copy,
                                            VkAttachmentSampleCountInfoAMD *info);
void pm_rule_VkDescriptorSetLayoutBinding(struct pm_copy *copy,
                                          VkDescriptorSetLayoutBinding *binding);
