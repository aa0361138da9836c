#include "tests/null_driver/harness.h"

#include "branches.comp.h"
#include "branches.frag.h"
#include "plain.vert.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TARGET_FORMAT VK_FORMAT_R8G8B8A8_UNORM

const char *const pm_harness_draw_extensions[] = {"VK_KHR_draw_indirect_count",
                                                  "VK_AMD_draw_indirect_count",
                                                  "VK_EXT_multi_draw",
                                                  "VK_EXT_mesh_shader",
                                                  "VK_NV_mesh_shader",
                                                  "VK_EXT_transform_feedback",
                                                  "VK_KHR_device_group",
                                                  "VK_HUAWEI_cluster_culling_shader",
                                                  NULL};

void pm_harness_check(VkResult result, const char *what)
{
    if (result == VK_SUCCESS)
        return;
    fprintf(stderr, "%s: VkResult %d\n", what, result);
    exit(1);
}

void pm_harness_environment(void)
{
    setenv("VK_DRIVER_FILES", PM_NULL_DRIVER_MANIFEST, 1);
    setenv("VK_ICD_FILENAMES", PM_NULL_DRIVER_MANIFEST, 1);
    setenv("NODEVICE_SELECT", "1", 1); /* Mesa's device-select layer */
    const char *const unset[] = {"VK_LAYER_PATH",      "VK_ADD_LAYER_PATH",
                                 "VK_INSTANCE_LAYERS", "VK_LOADER_LAYERS_ENABLE",
                                 "VK_LOADER_DEBUG",    "MANGOHUD"};
    for (size_t i = 0; i < sizeof(unset) / sizeof(unset[0]); i++)
        unsetenv(unset[i]);
    pm_harness_layer(NULL);
}

bool pm_harness_is_validated(void)
{
    return getenv("PM_TEST_VALIDATION_LAYER") != NULL;
}

void pm_harness_layer(const char *layer)
{
    static const char validation[] = "VK_LAYER_KHRONOS_validation";
    const char *order = getenv("PM_TEST_VALIDATION_ORDER");
    const bool above = order && strcmp(order, "above") == 0;
    char layers[160];
    if (!pm_harness_is_validated()) {
        if (layer)
            setenv("VK_INSTANCE_LAYERS", layer, 1);
        else
            unsetenv("VK_INSTANCE_LAYERS");
        return;
    }
    snprintf(layers, sizeof layers, "%s%s%s", layer && !above ? layer : validation,
             layer ? ":" : "",
             !layer  ? ""
             : above ? layer
                     : validation);
    setenv("VK_ADD_LAYER_PATH", getenv("PM_TEST_VALIDATION_LAYER"), 1);
    setenv("VK_INSTANCE_LAYERS", layers, 1);
}

const struct pm_null_api *pm_harness_driver(void)
{
    void *library = dlopen(PM_NULL_DRIVER_PATH, RTLD_NOW);
    pm_null_driver_function function =
        library ? (pm_null_driver_function)dlsym(library, PM_NULL_DRIVER_SYMBOL) : NULL;
    if (!function) {
        fprintf(stderr, "%s: %s\n", PM_NULL_DRIVER_PATH, dlerror());
        exit(1);
    }
    return function();
}

static uint32_t count(const char *const *strings)
{
    uint32_t n = 0;
    while (strings && strings[n])
        n++;
    return n;
}

void pm_harness_open_instance(struct pm_harness *harness, const struct pm_harness_options *options)
{
    *harness = (struct pm_harness){.allocator = options->allocator, .driver = pm_harness_driver()};
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pNext = options->application_next,
        .pApplicationName = options->application,
        .pEngineName = options->engine,
        .apiVersion = options->api_version ? options->api_version : VK_API_VERSION_1_3,
    };
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = options->instance_next,
        .pApplicationInfo = &application,
        .enabledLayerCount = count(options->layers),
        .ppEnabledLayerNames = options->layers,
        .enabledExtensionCount = count(options->instance_extensions),
        .ppEnabledExtensionNames = options->instance_extensions,
    };
    PM_CHECK(vkCreateInstance(&info, harness->allocator, &harness->instance));
    pm_instance_dispatch_load(&harness->vki, harness->instance, vkGetInstanceProcAddr);
    uint32_t devices = 1;
    harness->vki.EnumeratePhysicalDevices(harness->instance, &devices, &harness->physical);
    if (devices != 1) {
        fprintf(stderr, "the null driver shows no device\n");
        exit(1);
    }
}

