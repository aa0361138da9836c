#include "layer/trial/additive_objects.h"

#include "additive.frag.h"
#include "additive.vert.h"
enum { SIZE = 128 /* pixels */ };
#define FORMAT VK_FORMAT_R8G8B8A8_UNORM

static uint32_t memory_type(const struct pm_device *device, uint32_t allowed)
{
    for (uint32_t i = 0; i < device->memory.memoryTypeCount; i++) {
        if ((allowed & 1u << i) != 0 && (device->memory.memoryTypes[i].propertyFlags &
                                         VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0)
            return i;
    }
    return UINT32_MAX;
}

static bool make_image(struct pm_device *device, struct pm_additive_objects *objects)
{
    const struct pm_device_dispatch *dispatch = &device->dispatch;
    const VkImageCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = FORMAT,
        .extent = {SIZE, SIZE, 1},
        .mipLevels = 1,
        .arrayLayers = 1,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT,
    };
    if (dispatch->CreateImage(device->handle, &info, NULL, &objects->image) != VK_SUCCESS)
        return false;
    VkMemoryRequirements needs;
    dispatch->GetImageMemoryRequirements(device->handle, objects->image, &needs);
    const VkMemoryAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = memory_type(device, needs.memoryTypeBits),
    };
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = objects->image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = FORMAT,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1},
    };
    return allocate.memoryTypeIndex != UINT32_MAX &&
           dispatch->AllocateMemory(device->handle, &allocate, NULL, &objects->memory) ==
               VK_SUCCESS &&
           dispatch->BindImageMemory(device->handle, objects->image, objects->memory, 0) ==
               VK_SUCCESS &&
           dispatch->CreateImageView(device->handle, &view, NULL, &objects->view) == VK_SUCCESS;
}

static bool make_render_pass(struct pm_device *device, struct pm_additive_objects *objects)
{
    const VkAttachmentDescription attachment = {
        .format = FORMAT,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .loadOp = VK_ATTACHMENT_LOAD_OP_CLEAR,
        .storeOp = VK_ATTACHMENT_STORE_OP_STORE,
        .stencilLoadOp = VK_ATTACHMENT_LOAD_OP_DONT_CARE,
        .stencilStoreOp = VK_ATTACHMENT_STORE_OP_DONT_CARE,
        .finalLayout = VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL,
    };
    const VkAttachmentReference reference = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkSubpassDescription subpass = {
        .pipelineBindPoint = VK_PIPELINE_BIND_POINT_GRAPHICS,
        .colorAttachmentCount = 1,
        .pColorAttachments = &reference,
    };
    /* One instance after another. */
    const VkSubpassDependency dependency = {
        .srcSubpass = VK_SUBPASS_EXTERNAL,
        .srcStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
        .dstStageMask = VK_PIPELINE_STAGE_COLOR_ATTACHMENT_OUTPUT_BIT,
        .srcAccessMask = VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
        .dstAccessMask = VK_ACCESS_COLOR_ATTACHMENT_READ_BIT | VK_ACCESS_COLOR_ATTACHMENT_WRITE_BIT,
    };
    const VkRenderPassCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment,
        .subpassCount = 1,
        .pSubpasses = &subpass,
        .dependencyCount = 1,
        .pDependencies = &dependency,
    };
    if (device->dispatch.CreateRenderPass(device->handle, &info, NULL, &objects->render_pass) !=
        VK_SUCCESS)
        return false;
    const VkFramebufferCreateInfo framebuffer = {
        .sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
        .renderPass = objects->render_pass,
        .attachmentCount = 1,
        .pAttachments = &objects->view,
        .width = SIZE,
        .height = SIZE,
        .layers = 1,
    };
    return device->dispatch.CreateFramebuffer(device->handle, &framebuffer, NULL,
                                              &objects->framebuffer) == VK_SUCCESS;
}

static VkShaderModule make_module(struct pm_device *device, const uint32_t *words, size_t bytes)
{
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = bytes, .pCode = words};
    VkShaderModule module = VK_NULL_HANDLE;
    return device->dispatch.CreateShaderModule(device->handle, &info, NULL, &module) == VK_SUCCESS
               ? module
               : VK_NULL_HANDLE;
}

