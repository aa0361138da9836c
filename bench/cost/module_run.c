#include "bench/cost/module_run.h"

#include "base/clock.h"
#include "bench/cost/module_layout.h"
#include <stdlib.h>
#include <string.h>

enum { SIDE = 16 /* pixels */, INPUTS_MOST = 16 };

struct pm_module_run {
    const struct pm_gpu *gpu;
    enum pm_stage stage;
    struct pm_interface interface;
    struct pm_module_layout layout;
    struct pm_gpu_image targets[PM_GPU_MAX_ATTACHMENTS];
    uint32_t target_count;
    VkRenderPass pass;
    VkFramebuffer framebuffer;
    VkShaderModule vertex;
    struct pm_gpu_buffer feed; /* what the vertex shader's inputs read */
    VkCommandBuffer commands;
};

/* ---- what is made up ---- */

static bool make_targets(struct pm_module_run *run, struct pm_error *error)
{
    struct pm_gpu_attachment attachments[PM_GPU_MAX_ATTACHMENTS];
    enum pm_interface_scalar scalars[PM_GPU_MAX_ATTACHMENTS] = {0};
    for (size_t i = 0; i < run->interface.output_count; i++) {
        const struct pm_interface_variable *output = &run->interface.outputs[i];
        if (output->location >= PM_GPU_MAX_ATTACHMENTS)
            return pm_fail(error, PM_ERROR_UNSUPPORTED, "an output at location %u",
                           output->location);
        scalars[output->location] = output->scalar;
        if (output->location >= run->target_count)
            run->target_count = output->location + 1;
    }
    for (uint32_t i = 0; i < run->target_count; i++) {
        const struct pm_gpu_image_info info = {
            .format = pm_module_format(scalars[i], 4),
            .width = SIDE,
            .height = SIDE,
            .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT | VK_IMAGE_USAGE_SAMPLED_BIT,
        };
        if (!pm_gpu_image_init(&run->targets[i], run->gpu, &info, error))
            return false;
        attachments[i] = (struct pm_gpu_attachment){&run->targets[i], VK_ATTACHMENT_LOAD_OP_CLEAR};
    }
    if (run->target_count == 0)
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "no outputs");
    return pm_gpu_pass_create(run->gpu, attachments, run->target_count, &run->pass,
                              &run->framebuffer, error);
}

static bool make_module(const struct pm_module_run *run, const uint32_t *words, size_t count,
                        VkShaderModule *module, struct pm_error *error)
{
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
        .codeSize = count * sizeof(*words),
        .pCode = words,
    };
    return pm_gpu_check(vkCreateShaderModule(run->gpu->device, &info, NULL, module),
                        "vkCreateShaderModule", error);
}

static bool make_vertex(struct pm_module_run *run, struct pm_error *error)
{
    struct pm_words words;
    if (run->interface.input_count > INPUTS_MOST)
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "more than %d inputs", INPUTS_MOST);
    if (!pm_interface_vertex(&run->interface, false, &words, error))
        return false;
    const bool made = make_module(run, words.data, words.count, &run->vertex, error);
    pm_words_finish(&words);
    return made && pm_gpu_buffer_init(&run->feed, run->gpu, 4 * sizeof(float),
                                      VK_BUFFER_USAGE_VERTEX_BUFFER_BIT, PM_GPU_UPLOAD, error);
}

struct pm_module_run *pm_module_run_create(const struct pm_gpu *gpu, const struct pm_module *module,
                                           enum pm_stage stage, struct pm_error *error)
{
    struct pm_module_run *run = calloc(1, sizeof(*run));
    if (!run) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        return NULL;
    }
    run->gpu = gpu;
    run->stage = stage;
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = gpu->pool,
        .commandBufferCount = 1,
    };
    if (pm_interface_read(module->words, module->word_count, &run->interface, error) &&
        pm_module_layout_init(&run->layout, gpu, &run->interface, error) &&
        (stage == PM_STAGE_COMPUTE || (make_targets(run, error) && make_vertex(run, error))) &&
        pm_gpu_check(vkAllocateCommandBuffers(gpu->device, &info, &run->commands),
                     "vkAllocateCommandBuffers", error))
        return run;
    pm_module_run_destroy(run);
    return NULL;
}

