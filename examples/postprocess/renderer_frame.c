#include "examples/postprocess/renderer.h"
#include <string.h>

static const float view_angle = 0.95f; /* vertical, radians */
static const float near_plane = 0.1f, far_plane = 90.0f;

static pm_mat4 view_at(const struct pm_stage *stage, float time)
{
    return pm_look_at(pm_stage_eye(stage, time), stage->camera_at);
}

/* The Halton sequence of a base; index from 1. */
static float halton(uint32_t index, uint32_t base)
{
    float result = 0.0f, part = 1.0f;
    for (; index; index /= base) {
        part /= (float)base;
        result += part * (float)(index % base);
    }
    return result;
}

void pm_post_update(void *renderer, uint32_t index, float time)
{
    const struct pm_post *post = renderer;
    const struct pm_post_frame *frame = &post->frames[index];
    const struct pm_stage *s = &post->stage;
    const float aspect = (float)post->width / (float)post->height;
    const float tangent = tanf(view_angle * 0.5f), before = time - 1.0f / 60.0f;
    const uint32_t number = (uint32_t)(time * 60.0f + 0.5f);
    const pm_mat4 view = view_at(s, time), view_before = view_at(s, before);
    const pm_mat4 projection = pm_perspective(view_angle, aspect, near_plane, far_plane);
    const pm_vec3 eye = pm_stage_eye(s, time);
    struct pm_post_constants constants = {
        .view = view,
        .view_projection = pm_multiply(&projection, &view),
        .inverse_view = pm_inverse(&view),
        .before = pm_multiply(&projection, &view_before),
        .eye = {eye.x, eye.y, eye.z, time},
        .lens = {tangent * aspect, tangent, near_plane, far_plane},
        .jitter = {halton(number % 8 + 1, 2) - 0.5f, halton(number % 8 + 1, 3) - 0.5f, 0.0f,
                   number > 0 ? 1.0f : 0.0f},
        .size = {(float)post->width, (float)post->height, 1.0f / (float)post->width,
                 1.0f / (float)post->height},
        .sun_direction = {s->sun_direction.x, s->sun_direction.y, s->sun_direction.z, s->ambient},
        .sun_color = {s->sun_color.x, s->sun_color.y, s->sun_color.z, s->exposure},
        .sky_low = {s->sky_low.x, s->sky_low.y, s->sky_low.z, s->sun_in_sky},
        .sky_high = {s->sky_high.x, s->sky_high.y, s->sky_high.z, s->wet},
    };
    memcpy(constants.bloom, s->bloom, sizeof s->bloom);
    memcpy(constants.focus, s->focus, sizeof s->focus);
    memcpy(frame->constants.mapped, &constants, sizeof constants);
    pm_stage_shapes(s, time, before, frame->shapes.mapped);
}

static void bind(const struct pm_post *post, VkCommandBuffer commands, enum pm_post_pass pass,
                 VkDescriptorSet outputs)
{
    vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, post->pipelines[pass]);
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, post->layout, 1, 1, &outputs,
                            0, NULL);
}

static void blur(const struct pm_post *post, VkCommandBuffer commands, VkDescriptorSet outputs,
                 uint32_t vertical)
{
    const struct pm_gpu_image *image = &post->images[PM_POST_BLOOM];
    const uint32_t length = vertical ? image->height : image->width;
    const uint32_t lines = vertical ? image->width : image->height;
    bind(post, commands, PM_POST_BLUR, outputs);
    vkCmdPushConstants(commands, post->layout, VK_SHADER_STAGE_COMPUTE_BIT, 0, 4, &vertical);
    vkCmdDispatch(commands, (length + 63) / 64, lines, 1);
    pm_gpu_between_dispatches(commands);
}

void pm_post_record(void *renderer, uint32_t index, const struct pm_example_recording *recording)
{
    const struct pm_post *post = renderer;
    const struct pm_post_frame *frame = &post->frames[index];
    const VkCommandBuffer commands = recording->commands;
    vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE, post->layout, 0, 1,
                            &frame->set, 0, NULL);
    for (uint32_t pass = 0; pass < PM_POST_PASSES; pass++) {
        if (pass == PM_POST_BLUR) {
            blur(post, commands, frame->outputs[PM_POST_BLUR], 0);
            blur(post, commands, frame->back, 1);
        } else {
            const struct pm_gpu_image *size =
                &post->images[pass == PM_POST_BRIGHT ? PM_POST_BLOOM : PM_POST_COLOR];
            bind(post, commands, pass, frame->outputs[pass]);
            vkCmdDispatch(commands, (size->width + 7) / 8, (size->height + 7) / 8, 1);
            pm_gpu_between_dispatches(commands);
        }
        pm_example_pass_done(recording, pass);
    }
}
