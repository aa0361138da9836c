/*
 * A post-process chain of compute shaders over a picture with depth, normals and motion: ambient
 * occlusion, screen-space reflections, their blend, a temporal resolve, bloom, and a composite with
 * depth of field, motion blur and tone map. The functions are those of a struct pm_example. Thread
 * safety: one thread at a time.
 */
#pragma once

#include "examples/common/example.h"
#include "examples/postprocess/stage.h"

/* In the order of the example's names. */
enum pm_post_pass {
    PM_POST_SCENE,
    PM_POST_OCCLUSION,
    PM_POST_REFLECTIONS,
    PM_POST_LIGHT,
    PM_POST_TEMPORAL,
    PM_POST_BRIGHT,
    PM_POST_BLUR,
    PM_POST_COMPOSITE,
    PM_POST_PASSES
};

/* In the order of frame.glsl's bindings, but for the two that frames exchange. */
enum pm_post_image {
    PM_POST_COLOR,
    PM_POST_SURFACE,
    PM_POST_GEOMETRY,
    PM_POST_OCCLUDED,
    PM_POST_REFLECTED,
    PM_POST_LIT,
    PM_POST_RESOLVED_A,
    PM_POST_RESOLVED_B,
    PM_POST_BLOOM,
    PM_POST_BLURRED,
    PM_POST_IMAGES
};

/* As frame.glsl has it. */
struct pm_post_constants {
    pm_mat4 view, view_projection, inverse_view, before;
    float eye[4], lens[4], jitter[4], size[4], sun_direction[4], sun_color[4], sky_low[4],
        sky_high[4], bloom[4], focus[4];
};

struct pm_post_frame {
    struct pm_gpu_buffer constants, shapes; /* shapes: the balls, then the boxes */
    VkDescriptorSet set;
    /* What each pass writes; the blur's two directions write two images. */
    VkDescriptorSet outputs[PM_POST_PASSES], back;
};

struct pm_post {
    const struct pm_gpu *gpu;
    const struct pm_gpu_image *picture;
    uint32_t width, height; /* pixels */
    bool scalar;
    struct pm_stage stage;
    struct pm_gpu_image images[PM_POST_IMAGES];
    VkSampler sampler;
    VkDescriptorSetLayout frame_layout, output_layout;
    VkPipelineLayout layout;
    VkPipeline pipelines[PM_POST_PASSES];
    VkDescriptorPool pool;
    struct pm_post_frame frames[PM_FRAMES_IN_FLIGHT];
};

bool pm_post_init(void *renderer, const struct pm_example_setting *setting, struct pm_error *error);
void pm_post_finish(void *renderer);
void pm_post_update(void *renderer, uint32_t frame, float time);
void pm_post_record(void *renderer, uint32_t frame, const struct pm_example_recording *recording);