static bool make_pipeline_of(struct pm_device *device, VkShaderModule vertex,
                             VkShaderModule fragment, struct pm_additive_objects *objects)
{
    const VkPipelineShaderStageCreateInfo stages[2] = {
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_VERTEX_BIT,
         .module = vertex,
         .pName = "main"},
        {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
         .stage = VK_SHADER_STAGE_FRAGMENT_BIT,
         .module = fragment,
         .pName = "main"},
    };
    const VkPipelineVertexInputStateCreateInfo input = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    const VkPipelineInputAssemblyStateCreateInfo assembly = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    const VkViewport viewport = {0, 0, SIZE, SIZE, 0, 1};
    const VkRect2D scissor = {{0, 0}, {SIZE, SIZE}};
    const VkPipelineViewportStateCreateInfo viewports = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &viewport,
        .scissorCount = 1,
        .pScissors = &scissor};
    const VkPipelineRasterizationStateCreateInfo rasterization = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1};
    const VkPipelineMultisampleStateCreateInfo multisample = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    const VkPipelineColorBlendAttachmentState add = {
        .blendEnable = VK_TRUE,
        .srcColorBlendFactor = VK_BLEND_FACTOR_ONE,
        .dstColorBlendFactor = VK_BLEND_FACTOR_ONE,
        .srcAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
        .dstAlphaBlendFactor = VK_BLEND_FACTOR_ONE,
        .colorWriteMask = VK_COLOR_COMPONENT_R_BIT | VK_COLOR_COMPONENT_G_BIT |
                          VK_COLOR_COMPONENT_B_BIT | VK_COLOR_COMPONENT_A_BIT};
    const VkPipelineColorBlendStateCreateInfo blend = {
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &add};
    const VkGraphicsPipelineCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
        .stageCount = 2,
        .pStages = stages,
        .pVertexInputState = &input,
        .pInputAssemblyState = &assembly,
        .pViewportState = &viewports,
        .pRasterizationState = &rasterization,
        .pMultisampleState = &multisample,
        .pColorBlendState = &blend,
        .layout = objects->layout,
        .renderPass = objects->render_pass,
        .basePipelineIndex = -1,
    };
    return vertex != VK_NULL_HANDLE && fragment != VK_NULL_HANDLE &&
           device->dispatch.CreateGraphicsPipelines(device->handle, VK_NULL_HANDLE, 1, &info, NULL,
                                                    &objects->pipeline) == VK_SUCCESS;
}

static bool make_pipeline(struct pm_device *device, struct pm_additive_objects *objects)
{
    const struct pm_device_dispatch *dispatch = &device->dispatch;
    const VkPipelineLayoutCreateInfo info = {.sType =
                                                 VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    if (dispatch->CreatePipelineLayout(device->handle, &info, NULL, &objects->layout) != VK_SUCCESS)
        return false;
    const VkShaderModule vertex = make_module(device, additive_vert, sizeof additive_vert);
    const VkShaderModule fragment = make_module(device, additive_frag, sizeof additive_frag);
    const bool made = make_pipeline_of(device, vertex, fragment, objects);
    dispatch->DestroyShaderModule(device->handle, vertex, NULL);
    dispatch->DestroyShaderModule(device->handle, fragment, NULL);
    return made;
}

static bool make_commands(struct pm_device *device, uint32_t family,
                          struct pm_additive_objects *objects)
{
    const struct pm_device_dispatch *dispatch = &device->dispatch;
    const VkQueryPoolCreateInfo queries = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_TIMESTAMP,
        .queryCount = PM_ADDITIVE_QUERIES,
    };
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags =
            VK_COMMAND_POOL_CREATE_TRANSIENT_BIT | VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = family,
    };
    const VkFenceCreateInfo fence = {.sType = VK_STRUCTURE_TYPE_FENCE_CREATE_INFO};
    if (dispatch->CreateQueryPool(device->handle, &queries, NULL, &objects->queries) !=
            VK_SUCCESS ||
        dispatch->CreateCommandPool(device->handle, &pool, NULL, &objects->pool) != VK_SUCCESS ||
        dispatch->CreateFence(device->handle, &fence, NULL, &objects->fence) != VK_SUCCESS)
        return false;
    const VkCommandBufferAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
        .commandPool = objects->pool,
        .level = VK_COMMAND_BUFFER_LEVEL_PRIMARY,
        .commandBufferCount = 1,
    };
    return dispatch->AllocateCommandBuffers(device->handle, &info, &objects->commands) ==
               VK_SUCCESS &&
           device->set_loader_data(device->handle, objects->commands) == VK_SUCCESS;
}

bool pm_additive_objects_make(struct pm_device *device, uint32_t family,
                              struct pm_additive_objects *objects)
{
    return make_image(device, objects) && make_render_pass(device, objects) &&
           make_pipeline(device, objects) && make_commands(device, family, objects);
}

void pm_additive_objects_destroy(struct pm_device *device,
                                 const struct pm_additive_objects *objects)
{
    const struct pm_device_dispatch *dispatch = &device->dispatch;
#define DESTROY(type, member)                                                                      \
    if (objects->member != VK_NULL_HANDLE)                                                         \
    dispatch->type(device->handle, objects->member, NULL)
    DESTROY(DestroyFence, fence);
    DESTROY(DestroyCommandPool, pool);
    DESTROY(DestroyQueryPool, queries);
    DESTROY(DestroyPipeline, pipeline);
    DESTROY(DestroyPipelineLayout, layout);
    DESTROY(DestroyFramebuffer, framebuffer);
    DESTROY(DestroyRenderPass, render_pass);
    DESTROY(DestroyImageView, view);
    DESTROY(DestroyImage, image);
    DESTROY(FreeMemory, memory);
#undef DESTROY
}

