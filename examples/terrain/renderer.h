/*
 * A forward renderer of terrain: the ground in one draw for each of its chunks, its layers blended
 * by splat maps; water; sky; tone map. The functions are those of a struct pm_example. Thread
 * safety: one thread at a time.
 */
#pragma once

#include "examples/common/example.h"
#include "examples/terrain/land.h"

/* In the order of the example's names. */
enum pm_terrain_pass { PM_TERRAIN_LAND, PM_TERRAIN_WATER, PM_TERRAIN_SKY, PM_TERRAIN_TONEMAP };

/* As frame.glsl has it. */
struct pm_terrain_constants {
    pm_mat4 view_projection, inverse_view_projection;
    float eye[4], sun_direction[4], sun_color[4], sky_low[4], sky_high[4], land[4], weather[4],
        size[4];
};

struct pm_terrain {
    const struct pm_gpu *gpu;
    const struct pm_gpu_image *picture;
    uint32_t width, height; /* pixels */
    bool scalar;
    struct pm_land land;

    struct pm_gpu_image surface, splat_low, splat_high, mask, albedo, normal, detail, decals;
    struct pm_gpu_image hdr, depth;
    struct pm_gpu_buffer vertices, indices, decal_list;
    struct pm_gpu_buffer constants[PM_FRAMES_IN_FLIGHT];
    VkSampler repeat, clamp, nearest;
    VkRenderPass land_pass, later_pass; /* later: onto what is there */
    VkFramebuffer land_target, later_target;
    VkDescriptorSetLayout set_layout;
    VkPipelineLayout layout;
    VkPipeline ground, water, sky, tonemap;
    VkDescriptorPool pool;
    VkDescriptorSet sets[PM_FRAMES_IN_FLIGHT];
};

bool pm_terrain_init(void *renderer, const struct pm_example_setting *setting,
                     struct pm_error *error);
void pm_terrain_finish(void *renderer);
void pm_terrain_update(void *renderer, uint32_t frame, float time);
void pm_terrain_record(void *renderer, uint32_t frame,
                       const struct pm_example_recording *recording);

/* Parts of init. */
bool pm_terrain_create_textures(struct pm_terrain *terrain, unsigned place, struct pm_error *error);
bool pm_terrain_create_mesh(struct pm_terrain *terrain, struct pm_error *error);
