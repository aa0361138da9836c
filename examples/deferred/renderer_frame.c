#include "examples/deferred/renderer.h"
#include <string.h>

/* In the order of the example's names. */
enum {
    PASS_SHADOW,
    PASS_GEOMETRY,
    PASS_SUN,
    PASS_LIGHTS,
    PASS_SPOTS,
    PASS_BRIGHT,
    PASS_BLUR,
    PASS_TONEMAP
};

static const float field_of_view = 1.05f; /* vertical, radians */

void pm_renderer_update(void *renderer, uint32_t index, float time)
{
    const struct pm_renderer *r = renderer;
    const struct pm_frame *frame = &r->frames[index];
    const struct pm_scene *scene = &r->scene;
    const float aspect = (float)r->width / (float)r->height;
    const pm_vec3 eye = pm_scene_eye(scene, time);
    const pm_mat4 view = pm_look_at(eye, scene->camera_at);
    const pm_mat4 projection = pm_perspective(field_of_view, aspect, 0.15f, 140.0f);
    const pm_mat4 sun_view =
        pm_look_at(pm_scale(scene->sun_direction, 60.0f), (pm_vec3){0.0f, 0.0f, 0.0f});
    const pm_mat4 sun_box = pm_orthographic(scene->shadow_half, 1.0f, 120.0f);

    struct pm_frame_constants constants = {
        .view_projection = pm_multiply(&projection, &view),
        .sun_view_projection = pm_multiply(&sun_box, &sun_view),
        .eye = {eye.x, eye.y, eye.z, time},
        .sun_direction = {scene->sun_direction.x, scene->sun_direction.y, scene->sun_direction.z,
                          1.0f / PM_SHADOW_SIDE},
        .sun_color = {scene->sun_color.x, scene->sun_color.y, scene->sun_color.z, scene->ambient},
        .sky_low = {scene->sky_low.x, scene->sky_low.y, scene->sky_low.z, scene->fog},
        .sky_high = {scene->sky_high.x, scene->sky_high.y, scene->sky_high.z, scene->stars},
        .size = {(float)r->width, (float)r->height, 1.0f / (float)r->width,
                 1.0f / (float)r->height},
    };
    constants.inverse_view_projection = pm_inverse(&constants.view_projection);
    memcpy(frame->constants.mapped, &constants, sizeof constants);

    struct pm_light_constants lights[PM_MAX_LIGHTS];
    for (uint32_t i = 0; i < scene->light_count; i++)
        lights[i] = pm_light_at(&scene->lights[i], time);
    memcpy(frame->lights.mapped, lights, scene->light_count * sizeof *lights);
    pm_spots_update(r, frame, time);
    const float tangent = tanf(field_of_view * 0.5f);
    pm_tiles_fill(frame->tiles.mapped, lights, scene->light_count, &view, tangent * aspect,
                  tangent);
}

static void draw_object(const struct pm_renderer *r, VkCommandBuffer commands,
                        const struct pm_object *object)
{
    vkCmdPushConstants(commands, r->geometry_pipeline_layout,
                       VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0,
                       sizeof object->constants, &object->constants);
    vkCmdDrawIndexed(commands, object->mesh.count, 1, object->mesh.first, 0, 0);
}

static void bind_geometry(const struct pm_renderer *r, VkCommandBuffer commands,
                          VkDescriptorSet frame_set)
{
    const VkDeviceSize start = 0;
    vkCmdBindVertexBuffers(commands, 0, 1, &r->vertices.handle, &start);
    vkCmdBindIndexBuffer(commands, r->indices.handle, 0, VK_INDEX_TYPE_UINT32);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, r->geometry_pipeline_layout,
                            0, 1, &frame_set, 0, NULL);
}

void pm_renderer_draw_shadows(const struct pm_renderer *r, VkCommandBuffer commands,
                              VkDescriptorSet frame_set)
{
    bind_geometry(r, commands, frame_set);
    for (int leaves = 0; leaves <= 1; leaves++) {
        vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS,
                          leaves ? r->shadow_leaf : r->shadow_solid);
        for (uint32_t i = 0; i < r->scene.object_count; i++) {
            const struct pm_object *object = &r->scene.objects[i];
            if (object->material != PM_MATERIAL_LAMP &&
                (object->material == PM_MATERIAL_FOLIAGE) == leaves)
                draw_object(r, commands, object);
        }
    }
}

static void record_geometry(const struct pm_renderer *r, const struct pm_frame *frame,
                            const struct pm_example_recording *recording)
{
    const struct pm_example_target shadow = {r->shadow_pass, r->shadow_target, PM_SHADOW_SIDE,
                                             PM_SHADOW_SIDE, 0};
    VkCommandBuffer commands = pm_example_begin(recording, PASS_SHADOW, &shadow);
    pm_renderer_draw_shadows(r, commands, frame->frame_set);
    pm_example_end(recording, PASS_SHADOW, &shadow);
    pm_example_pass_done(recording, PASS_SHADOW);

    const struct pm_example_target geometry = {r->geometry_pass, r->geometry_target, r->width,
                                               r->height, 3};
    commands = pm_example_begin(recording, PASS_GEOMETRY, &geometry);
    bind_geometry(r, commands, frame->frame_set);
    for (int material = 0; material < PM_MATERIAL_COUNT; material++) {
        vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, r->materials[material]);
        for (uint32_t i = 0; i < r->scene.object_count; i++)
            if ((int)r->scene.objects[i].material == material)
                draw_object(r, commands, &r->scene.objects[i]);
    }
    pm_example_end(recording, PASS_GEOMETRY, &geometry);
    pm_example_pass_done(recording, PASS_GEOMETRY);
}