VkResult pm_harness_create_device(struct pm_harness *harness,
                                  const struct pm_harness_options *options)
{
    const float priorities[4] = {1.0f, 1.0f, 1.0f, 1.0f};
    const VkDeviceQueueCreateInfo queues[] = {
        {
            .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
            .pNext = options->queue_next,
            .queueCount = options->queues ? options->queues : 1,
            .pQueuePriorities = priorities,
        },
        {
            .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
            .flags = VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT,
            .queueCount = 1,
            .pQueuePriorities = priorities,
        },
    };
    const VkDeviceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .pNext = options->device_next,
        .queueCreateInfoCount = options->protected_queue ? 2 : 1,
        .pQueueCreateInfos = queues,
        .enabledExtensionCount = count(options->device_extensions),
        .ppEnabledExtensionNames = options->device_extensions,
        .pEnabledFeatures = options->features,
    };
    VkResult result =
        harness->vki.CreateDevice(harness->physical, &info, harness->allocator, &harness->device);
    if (result != VK_SUCCESS)
        return result;
    pm_device_dispatch_load(&harness->vk, harness->device, vkGetDeviceProcAddr);
    for (uint32_t i = 0; i < queues[0].queueCount; i++)
        harness->vk.GetDeviceQueue(harness->device, 0, i, &harness->queues[i]);
    harness->queue = harness->queues[0];
    return VK_SUCCESS;
}

/* ---- pipelines ---- */

VkShaderModule pm_harness_make_module(struct pm_harness *harness, const uint32_t *words,
                                      size_t size)
{
    const VkShaderModuleCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO, .codeSize = size, .pCode = words};
    VkShaderModule module;
    PM_CHECK(harness->vk.CreateShaderModule(harness->device, &info, harness->allocator, &module));
    return module;
}

static void make_layout(struct pm_harness *harness)
{
    const VkDescriptorSetLayoutBinding binding = {.descriptorType =
                                                      VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                                  .descriptorCount = 1,
                                                  .stageFlags = VK_SHADER_STAGE_ALL};
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = 1,
        .pBindings = &binding};
    PM_CHECK(harness->vk.CreateDescriptorSetLayout(harness->device, &set, harness->allocator,
                                                   &harness->set_layout));
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &harness->set_layout};
    PM_CHECK(harness->vk.CreatePipelineLayout(harness->device, &layout, harness->allocator,
                                              &harness->layout));
}

static void make_set(struct pm_harness *harness)
{
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .size = 4096,
                                     .usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT};
    PM_CHECK(
        harness->vk.CreateBuffer(harness->device, &info, harness->allocator, &harness->buffer));
    VkMemoryRequirements needed;
    harness->vk.GetBufferMemoryRequirements(harness->device, harness->buffer, &needed);
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = needed.size};
    PM_CHECK(harness->vk.AllocateMemory(harness->device, &memory, harness->allocator,
                                        &harness->buffer_memory));
    PM_CHECK(
        harness->vk.BindBufferMemory(harness->device, harness->buffer, harness->buffer_memory, 0));
    const VkDescriptorPoolSize size = {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1};
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = 1,
                                             .poolSizeCount = 1,
                                             .pPoolSizes = &size};
    PM_CHECK(harness->vk.CreateDescriptorPool(harness->device, &pool, harness->allocator,
                                              &harness->descriptors));
    const VkDescriptorSetAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = harness->descriptors,
        .descriptorSetCount = 1,
        .pSetLayouts = &harness->set_layout};
    PM_CHECK(harness->vk.AllocateDescriptorSets(harness->device, &allocate, &harness->set));
    const VkDescriptorBufferInfo range = {harness->buffer, 0, VK_WHOLE_SIZE};
    const VkWriteDescriptorSet write = {.sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
                                        .dstSet = harness->set,
                                        .descriptorCount = 1,
                                        .descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                                        .pBufferInfo = &range};
    harness->vk.UpdateDescriptorSets(harness->device, 1, &write, 0, NULL);
}

