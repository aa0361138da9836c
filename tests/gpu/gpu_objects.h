/*
 * Drawing with shader objects (VK_EXT_shader_object).
 *
 * Thread safety: no state.
 */
#pragma once

#include "dispatch.h"
#include <stdbool.h>

struct gpu_object_state {
    uint32_t width, height, samples;
    bool depth_test; /* less or equal, written */
    bool blend_add;
};

/* All state that shader objects leave to the command buffer, for struct pm_gpu_vertex: as
 * gpu_fixed_state_fill and pm_gpu_draw have it, with one color attachment. */
void gpu_objects_set_state(const struct pm_device_dispatch *vk, VkCommandBuffer commands,
                           const struct gpu_object_state *state);
