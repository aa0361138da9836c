#include "tests/layer/levels.h"

#include "level.frag.h"
#include <spirv/unified1/spirv.h>
#include <stdlib.h>
#include <string.h>

/* The constant 7 of the shader is another one in each. */
enum { DIVISOR = 7 };

static VkShaderModule make_module(struct pm_harness *h, uint32_t number)
{
    uint32_t words[sizeof level_frag / 4];
    bool found = false;
    memcpy(words, level_frag, sizeof level_frag);
    for (size_t at = 5; at < sizeof words / 4; at += words[at] >> SpvWordCountShift) {
        if ((words[at] & SpvOpCodeMask) == SpvOpConstant && words[at + 3] == DIVISOR) {
            words[at + 3] = DIVISOR + number;
            found = true;
        }
    }
    assert_true(found);
    return pm_harness_make_module(h, words, sizeof words);
}

static VkPipeline make_pipeline(struct pm_harness *h, VkShaderModule fragment, uint32_t state,
                                bool dynamic)
{
    static const VkFormat format = VK_FORMAT_R8G8B8A8_UNORM;
    const VkPipelineRenderingCreateInfo rendering = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RENDERING_CREATE_INFO,
        .colorAttachmentCount = 1,
        .pColorAttachmentFormats = &format};
    struct pm_harness_pipeline of;
    VkPipeline pipeline;
    pm_harness_describe(h, &of);
    if (dynamic) {
        of.info.pNext = &rendering;
        of.info.renderPass = VK_NULL_HANDLE;
    }
    of.stages[1].module = fragment;
    of.rasterization.lineWidth = 1;
    of.rasterization.depthBiasConstantFactor = (float)state;
    of.rasterization.cullMode = state % 4;
    PM_CHECK(
        h->vk.CreateGraphicsPipelines(h->device, VK_NULL_HANDLE, 1, &of.info, NULL, &pipeline));
    return pipeline;
}

static void make(struct level *level, struct pm_harness *h, uint32_t first, uint32_t shaders,
                 uint32_t states)
{
    level->count = shaders * states;
    level->pipelines = calloc(level->count, sizeof *level->pipelines);
    assert_non_null(level->pipelines);
    for (uint32_t i = 0; i < shaders; i++) {
        const VkShaderModule fragment = make_module(h, first + i);
        for (uint32_t state = 0; state < states; state++)
            level->pipelines[i * states + state] =
                make_pipeline(h, fragment, state, level->dynamic);
        h->vk.DestroyShaderModule(h->device, fragment, NULL);
    }
}

void level_make(struct level *level, struct pm_harness *h, uint32_t first, uint32_t shaders,
                uint32_t states)
{
    level->dynamic = false;
    make(level, h, first, shaders, states);
}

void level_make_dynamic(struct level *level, struct pm_harness *h, uint32_t first, uint32_t shaders,
                        uint32_t states)
{
    level->dynamic = true;
    make(level, h, first, shaders, states);
}

void level_destroy(struct level *level, struct pm_harness *h)
{
    for (uint32_t i = 0; i < level->count; i++)
        h->vk.DestroyPipeline(h->device, level->pipelines[i], NULL);
    free(level->pipelines);
    *level = (struct level){NULL, 0, false};
}

static void begin_rendering(struct pm_harness *h, VkCommandBuffer buffer)
{
    const VkRenderingAttachmentInfo attachment = {
        .sType = VK_STRUCTURE_TYPE_RENDERING_ATTACHMENT_INFO,
        .imageView = h->view,
        .imageLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkRenderingInfo info = {.sType = VK_STRUCTURE_TYPE_RENDERING_INFO,
                                  .renderArea = {{0, 0}, {64, 64}},
                                  .layerCount = 1,
                                  .colorAttachmentCount = 1,
                                  .pColorAttachments = &attachment};
    h->vk.CmdBeginRendering(buffer, &info);
}

void level_record(const struct level *level, struct pm_harness *h, VkCommandBuffer buffer)
{
    pm_harness_bind_set(h, buffer);
    if (level->dynamic)
        begin_rendering(h, buffer);
    else
        pm_harness_begin_pass(h, buffer);
    for (uint32_t i = 0; i < level->count; i++) {
        h->vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, level->pipelines[i]);
        h->vk.CmdDraw(buffer, 3, 1, 0, 0);
    }
    if (level->dynamic)
        h->vk.CmdEndRendering(buffer);
    else
        h->vk.CmdEndRenderPass(buffer);
}

VkCommandBuffer level_keep(const struct level *level, struct pm_harness *h)
{
    VkCommandBuffer buffer = pm_harness_allocate(h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(h, buffer, 0);
    level_record(level, h, buffer);
    PM_CHECK(h->vk.EndCommandBuffer(buffer));
    return buffer;
}

void level_frame(const struct level *level, struct pm_harness *h, VkCommandBuffer buffer)
{
    pm_harness_begin(h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    level_record(level, h, buffer);
    pm_harness_run(h, buffer);
}