VkRenderPass pm_harness_make_render_pass(struct pm_harness *harness, VkAttachmentLoadOp load)
{
    const VkAttachmentDescription attachment = {.format = TARGET_FORMAT,
                                                .samples = VK_SAMPLE_COUNT_1_BIT,
                                                .loadOp = load,
                                                .finalLayout =
                                                    VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkAttachmentReference reference = {0, VK_IMAGE_LAYOUT_COLOR_ATTACHMENT_OPTIMAL};
    const VkSubpassDescription subpass = {.colorAttachmentCount = 1,
                                          .pColorAttachments = &reference};
    const VkRenderPassCreateInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_CREATE_INFO,
                                         .attachmentCount = 1,
                                         .pAttachments = &attachment,
                                         .subpassCount = 1,
                                         .pSubpasses = &subpass};
    VkRenderPass pass;
    PM_CHECK(harness->vk.CreateRenderPass(harness->device, &info, harness->allocator, &pass));
    return pass;
}

static void make_target(struct pm_harness *harness)
{
    harness->render_pass = pm_harness_make_render_pass(harness, VK_ATTACHMENT_LOAD_OP_DONT_CARE);
    const VkImageCreateInfo image = {.sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
                                     .imageType = VK_IMAGE_TYPE_2D,
                                     .format = TARGET_FORMAT,
                                     .extent = {64, 64, 1},
                                     .mipLevels = 1,
                                     .arrayLayers = 1,
                                     .samples = VK_SAMPLE_COUNT_1_BIT,
                                     .usage = VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT};
    PM_CHECK(harness->vk.CreateImage(harness->device, &image, harness->allocator, &harness->image));
    VkMemoryRequirements needed;
    harness->vk.GetImageMemoryRequirements(harness->device, harness->image, &needed);
    const VkMemoryAllocateInfo memory = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                         .allocationSize = needed.size};
    PM_CHECK(harness->vk.AllocateMemory(harness->device, &memory, harness->allocator,
                                        &harness->image_memory));
    PM_CHECK(
        harness->vk.BindImageMemory(harness->device, harness->image, harness->image_memory, 0));
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = harness->image,
        .viewType = VK_IMAGE_VIEW_TYPE_2D,
        .format = TARGET_FORMAT,
        .subresourceRange = {VK_IMAGE_ASPECT_COLOR_BIT, 0, 1, 0, 1}};
    PM_CHECK(
        harness->vk.CreateImageView(harness->device, &view, harness->allocator, &harness->view));
    const VkFramebufferCreateInfo framebuffer = {.sType = VK_STRUCTURE_TYPE_FRAMEBUFFER_CREATE_INFO,
                                                 .renderPass = harness->render_pass,
                                                 .attachmentCount = 1,
                                                 .pAttachments = &harness->view,
                                                 .width = 64,
                                                 .height = 64,
                                                 .layers = 1};
    PM_CHECK(harness->vk.CreateFramebuffer(harness->device, &framebuffer, harness->allocator,
                                           &harness->framebuffer));
}

