#include "examples/deferred/renderer.h"
#include <string.h>

enum { TILES_X = PM_SPOT_TILES_X, TILES_Y = PM_SPOT_TILES_Y, TILE = PM_SPOT_SHADOW_SIDE };

static pm_mat4 spot_matrix(const struct pm_spot *spot)
{
    const pm_mat4 view = pm_look_at(spot->position, pm_add(spot->position, spot->direction));
    const pm_mat4 projection = pm_perspective(2.0f * spot->outer, 1.0f, 0.3f, spot->radius);
    return pm_multiply(&projection, &view);
}

void pm_spots_update(const struct pm_renderer *r, const struct pm_frame *frame, float time)
{
    struct pm_spots_constants constants = {.count = {(float)r->scene.spot_count}};
    for (uint32_t i = 0; i < r->scene.spot_count; i++) {
        const struct pm_spot *s = &r->scene.spots[i];
        const float dim = 0.85f + 0.15f * sinf(time * 1.3f + 2.0f * (float)i);
        const pm_vec3 color = pm_scale(s->color, dim);
        constants.spots[i] = (struct pm_spot_constants){
            .to_shadow = spot_matrix(s),
            .position = {s->position.x, s->position.y, s->position.z,
                         1.0f / (s->radius * s->radius)},
            .direction = {s->direction.x, s->direction.y, s->direction.z, (float)s->mask},
            .color = {color.x, color.y, color.z, s->masked},
            .cone = {cosf(s->outer), cosf(s->inner)},
            .tile = {1.0f / TILES_X, 1.0f / TILES_Y, (float)(i % TILES_X) / TILES_X,
                     (float)(i / TILES_X) / TILES_Y},
        };
    }
    memcpy(frame->spots.mapped, &constants, sizeof constants);
}

/* The constants that the shadow pipelines read, as seen from a spot. */
static bool create_view(struct pm_renderer *r, uint32_t i, struct pm_error *error)
{
    struct pm_gpu_buffer *buffer = &r->spot_constants[i];
    if (!pm_gpu_buffer_init(buffer, r->gpu, sizeof(struct pm_frame_constants),
                            VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT, PM_GPU_UPLOAD, error))
        return false;
    const struct pm_frame_constants constants = {.sun_view_projection =
                                                     spot_matrix(&r->scene.spots[i])};
    memcpy(buffer->mapped, &constants, sizeof constants);
    return pm_renderer_create_frame_set(r, buffer, &r->spot_sets[i], error);
}

bool pm_spots_draw_shadows(struct pm_renderer *r, struct pm_error *error)
{
    VkCommandBuffer commands;
    for (uint32_t i = 0; i < r->scene.spot_count; i++)
        if (!create_view(r, i, error))
            return false;
    if (!pm_gpu_once_begin(r->gpu, &commands, error))
        return false;
    pm_gpu_pass_begin(commands, r->spot_pass, r->spot_target, TILE * TILES_X, TILE * TILES_Y, 0);
    for (uint32_t i = 0; i < r->scene.spot_count; i++) {
        const float x = (float)(i % TILES_X * TILE), y = (float)(i / TILES_X * TILE);
        const VkViewport viewport = {x, y, TILE, TILE, 0.0f, 1.0f};
        const VkRect2D scissor = {{(int32_t)x, (int32_t)y}, {TILE, TILE}};
        vkCmdSetViewport(commands, 0, 1, &viewport);
        vkCmdSetScissor(commands, 0, 1, &scissor);
        pm_renderer_draw_shadows(r, commands, r->spot_sets[i]);
    }
    vkCmdEndRenderPass(commands);
    return pm_gpu_once_submit(r->gpu, commands, error);
}
