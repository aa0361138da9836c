/*
 * The create infos of a case's pipeline, with all that they point to.
 *
 * Thread safety: a description belongs to one thread.
 */
#pragma once

#include "tests/cts/cts.h"

/* Points into itself: not to be copied. */
struct cts_description {
    VkShaderModuleCreateInfo words[2];
    VkSpecializationMapEntry entry;
    uint32_t constant;
    VkSpecializationInfo specialization;
    VkPipelineShaderStageCreateInfo stages[4]; /* the second is the case's shader */
    struct gpu_fixed_state fixed;
    VkPipelineMultisampleStateCreateInfo multisample;
    VkPipelineDepthStencilStateCreateInfo depth;
    VkPipelineColorBlendAttachmentState blend[2];
    VkPipelineColorWriteCreateInfoEXT writes;
    VkBool32 enables[2];
    VkPipelineColorBlendStateCreateInfo blends;
    VkPipelineTessellationStateCreateInfo tessellation;
    VkFormat formats[2];
    VkPipelineRenderingCreateInfo rendering;
    VkDynamicState dynamic[16];
    VkPipelineDynamicStateCreateInfo dynamics;
    VkPipelineRobustnessCreateInfo robust[2]; /* of the pipeline, and of the shader */
    VkGraphicsPipelineCreateInfo info;
};

void cts_describe(struct cts *cts, struct cts_description *d);
/* Only the stages, and the specialization constant that they may be given. */
void cts_describe_stages(struct cts *cts, struct cts_description *d);
/* Makes dynamic what Vulkan 1.3 lets be and use.c sets, and what was a crash once. */
void cts_make_dynamic(const struct cts *cts, struct cts_description *d);