void pm_harness_describe(const struct pm_harness *harness, struct pm_harness_pipeline *of)
{
    static const VkViewport view = {0, 0, 64, 64, 0, 1};
    static const VkRect2D scissor = {{0, 0}, {64, 64}};
    static const VkPipelineColorBlendAttachmentState attachment = {.colorWriteMask = 15};
    for (int i = 0; i < 2; i++)
        of->stages[i] = (VkPipelineShaderStageCreateInfo){
            .sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
            .stage = i ? VK_SHADER_STAGE_FRAGMENT_BIT : VK_SHADER_STAGE_VERTEX_BIT,
            .module = i ? harness->fragment : harness->vertex,
            .pName = "main"};
    of->input = (VkPipelineVertexInputStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VERTEX_INPUT_STATE_CREATE_INFO};
    of->assembly = (VkPipelineInputAssemblyStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_INPUT_ASSEMBLY_STATE_CREATE_INFO,
        .topology = VK_PRIMITIVE_TOPOLOGY_TRIANGLE_LIST};
    of->viewport = (VkPipelineViewportStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_VIEWPORT_STATE_CREATE_INFO,
        .viewportCount = 1,
        .pViewports = &view,
        .scissorCount = 1,
        .pScissors = &scissor};
    of->rasterization = (VkPipelineRasterizationStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_RASTERIZATION_STATE_CREATE_INFO, .lineWidth = 1.0f};
    of->multisample = (VkPipelineMultisampleStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_MULTISAMPLE_STATE_CREATE_INFO,
        .rasterizationSamples = VK_SAMPLE_COUNT_1_BIT};
    of->blend = (VkPipelineColorBlendStateCreateInfo){
        .sType = VK_STRUCTURE_TYPE_PIPELINE_COLOR_BLEND_STATE_CREATE_INFO,
        .attachmentCount = 1,
        .pAttachments = &attachment};
    of->info =
        (VkGraphicsPipelineCreateInfo){.sType = VK_STRUCTURE_TYPE_GRAPHICS_PIPELINE_CREATE_INFO,
                                       .stageCount = 2,
                                       .pStages = of->stages,
                                       .pVertexInputState = &of->input,
                                       .pInputAssemblyState = &of->assembly,
                                       .pViewportState = &of->viewport,
                                       .pRasterizationState = &of->rasterization,
                                       .pMultisampleState = &of->multisample,
                                       .pColorBlendState = &of->blend,
                                       .layout = harness->layout,
                                       .renderPass = harness->render_pass};
}

VkPipeline pm_harness_make_graphics(struct pm_harness *harness)
{
    struct pm_harness_pipeline of;
    pm_harness_describe(harness, &of);
    VkPipeline pipeline;
    PM_CHECK(harness->vk.CreateGraphicsPipelines(harness->device, VK_NULL_HANDLE, 1, &of.info,
                                                 harness->allocator, &pipeline));
    return pipeline;
}

VkComputePipelineCreateInfo pm_harness_describe_compute(const struct pm_harness *harness)
{
    return (VkComputePipelineCreateInfo){
        .sType = VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO,
        .stage = {.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO,
                  .stage = VK_SHADER_STAGE_COMPUTE_BIT,
                  .module = harness->compute,
                  .pName = "main"},
        .layout = harness->layout,
        .basePipelineIndex = -1};
}

static VkPipeline make_compute(struct pm_harness *harness, VkShaderModule module,
                               VkPipelineLayout layout)
{
    VkComputePipelineCreateInfo info = pm_harness_describe_compute(harness);
    info.stage.module = module;
    info.layout = layout;
    VkPipeline pipeline;
    PM_CHECK(harness->vk.CreateComputePipelines(harness->device, VK_NULL_HANDLE, 1, &info,
                                                harness->allocator, &pipeline));
    return pipeline;
}

VkPipeline pm_harness_make_compute(struct pm_harness *harness)
{
    return make_compute(harness, harness->compute, harness->layout);
}

const uint32_t *pm_harness_compute_words(size_t *size)
{
    *size = sizeof branches_comp;
    return branches_comp;
}