void pm_module_run_destroy(struct pm_module_run *run)
{
    if (!run)
        return;
    const VkDevice device = run->gpu->device;
    if (run->commands)
        vkFreeCommandBuffers(device, run->gpu->pool, 1, &run->commands);
    pm_gpu_buffer_finish(&run->feed, run->gpu);
    vkDestroyShaderModule(device, run->vertex, NULL);
    vkDestroyFramebuffer(device, run->framebuffer, NULL);
    vkDestroyRenderPass(device, run->pass, NULL);
    for (uint32_t i = 0; i < run->target_count; i++)
        pm_gpu_image_finish(&run->targets[i], run->gpu);
    pm_module_layout_finish(&run->layout, run->gpu);
    free(run);
}

/* ---- a pipeline ---- */

static bool make_graphics(const struct pm_module_run *run,
                          const VkPipelineShaderStageCreateInfo *fragment, VkPipeline *pipeline,
                          struct pm_error *error)
{
    const VkPipelineShaderStageCreateInfo stages[] = {
        {
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = VK_SHADER_STAGE_VERTEX_BIT,
            .module = run->vertex,
            .pName = "main",
        },
        *fragment,
    };
    VkVertexInputAttributeDescription attributes[INPUTS_MOST];
    for (uint32_t i = 0; i < run->interface.input_count; i++) {
        const struct pm_interface_variable *input = &run->interface.inputs[i];
        attributes[i] = (VkVertexInputAttributeDescription){
            .location = i,
            .format = pm_module_format(input->scalar, input->components),
        };
    }
    const VkVertexInputBindingDescription binding = {0, 0, VK_VERTEX_INPUT_RATE_VERTEX};
    const VkPipelineVertexInputStateCreateInfo vertex_input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO,
        .vertexBindingDescriptionCount = 1,
        .pVertexBindingDescriptions = &binding,
        .vertexAttributeDescriptionCount = (uint32_t)run->interface.input_count,
        .pVertexAttributeDescriptions = attributes,
    };
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST,
    };
    const VkPipelineViewportStateCreateInfo viewport = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .scissorCount = 1,
    };
    const VkPipelineRasterizationStateCreateInfo rasterization = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO,
        .lineWidth = 1,
    };
    const VkPipelineMultisampleStateCreateInfo multisample = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT,
    };
    VkPipelineColorBlendAttachmentState blends[PM_GPU_MAX_ATTACHMENTS] = {0};
    for (uint32_t i = 0; i < run->target_count; i++)
        blends[i].colorWriteMask = 0xf;
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = run->target_count,
        .pAttachments = blends,
    };
    static const VkDynamicState states[] = {VK_DYNAMIC_STATE_VIEWPORT, VK_DYNAMIC_STATE_SCISSOR};
    const VkPipelineDynamicStateCreateInfo dynamic = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_DYNAMIC_STATE_CREATE_INFO,
        .dynamicStateCount = 2,
        .pDynamicStates = states,
    };
    const VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .stageCount = 2,
        .pStages = stages,
        .pVertexInputState = &vertex_input,
        .pInputAssemblyState = &assembly,
        .pViewportState = &viewport,
        .pRasterizationState = &rasterization,
        .pMultisampleState = &multisample,
        .pColorBlendState = &blend,
        .pDynamicState = &dynamic,
        .layout = run->layout.pipeline,
        .renderPass = run->pass,
    };
    return pm_gpu_check(
        vkCreateGraphicsPipelines(run->gpu->device, VK_NULL_HANDLE, 1, &info, NULL, pipeline),
        "vkCreateGraphicsPipelines", error);
}

