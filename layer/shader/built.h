/*
 * A pipeline or shader object of ours, built from what is remembered of one of the game's
 * (pipeline_build.h), and what else lives as long as it does.
 *
 * Thread safety: any thread; who destroys one is its last user.
 */
#pragma once

#include "layer/core/layer.h"

/* Libraries that are made for one variant may be nested this deep; and a shader object is linked to
 * so many others at most: a stage each, the fragment shader's aside. */
enum { PM_LIBRARY_DEPTH = 4 };

struct pm_built {
    uint64_t handle; /* PM_BITS of what is bound in the game's place; 0: not built */
    VkPipeline libraries[PM_LIBRARY_DEPTH]; /* with the replaced shader, that it was linked from;
                                               lavapipe 22.3 reads them when it draws */
    uint32_t library_count;
    VkShaderEXT shader;                   /* what the handle is; VK_NULL_HANDLE: it is a pipeline */
    VkShaderEXT linked[PM_LIBRARY_DEPTH]; /* the shader's set (shader_object.h) */
};

/* Destroys what there is of it; all of it may be null. */
void pm_built_destroy(struct pm_device *device, struct pm_built *built);