VkPipeline pm_harness_compute_of(struct pm_harness *harness, const uint32_t *words, size_t size,
                                 VkPipelineLayout layout)
{
    const VkShaderModule module = pm_harness_make_module(harness, words, size);
    const VkPipeline pipeline = make_compute(harness, module, layout);
    harness->vk.DestroyShaderModule(harness->device, module, harness->allocator);
    return pipeline;
}

VkShaderEXT pm_harness_make_object(struct pm_harness *harness, VkShaderStageFlagBits stage)
{
    const bool vertex = stage == VK_SHADER_STAGE_VERTEX_BIT,
               fragment = stage == VK_SHADER_STAGE_FRAGMENT_BIT;
    const VkShaderCreateInfoEXT info = {.sType = VK_STRUCTURE_TYPE_SHADER_CREATE_INFO_EXT,
                                        .stage = stage,
                                        .codeType = VK_SHADER_CODE_TYPE_SPIRV_EXT,
                                        .codeSize = vertex     ? sizeof plain_vert
                                                    : fragment ? sizeof branches_frag
                                                               : sizeof branches_comp,
                                        .pCode = vertex     ? plain_vert
                                                 : fragment ? branches_frag
                                                            : branches_comp,
                                        .pName = "main",
                                        .setLayoutCount = 1,
                                        .pSetLayouts = &harness->set_layout};
    VkShaderEXT shader;
    PM_CHECK(harness->vk.CreateShadersEXT(harness->device, 1, &info, harness->allocator, &shader));
    return shader;
}

void pm_harness_open_rest(struct pm_harness *harness)
{
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT};
    PM_CHECK(
        harness->vk.CreateCommandPool(harness->device, &pool, harness->allocator, &harness->pool));
    harness->vertex = pm_harness_make_module(harness, plain_vert, sizeof(plain_vert));
    harness->fragment = pm_harness_make_module(harness, branches_frag, sizeof(branches_frag));
    harness->compute = pm_harness_make_module(harness, branches_comp, sizeof(branches_comp));
    make_layout(harness);
    make_set(harness);
    make_target(harness);
    harness->graphics = pm_harness_make_graphics(harness);
    harness->dispatch = pm_harness_make_compute(harness);
}

void pm_harness_open(struct pm_harness *harness, const struct pm_harness_options *options)
{
    const struct pm_harness_options defaults = {0};
    if (!options)
        options = &defaults;
    pm_harness_open_instance(harness, options);
    PM_CHECK(pm_harness_create_device(harness, options));
    if (!options->bare)
        pm_harness_open_rest(harness);
}

void pm_harness_close_device(struct pm_harness *harness)
{
    VkDevice device = harness->device;
    if (!device)
        return;
    harness->vk.DeviceWaitIdle(device);
    harness->vk.DestroyPipeline(device, harness->dispatch, harness->allocator);
    harness->vk.DestroyPipeline(device, harness->graphics, harness->allocator);
    harness->vk.DestroyDescriptorPool(device, harness->descriptors, harness->allocator);
    harness->vk.DestroyBuffer(device, harness->buffer, harness->allocator);
    harness->vk.FreeMemory(device, harness->buffer_memory, harness->allocator);
    harness->vk.DestroyFramebuffer(device, harness->framebuffer, harness->allocator);
    harness->vk.DestroyImageView(device, harness->view, harness->allocator);
    harness->vk.DestroyImage(device, harness->image, harness->allocator);
    harness->vk.FreeMemory(device, harness->image_memory, harness->allocator);
    harness->vk.DestroyRenderPass(device, harness->render_pass, harness->allocator);
    harness->vk.DestroyPipelineLayout(device, harness->layout, harness->allocator);
    harness->vk.DestroyDescriptorSetLayout(device, harness->set_layout, harness->allocator);
    harness->vk.DestroyShaderModule(device, harness->vertex, harness->allocator);
    harness->vk.DestroyShaderModule(device, harness->fragment, harness->allocator);
    harness->vk.DestroyShaderModule(device, harness->compute, harness->allocator);
    harness->vk.DestroyCommandPool(device, harness->pool, harness->allocator);
    harness->vk.DestroyDevice(device, harness->allocator);
    harness->device = VK_NULL_HANDLE;
}

