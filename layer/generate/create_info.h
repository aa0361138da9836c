/*
 * What a create info says of itself, for whoever reads one: the generated deep copies' rules, and
 * what remembers pipelines and devices.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include "base/error.h"
#include <stdbool.h>
#include <vulkan/vulkan.h>

/* The structure of a type in a pNext chain; NULL: there is none. */
const void *pm_find_in_chain(const void *chain, VkStructureType type);

/* false and PM_ERROR_NEWER: the headers do not know a structure of this type, so it cannot be
 * copied. */
bool pm_fail_newer(struct pm_error *error, VkStructureType type);

/* dynamic NULL: nothing is. */
bool pm_is_dynamic(const VkPipelineDynamicStateCreateInfo *dynamic, VkDynamicState state);

/* A pipeline's create flags, wherever its info has them (VkPipelineCreateFlags2CreateInfo). */
VkPipelineCreateFlags2 pm_pipeline_flags(VkPipelineCreateFlags flags, const void *chain);

#define PM_ALL_STATE                                                                                      \
    ((VkGraphicsPipelineLibraryFlagsEXT)(VK_GRAPHICS_PIPELINE_LIBRARY_VERTEX_INPUT_INTERFACE_BIT_EXT |    \
                                         VK_GRAPHICS_PIPELINE_LIBRARY_PRE_RASTERIZATION_SHADERS_BIT_EXT | \
                                         VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_SHADER_BIT_EXT |           \
                                         VK_GRAPHICS_PIPELINE_LIBRARY_FRAGMENT_OUTPUT_INTERFACE_BIT_EXT))

/* Which of a complete pipeline's state comes from this info and not from libraries
 * (VkGraphicsPipelineLibraryCreateInfoEXT's description). */
VkGraphicsPipelineLibraryFlagsEXT pm_own_state(const VkGraphicsPipelineCreateInfo *info);
