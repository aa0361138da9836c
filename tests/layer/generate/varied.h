/* Graphics pipelines' create infos as full as vk.xml lets them be (validity.h), in variations. */
#pragma once

#include "base/arena.h"
#include <stdbool.h>
#include <vulkan/vulkan.h>

struct variation {
    const VkDynamicState *dynamic;
    uint32_t dynamic_count;
    VkGraphicsPipelineLibraryFlagsEXT parts;
    bool render_pass;
};

/* Its memory is the arena's. */
void varied_fill(struct pm_arena *arena, const struct variation *by,
                 VkGraphicsPipelineCreateInfo *info);
/* Calls for each state that can be dynamic, and for each part that a library can be. */
void varied_each_dynamic(void (*visit)(const struct variation *by, uint64_t which));
void varied_each_part(void (*visit)(const struct variation *by, uint64_t which));
