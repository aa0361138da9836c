#include "examples/terrain/renderer.h"
#include <string.h>

void pm_terrain_update(void *renderer, uint32_t frame, float time)
{
    const struct pm_terrain *t = renderer;
    const struct pm_land *land = &t->land;
    pm_vec3 eye, at;
    pm_land_camera(land, time, &eye, &at);
    const pm_mat4 view = pm_look_at(eye, at);
    const pm_mat4 projection =
        pm_perspective(1.0f, (float)t->width / (float)t->height, 0.5f, 1400.0f);
    struct pm_terrain_constants constants = {
        .view_projection = pm_multiply(&projection, &view),
        .eye = {eye.x, eye.y, eye.z, time},
        .sun_direction = {land->sun_direction.x, land->sun_direction.y, land->sun_direction.z,
                          0.9993f},
        .sun_color = {land->sun_color.x, land->sun_color.y, land->sun_color.z, land->exposure},
        .sky_low = {land->sky_low.x, land->sky_low.y, land->sky_low.z, land->fog},
        .sky_high = {land->sky_high.x, land->sky_high.y, land->sky_high.z, land->clouds},
        .land = {land->side, land->swell, land->sea, land->snow_line},
        .weather = {land->snow, land->wetness, land->wind[0], land->wind[1]},
        .size = {(float)t->width, (float)t->height, 1.0f / (float)t->width,
                 1.0f / (float)t->height},
    };
    constants.inverse_view_projection = pm_inverse(&constants.view_projection);
    memcpy(t->constants[frame].mapped, &constants, sizeof constants);
}

static void record_land(const struct pm_terrain *t, VkCommandBuffer commands)
{
    const VkDeviceSize start = 0;
    const uint32_t chunks = PM_LAND_CHUNKS * PM_LAND_CHUNKS;
    const uint32_t indices = PM_LAND_CELLS * PM_LAND_CELLS * 6 / chunks;
    pm_gpu_pass_begin(commands, t->land_pass, t->land_target, t->width, t->height, 1);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, t->ground);
    vkCmdBindVertexBuffers(commands, 0, 1, &t->vertices.handle, &start);
    vkCmdBindIndexBuffer(commands, t->indices.handle, 0, VK_INDEX_TYPE_UINT32);
    for (uint32_t chunk = 0; chunk < chunks; chunk++)
        vkCmdDrawIndexed(commands, indices, 1, chunk * indices, 0, 0);
    vkCmdEndRenderPass(commands);
}

/* Over what is there. */
static void record_later(const struct pm_terrain *t, VkCommandBuffer commands, VkPipeline pipeline,
                         uint32_t vertices)
{
    pm_gpu_pass_begin(commands, t->later_pass, t->later_target, t->width, t->height, 1);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
    vkCmdDraw(commands, vertices, 1, 0, 0);
    vkCmdEndRenderPass(commands);
}

void pm_terrain_record(void *renderer, uint32_t frame, const struct pm_example_recording *recording)
{
    const struct pm_terrain *t = renderer;
    const VkCommandBuffer commands = recording->commands;
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, t->layout, 0, 1,
                            &t->sets[frame], 0, NULL);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, t->layout, 0, 1,
                            &t->sets[frame], 0, NULL);
    record_land(t, commands);
    pm_example_pass_done(recording, PM_TERRAIN_LAND);
    record_later(t, commands, t->water, 4);
    pm_example_pass_done(recording, PM_TERRAIN_WATER);
    record_later(t, commands, t->sky, 3);
    pm_example_pass_done(recording, PM_TERRAIN_SKY);
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, t->tonemap);
    vkCmdDispatch(commands, (t->width + 7) / 8, (t->height + 7) / 8, 1);
    pm_example_pass_done(recording, PM_TERRAIN_TONEMAP);
}