void pm_harness_close(struct pm_harness *harness)
{
    pm_harness_close_device(harness);
    harness->vki.DestroyInstance(harness->instance, harness->allocator);
}

/* ---- commands ---- */

VkCommandBuffer pm_harness_allocate(struct pm_harness *harness, VkCommandBufferLevel level)
{
    const VkCommandBufferAllocateInfo info = {.sType =
                                                  VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO,
                                              .commandPool = harness->pool,
                                              .level = level,
                                              .commandBufferCount = 1};
    VkCommandBuffer buffer;
    PM_CHECK(harness->vk.AllocateCommandBuffers(harness->device, &info, &buffer));
    return buffer;
}

void pm_harness_begin(struct pm_harness *harness, VkCommandBuffer buffer,
                      VkCommandBufferUsageFlags flags)
{
    const VkCommandBufferInheritanceInfo inheritance = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_INHERITANCE_INFO,
        .renderPass = flags & VK_COMMAND_BUFFER_USAGE_RENDER_PASS_CONTINUE_BIT
                          ? harness->render_pass
                          : VK_NULL_HANDLE};
    const VkCommandBufferBeginInfo info = {.sType = VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO,
                                           .flags = flags,
                                           .pInheritanceInfo = &inheritance};
    PM_CHECK(harness->vk.BeginCommandBuffer(buffer, &info));
}

void pm_harness_bind_set(struct pm_harness *harness, VkCommandBuffer buffer)
{
    harness->vk.CmdBindDescriptorSets(buffer, VK_PIPELINE_BIND_POINT_GRAPHICS, harness->layout, 0,
                                      1, &harness->set, 0, NULL);
    harness->vk.CmdBindDescriptorSets(buffer, VK_PIPELINE_BIND_POINT_COMPUTE, harness->layout, 0, 1,
                                      &harness->set, 0, NULL);
}

void pm_harness_begin_pass(struct pm_harness *harness, VkCommandBuffer buffer)
{
    const VkRenderPassBeginInfo info = {.sType = VK_STRUCTURE_TYPE_RENDER_PASS_BEGIN_INFO,
                                        .renderPass = harness->render_pass,
                                        .framebuffer = harness->framebuffer,
                                        .renderArea = {{0, 0}, {64, 64}}};
    harness->vk.CmdBeginRenderPass(buffer, &info, VK_SUBPASS_CONTENTS_INLINE);
}

VkQueryPool pm_harness_make_statistics(struct pm_harness *harness)
{
    const VkQueryPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO,
        .queryType = VK_QUERY_TYPE_PIPELINE_STATISTICS,
        .queryCount = 1,
        .pipelineStatistics = VK_QUERY_PIPELINE_STATISTIC_FRAGMENT_SHADER_INVOCATIONS_BIT |
                              VK_QUERY_PIPELINE_STATISTIC_COMPUTE_SHADER_INVOCATIONS_BIT};
    VkQueryPool pool;
    PM_CHECK(harness->vk.CreateQueryPool(harness->device, &info, NULL, &pool));
    return pool;
}

void pm_harness_submit(struct pm_harness *harness, VkQueue queue, VkCommandBuffer buffer,
                       VkFence fence)
{
    const VkSubmitInfo info = {.sType = VK_STRUCTURE_TYPE_SUBMIT_INFO,
                               .commandBufferCount = 1,
                               .pCommandBuffers = &buffer};
    PM_CHECK(harness->vk.QueueSubmit(queue, 1, &info, fence));
}

void pm_harness_run(struct pm_harness *harness, VkCommandBuffer buffer)
{
    PM_CHECK(harness->vk.EndCommandBuffer(buffer));
    pm_harness_submit(harness, harness->queue, buffer, VK_NULL_HANDLE);
    PM_CHECK(harness->vk.QueueWaitIdle(harness->queue));
}
