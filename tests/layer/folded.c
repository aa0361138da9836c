#include "tests/layer/folded.h"

#include "mode.comp.h"
#include "mode.frag.h"
#include "tests/layer/pipelines.h"

VkPipelineLayout folded_layout(struct pm_harness *h, uint32_t bytes)
{
    const VkPushConstantRange range = {VK_SHADER_STAGE_ALL, 0, bytes};
    const VkPipelineLayoutCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
        .setLayoutCount = 1,
        .pSetLayouts = &h->set_layout,
        .pushConstantRangeCount = 1,
        .pPushConstantRanges = &range,
    };
    VkPipelineLayout layout;
    PM_CHECK(h->vk.CreatePipelineLayout(h->device, &info, NULL, &layout));
    return layout;
}

const uint32_t *folded_words(VkShaderStageFlagBits stage, size_t *size)
{
    const bool compute = stage == VK_SHADER_STAGE_COMPUTE_BIT;
    *size = compute ? sizeof mode_comp : sizeof mode_frag;
    return compute ? mode_comp : mode_frag;
}

static VkPipeline make_compute(struct pm_harness *h, VkPipelineLayout layout)
{
    return pm_harness_compute_of(h, mode_comp, sizeof mode_comp, layout);
}

void folded_make(struct folded *folded, struct pm_harness *h)
{
    folded->layout = folded_layout(h, sizeof(struct folded_push));
    folded->equal = folded_layout(h, sizeof(struct folded_push));
    folded->other = folded_layout(h, 2 * sizeof(struct folded_push));
    struct parts parts = {.vertex = h->vertex,
                          .fragment = pm_harness_make_module(h, mode_frag, sizeof mode_frag),
                          .layout = folded->layout,
                          .render_pass = h->render_pass};
    const struct graphics_options options = {.parts = &parts};
    folded->graphics = make_graphics(h, &options);
    h->vk.DestroyShaderModule(h->device, parts.fragment, NULL);
    folded->compute = make_compute(h, folded->layout);
}

void folded_destroy(const struct folded *folded, struct pm_harness *h)
{
    h->vk.DestroyPipeline(h->device, folded->graphics, NULL);
    h->vk.DestroyPipeline(h->device, folded->compute, NULL);
    h->vk.DestroyPipelineLayout(h->device, folded->layout, NULL);
    h->vk.DestroyPipelineLayout(h->device, folded->equal, NULL);
    h->vk.DestroyPipelineLayout(h->device, folded->other, NULL);
}

void folded_push(struct pm_harness *h, VkCommandBuffer buffer, VkPipelineLayout layout,
                 const struct folded_push *push, uint32_t first, uint32_t count)
{
    h->vk.CmdPushConstants(buffer, layout, VK_SHADER_STAGE_ALL, 4 * first, 4 * count,
                           (const char *)push + 4 * first);
}

void folded_use(const struct folded *folded, struct pm_harness *h, const struct folded_push *push)
{
    VkCommandBuffer buffer = pm_harness_allocate(h, VK_COMMAND_BUFFER_LEVEL_PRIMARY);
    pm_harness_begin(h, buffer, VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT);
    pm_harness_bind_set(h, buffer);
    h->vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, folded->compute);
    folded_push(h, buffer, folded->layout, push, 0, 4);
    for (int i = 0; i < 20; i++)
        h->vk.CmdDispatch(buffer, 1, 1, 1);
    pm_harness_begin_pass(h, buffer);
    h->vk.CmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, folded->graphics);
    for (int i = 0; i < 20; i++)
        h->vk.CmdDraw(buffer, 3, 1, 0, 0);
    h->vk.CmdEndRenderPass(buffer);
    pm_harness_run(h, buffer);
}
