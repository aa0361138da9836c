/*
 * A deferred renderer: shadow map, geometry pass into three targets, lighting in three passes
 * (sky and sun, then the lights and the spotlights added) of a draw for each of forty interleaved
 * groups of small quads, and a compute post-process (bright parts and histogram, blur, tone map).
 * The functions are those of a struct pm_example. Thread safety: one thread at a time.
 */
#pragma once

#include "examples/common/example.h"
#include "examples/deferred/scene.h"

enum {
    PM_TILES_X = 8,
    PM_TILES_Y = 5,
    PM_TILES = PM_TILES_X * PM_TILES_Y,
    PM_TILE_WORDS = 1 + PM_MAX_LIGHTS, /* the list's length and the lights' numbers */
    PM_LIGHT_GROUPS = 40,
    PM_QUAD_SIDE = 4,          /* pixels; tile.vert */
    PM_SHADOW_SIDE = 1024,     /* texels */
    PM_SPOT_SHADOW_SIDE = 256, /* of a spot's tile of the atlas, which has a tile for each */
    PM_SPOT_TILES_X = 4,
    PM_SPOT_TILES_Y = PM_MAX_SPOTS / PM_SPOT_TILES_X,
};

/* As frame.glsl has it. */
struct pm_frame_constants {
    pm_mat4 view_projection, inverse_view_projection, sun_view_projection;
    float eye[4], sun_direction[4], sun_color[4], sky_low[4], sky_high[4], size[4];
};

/* As spots.frag has them. */
struct pm_spot_constants {
    pm_mat4 to_shadow;
    float position[4], direction[4], color[4], cone[4], tile[4];
};
struct pm_spots_constants {
    float count[4];
    struct pm_spot_constants spots[PM_MAX_SPOTS];
};

struct pm_frame {
    struct pm_gpu_buffer constants, lights, tiles, spots, histogram;
    VkDescriptorSet frame_set, light_set, post_set;
};

struct pm_renderer {
    const struct pm_gpu *gpu;
    struct pm_scene scene;
    uint32_t width, height; /* pixels */
    const struct pm_gpu_image *picture;
    bool scalar;

    struct pm_gpu_image albedo_maps, surface_maps, masks;
    struct pm_gpu_image albedo, normal, material, depth, shadow, spot_shadows, hdr, bloom_a,
        bloom_b;
    struct pm_gpu_buffer vertices, indices;
    VkSampler repeat, clamp, nearest;
    VkRenderPass shadow_pass, spot_pass, geometry_pass, sun_pass, light_pass;
    VkFramebuffer shadow_target, spot_target, geometry_target, sun_target, light_target;
    VkDescriptorSetLayout frame_layout, light_layout, post_layout;
    VkPipelineLayout geometry_pipeline_layout, light_pipeline_layout, post_pipeline_layout;
    VkPipeline materials[PM_MATERIAL_COUNT], shadow_solid, shadow_leaf, light, lights, spots,
        bright, blur, tonemap;
    VkDescriptorPool pool;
    struct pm_frame frames[PM_FRAMES_IN_FLIGHT];
    struct pm_gpu_buffer spot_constants[PM_MAX_SPOTS];
    VkDescriptorSet spot_sets[PM_MAX_SPOTS];
};

bool pm_renderer_init(void *renderer, const struct pm_example_setting *setting,
                      struct pm_error *error);
void pm_renderer_finish(void *renderer);
/* Writes the constants, the lights and the tiles' lists. */
void pm_renderer_update(void *renderer, uint32_t frame, float time);
void pm_renderer_record(void *renderer, uint32_t frame,
                        const struct pm_example_recording *recording);

/* Parts of init. */
bool pm_renderer_create_targets(struct pm_renderer *renderer, struct pm_error *error);
bool pm_renderer_create_pipelines(struct pm_renderer *renderer, struct pm_error *error);
bool pm_renderer_create_sets(struct pm_renderer *renderer, struct pm_error *error);
/* A set like a frame's, with these constants. */
bool pm_renderer_create_frame_set(const struct pm_renderer *renderer,
                                  const struct pm_gpu_buffer *constants, VkDescriptorSet *set,
                                  struct pm_error *error);
/* Everything that casts shadows, inside a shadow pass. */
void pm_renderer_draw_shadows(const struct pm_renderer *renderer, VkCommandBuffer commands,
                              VkDescriptorSet frame_set);

/* Draws the spots' shadow maps. After the sets were created; waits. */
bool pm_spots_draw_shadows(struct pm_renderer *renderer, struct pm_error *error);
void pm_spots_update(const struct pm_renderer *renderer, const struct pm_frame *frame, float time);

/* For each tile, which of the scene's lights can reach what is seen in it: PM_TILES lists of
 * PM_TILE_WORDS. */
void pm_tiles_fill(uint32_t *tiles, const struct pm_light_constants *lights, uint32_t light_count,
                   const pm_mat4 *view, float tangent_x, float tangent_y);