uint64_t pm_additive_mask(const VkQueueFamilyProperties *family)
{
    const uint32_t bits = family->timestampValidBits;
    if ((family->queueFlags & VK_QUEUE_GRAPHICS_BIT) == 0 || bits == 0)
        return 0;
    return bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
}

/* ---- recording ---- */

struct recording {
    const struct pm_device_dispatch *dispatch;
    const struct pm_additive_objects *objects;
    uint32_t query; /* the next one */
};

static void write_timestamp(struct recording *recording)
{
    recording->dispatch->CmdWriteTimestamp(recording->objects->commands,
                                           VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                                           recording->objects->queries, recording->query++);
}

/* Draws of so many instances, with timestamps around the render pass instance, and around each draw
 * where there are two. */
static void record_instance(struct recording *recording, const uint32_t *draws, uint32_t count)
{
    const struct pm_device_dispatch *dispatch = recording->dispatch;
    const struct pm_additive_objects *objects = recording->objects;
    const VkClearValue clear = {0};
    const VkRenderPassBeginInfo info = {
        .sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
        .renderPass = objects->render_pass,
        .framebuffer = objects->framebuffer,
        .renderArea = {{0, 0}, {SIZE, SIZE}},
        .clearValueCount = 1,
        .pClearValues = &clear,
    };
    write_timestamp(recording);
    dispatch->CmdBeginRenderPass(objects->commands, &info, VK_SUBPASS_CONTENTS_INLINE);
    if (count > 1)
        write_timestamp(recording);
    for (uint32_t i = 0; i < count; i++) {
        dispatch->CmdDraw(objects->commands, 3, draws[i], 0, 0);
        if (count > 1)
            write_timestamp(recording);
    }
    dispatch->CmdEndRenderPass(objects->commands);
    write_timestamp(recording);
}

bool pm_additive_record(struct pm_device *device, const struct pm_additive_objects *objects,
                        uint32_t instances)
{
    const struct pm_device_dispatch *dispatch = &device->dispatch;
    const VkCommandBuffer commands = objects->commands;
    const VkCommandBufferBeginInfo begin = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
        .flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT,
    };
    const uint32_t light = instances, heavy = PM_ADDITIVE_RATIO * instances;
    struct recording recording = {.dispatch = dispatch, .objects = objects};
    if (dispatch->BeginCommandBuffer(commands, &begin) != VK_SUCCESS)
        return false;
    dispatch->CmdResetQueryPool(commands, objects->queries, 0, PM_ADDITIVE_QUERIES);
    dispatch->CmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_GRAPHICS, objects->pipeline);
    record_instance(&recording, (const uint32_t[]){light, heavy}, 2);
    record_instance(&recording, (const uint32_t[]){heavy, light}, 2);
    record_instance(&recording, &light, 1);
    record_instance(&recording, &heavy, 1);
    return dispatch->EndCommandBuffer(commands) == VK_SUCCESS;
}

/* ---- what it took ---- */

struct clock {
    uint64_t mask;
    double period; /* nanoseconds a tick */
};

static double took(const struct clock *clock, const uint64_t *from)
{
    return (double)((from[1] - from[0]) & clock->mask) * clock->period;
}

VkResult pm_additive_read(struct pm_device *device, const struct pm_additive_objects *objects,
                          uint64_t mask, struct pm_additive_round *round)
{
    const struct clock clock = {mask, (double)device->properties.limits.timestampPeriod};
    uint64_t timestamps[PM_ADDITIVE_QUERIES];
    const VkResult result = device->dispatch.GetQueryPoolResults(
        device->handle, objects->queries, 0, PM_ADDITIVE_QUERIES, sizeof timestamps, timestamps,
        sizeof *timestamps, VK_QUERY_RESULT_64_BIT);
    const uint64_t *at = timestamps;
    for (int first = 0; result == VK_SUCCESS && first < 2; first++) {
        round->among[first][first] = took(&clock, &at[1]);
        round->among[first][1 - first] = took(&clock, &at[2]);
        round->instances[first] = took(&clock, (const uint64_t[]){at[0], at[4]});
        at += PM_ADDITIVE_PAIR_QUERIES;
    }
    for (int which = 0; result == VK_SUCCESS && which < 2; which++) {
        round->alone[which] = took(&clock, at);
        at += PM_ADDITIVE_ALONE_QUERIES;
    }
    return result;
}