static bool make_pipeline(const struct pm_module_run *run, const struct pm_module *from,
                          VkShaderModule module, VkPipeline *pipeline, struct pm_error *error)
{
    enum { VALUES_MOST = 256 };
    VkSpecializationMapEntry entries[VALUES_MOST];
    uint64_t data[VALUES_MOST];
    if (from->spec_value_count > VALUES_MOST)
        return pm_fail(error, PM_ERROR_LIMIT, "more than %d specialization values", VALUES_MOST);
    for (uint32_t i = 0; i < from->spec_value_count; i++) {
        data[i] = from->spec_values[i].bits; /* little-endian: the low bytes come first */
        entries[i] = (VkSpecializationMapEntry){
            .constantID = from->spec_values[i].spec_id,
            .offset = i * (uint32_t)sizeof(*data),
            .size = from->spec_values[i].size,
        };
    }
    const VkSpecializationInfo specialization = {
        .mapEntryCount = (uint32_t)from->spec_value_count,
        .pMapEntries = entries,
        .dataSize = from->spec_value_count * sizeof(*data),
        .pData = data,
    };
    const VkPipelineShaderStageCreateInfo stage = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
        .stage = run->stage == PM_STAGE_COMPUTE ? VK_SHADER_STAGE_COMPUTE_BIT
                                                : VK_SHADER_STAGE_FRAGMENT_BIT,
        .module = module,
        .pName = from->entry_point,
        .pSpecializationInfo = &specialization,
    };
    if (run->stage == PM_STAGE_FRAGMENT)
        return make_graphics(run, &stage, pipeline, error);
    const VkComputePipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = stage,
        .layout = run->layout.pipeline,
    };
    return pm_gpu_check(
        vkCreateComputePipelines(run->gpu->device, VK_NULL_HANDLE, 1, &info, NULL, pipeline),
        "vkCreateComputePipelines", error);
}

/* ---- its use ---- */

static bool use(const struct pm_module_run *run, VkPipeline pipeline, struct pm_error *error)
{
    const VkCommandBuffer commands = run->commands;
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    if (!pm_gpu_check(vkBeginCommandBuffer(commands, &begin), "vkBeginCommandBuffer", error))
        return false;
    if (run->stage == PM_STAGE_COMPUTE) {
        vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline);
        vkCmdDispatch(commands, 0, 1, 1);
    } else {
        const VkDeviceSize zero = 0;
        pm_gpu_pass_begin(commands, run->pass, run->framebuffer, SIDE, SIDE, run->target_count);
        vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, pipeline);
        vkCmdBindVertexBuffers(commands, 0, 1, &run->feed.handle, &zero);
        vkCmdDraw(commands, 3, 1, 0, 0);
        vkCmdEndRenderPass(commands);
    }
    const VkSubmitInfo submit = {
        .sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
        .commandBufferCount = 1,
        .pCommandBuffers = &commands,
    };
    return pm_gpu_check(vkEndCommandBuffer(commands), "vkEndCommandBuffer", error) &&
           pm_gpu_check(vkQueueSubmit(run->gpu->queue, 1, &submit, VK_NULL_HANDLE), "vkQueueSubmit",
                        error) &&
           pm_gpu_check(vkQueueWaitIdle(run->gpu->queue), "vkQueueWaitIdle", error);
}

bool pm_module_run_compile(struct pm_module_run *run, const struct pm_module *module,
                           double *milliseconds, struct pm_error *error)
{
    VkShaderModule made = VK_NULL_HANDLE;
    VkPipeline pipeline = VK_NULL_HANDLE;
    const double start = pm_now_ms();
    bool ok = make_module(run, module->words, module->word_count, &made, error) &&
              make_pipeline(run, module, made, &pipeline, error) && use(run, pipeline, error);
    const double first = pm_now_ms();
    ok = ok && use(run, pipeline, error);
    const double again = pm_now_ms();
    vkDestroyPipeline(run->gpu->device, pipeline, NULL);
    vkDestroyShaderModule(run->gpu->device, made, NULL);
    *milliseconds = (first - start) - (again - first);
    return ok;
}