static void record_quads(const struct pm_renderer *r, VkCommandBuffer commands, VkPipeline pipeline)
{
    const uint32_t rows = (r->height + PM_QUAD_SIDE - 1) / PM_QUAD_SIDE;
    const uint32_t in_row = (r->width + PM_QUAD_SIDE - 1) / PM_QUAD_SIDE;
    const uint32_t columns = (in_row + PM_LIGHT_GROUPS - 1) / PM_LIGHT_GROUPS;
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    for (uint32_t group = 0; group < PM_LIGHT_GROUPS; group++) {
        const uint32_t constants[] = {group, PM_LIGHT_GROUPS, columns};
        vkCmdPushConstants(commands, r->light_pipeline_layout,
                           VK_SHADER_STAGE_VERTEX_BIT | VK_SHADER_STAGE_FRAGMENT_BIT, 0,
                           sizeof constants, constants);
        vkCmdDraw(commands, 4, rows * columns, 0, 0);
    }
}

static void record_light_pass(const struct pm_renderer *r, const struct pm_frame *frame,
                              const struct pm_example_recording *recording, uint32_t pass,
                              VkPipeline pipeline)
{
    const struct pm_example_target target = {pass == PASS_SUN ? r->sun_pass : r->light_pass,
                                             pass == PASS_SUN ? r->sun_target : r->light_target,
                                             r->width, r->height, 1};
    const VkCommandBuffer commands = pm_example_begin(recording, pass, &target);
    const VkDescriptorSet sets[] = {frame->frame_set, frame->light_set};
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, r->light_pipeline_layout, 0,
                            2, sets, 0, NULL);
    record_quads(r, commands, pipeline);
    pm_example_end(recording, pass, &target);
    pm_example_pass_done(recording, pass);
}

static void record_blur(const struct pm_renderer *r, VkCommandBuffer commands, uint32_t vertical)
{
    const uint32_t length = vertical ? r->bloom_a.height : r->bloom_a.width;
    const uint32_t lines = vertical ? r->bloom_a.width : r->bloom_a.height;
    vkCmdPushConstants(commands, r->post_pipeline_layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4,
                       &vertical);
    vkCmdDispatch(commands, (length + 63) / 64, lines, 1);
    pm_gpu_between_dispatches(commands);
}

static VkCommandBuffer begin_post(const struct pm_renderer *r, const struct pm_frame *frame,
                                  const struct pm_example_recording *recording, uint32_t pass,
                                  VkPipeline pipeline)
{
    const VkCommandBuffer commands = pm_example_begin(recording, pass, NULL);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, r->post_pipeline_layout, 0, 1,
                            &frame->post_set, 0, NULL);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
    return commands;
}

static void end_post(const struct pm_example_recording *recording, uint32_t pass)
{
    pm_example_end(recording, pass, NULL);
    pm_example_pass_done(recording, pass);
}

static void record_post(const struct pm_renderer *r, const struct pm_frame *frame,
                        const struct pm_example_recording *recording)
{
    VkCommandBuffer commands = begin_post(r, frame, recording, PASS_BRIGHT, r->bright);
    vkCmdDispatch(commands, (r->bloom_a.width + 7) / 8, (r->bloom_a.height + 7) / 8, 1);
    pm_gpu_between_dispatches(commands);
    end_post(recording, PASS_BRIGHT);
    commands = begin_post(r, frame, recording, PASS_BLUR, r->blur);
    record_blur(r, commands, 0);
    record_blur(r, commands, 1);
    end_post(recording, PASS_BLUR);
    commands = begin_post(r, frame, recording, PASS_TONEMAP, r->tonemap);
    vkCmdDispatch(commands, (r->width + 7) / 8, (r->height + 7) / 8, 1);
    end_post(recording, PASS_TONEMAP);
}

void pm_renderer_record(void *renderer, uint32_t index,
                        const struct pm_example_recording *recording)
{
    const struct pm_renderer *r = renderer;
    const struct pm_frame *frame = &r->frames[index];
    const VkCommandBuffer commands = recording->commands;
    vkCmdFillBuffer(commands, frame->histogram.handle, 0, VK_WHOLE_SIZE, 0);
    pm_gpu_memory_barrier(commands, VK_PIPELINE_STAGE_TRANSFER_BIT, VK_ACCESS_TRANSFER_WRITE_BIT,
                          VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                          VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT);
    record_geometry(r, frame, recording);
    record_light_pass(r, frame, recording, PASS_SUN, r->light);
    record_light_pass(r, frame, recording, PASS_LIGHTS, r->lights);
    record_light_pass(r, frame, recording, PASS_SPOTS, r->spots);
    record_post(r, frame, recording);
}
