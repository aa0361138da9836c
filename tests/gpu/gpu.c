#include "tests/gpu/gpu_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- instance and device ---- */

static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT severity,
                                                 VkDebugUtilsMessageTypeFlagsEXT types,
                                                 const VkDebugUtilsMessengerCallbackDataEXT *data,
                                                 void *user)
{
    (void)severity, (void)types;
    struct pm_gpu *gpu = user;
    gpu->validation_errors++;
    fprintf(stderr, "validation: %s\n", data->pMessage);
    return VK_FALSE;
}

static void check_driver(void)
{
    const char *manifest = getenv("VK_DRIVER_FILES");
    if (!manifest || !*manifest)
        fail_msg("VK_DRIVER_FILES names no driver: run this test through ctest");
    if (access(manifest, R_OK) != 0)
        fail_msg("the driver %s is missing: run scripts/fetch_drivers.sh, or install Debian's "
                 "mesa-vulkan-drivers",
                 manifest);
}

static void create_instance(struct pm_gpu *gpu, bool names)
{
    const char *wanted = getenv("PM_TEST_VALIDATION");
    bool validate = wanted && strcmp(wanted, "1") == 0;
    const char *layer = "VK_LAYER_KHRONOS_validation";
    const char *extension = VK_EXT_DEBUG_UTILS_EXTENSION_NAME;
    const VkDebugUtilsMessengerCreateInfoEXT messenger = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT,
        .messageSeverity = VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT |
                           VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT,
        .messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT,
        .pfnUserCallback = on_message,
        .pUserData = gpu,
    };
    const VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
                                           .pApplicationName = "pm_test_gpu",
                                           .apiVersion = VK_API_VERSION_1_3};
    const VkInstanceCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pNext = validate ? &messenger : NULL,
        .pApplicationInfo = &application,
        .enabledLayerCount = validate ? 1 : 0,
        .ppEnabledLayerNames = &layer,
        .enabledExtensionCount = validate || names ? 1 : 0,
        .ppEnabledExtensionNames = &extension,
    };
    CHECK(vkCreateInstance(&info, NULL, &gpu->instance));
    if (names)
        gpu->set_name = (PFN_vkSetDebugUtilsObjectNameEXT)vkGetInstanceProcAddr(
            gpu->instance, "vkSetDebugUtilsObjectNameEXT");
    if (validate) {
        PFN_vkCreateDebugUtilsMessengerEXT create =
            (PFN_vkCreateDebugUtilsMessengerEXT)vkGetInstanceProcAddr(
                gpu->instance, "vkCreateDebugUtilsMessengerEXT");
        VkDebugUtilsMessengerEXT unused;
        CHECK(create(gpu->instance, &messenger, NULL, &unused));
    }
}

static void pick_device(struct pm_gpu *gpu)
{
    uint32_t count = 1;
    VkResult result = vkEnumeratePhysicalDevices(gpu->instance, &count, &gpu->physical);
    if ((result != VK_SUCCESS && result != VK_INCOMPLETE) || count == 0)
        fail_msg("the driver has no device (VkResult %d)", result);
    uint32_t families = 8;
    VkQueueFamilyProperties properties[8];
    vkGetPhysicalDeviceQueueFamilyProperties(gpu->physical, &families, properties);
    const VkQueueFlags needed = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
    gpu->queue_family = 0;
    while (gpu->queue_family < families &&
           (properties[gpu->queue_family].queueFlags & needed) != needed)
        gpu->queue_family++;
    assert_true(gpu->queue_family < families);
    vkGetPhysicalDeviceMemoryProperties(gpu->physical, &gpu->memory);
}

static void learn_properties(struct pm_gpu *gpu)
{
    VkPhysicalDeviceDriverProperties driver = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
    VkPhysicalDeviceSubgroupSizeControlProperties sizes = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES,
        .pNext = &driver};
    VkPhysicalDeviceSubgroupProperties subgroup = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES, .pNext = &sizes};
    VkPhysicalDeviceProperties2 properties = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &subgroup};
    vkGetPhysicalDeviceProperties2(gpu->physical, &properties);
    snprintf(gpu->name, sizeof gpu->name, "%s", properties.properties.deviceName);
    gpu->driver_id = (uint32_t)driver.driverID;
    gpu->driver_version = properties.properties.driverVersion;
    memcpy(gpu->driver_info, driver.driverInfo, sizeof(gpu->driver_info));
    gpu->swiftshader = driver.driverID == VK_DRIVER_ID_GOOGLE_SWIFTSHADER;
    gpu->lavapipe_22 = driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE &&
                       strncmp(driver.driverInfo, "Mesa 22.", 8) == 0;
    gpu->subgroup_size = subgroup.subgroupSize;
    const VkSubgroupFeatureFlags needed =
        VK_SUBGROUP_FEATURE_BASIC_BIT | VK_SUBGROUP_FEATURE_BALLOT_BIT;
    gpu->ballot_in_fragment = (subgroup.supportedStages & VK_SHADER_STAGE_FRAGMENT_BIT) &&
                              (subgroup.supportedOperations & needed) == needed;
    const VkSubgroupFeatureFlags checks =
        VK_SUBGROUP_FEATURE_VOTE_BIT | VK_SUBGROUP_FEATURE_QUAD_BIT;
    gpu->vote_and_quad_in_fragment =
        gpu->ballot_in_fragment && (subgroup.supportedOperations & checks) == checks;
    const VkShaderStageFlags stages = VK_SHADER_STAGE_FRAGMENT_BIT | VK_SHADER_STAGE_COMPUTE_BIT;
    const VkSubgroupFeatureFlags quad = VK_SUBGROUP_FEATURE_VOTE_BIT | VK_SUBGROUP_FEATURE_QUAD_BIT;
    gpu->most_lanes = subgroup.subgroupSize > sizes.maxSubgroupSize ? subgroup.subgroupSize
                                                                    : sizes.maxSubgroupSize;
    gpu->arithmetic = (subgroup.supportedStages & stages) == stages &&
                      (subgroup.supportedOperations & VK_SUBGROUP_FEATURE_ARITHMETIC_BIT);
    gpu->quad = (subgroup.supportedStages & stages) == stages &&
                (subgroup.supportedOperations & quad) == quad;
    gpu->sample_counts = properties.properties.limits.framebufferColorSampleCounts &
                         properties.properties.limits.framebufferDepthSampleCounts;
}

/* Puts the extensions that the device has into names, and their features behind `last`. */
static uint32_t choose_extensions(struct pm_gpu *gpu, const struct pm_gpu_options *options,
                                  const char *names[32], VkBaseOutStructure *last)
{
    enum { MOST = 512 };
    uint32_t available = MOST, count = 0;
    VkExtensionProperties *found = calloc(MOST, sizeof *found);
    assert_non_null(found);
    vkEnumerateDeviceExtensionProperties(gpu->physical, NULL, &available, found);
    VkBaseOutStructure *feature = options->features;
    for (uint32_t i = 0; options->extensions && options->extensions[i]; i++) {
        const bool has_feature = feature && i >= options->first_feature;
        VkBaseOutStructure *next = has_feature ? feature->pNext : feature;
        for (uint32_t j = 0; j < available; j++) {
            if (strcmp(found[j].extensionName, options->extensions[i]) != 0)
                continue;
            gpu->extensions |= 1u << i;
            names[count++] = options->extensions[i];
            if (has_feature) {
                feature->pNext = NULL;
                last->pNext = feature;
                last = feature;
            }
            break;
        }
        feature = next;
    }
    free(found);
    return count;
}

static void create_device(struct pm_gpu *gpu, const struct pm_gpu_options *options)
{
    VkPhysicalDeviceVulkan13Features features13 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
    VkPhysicalDeviceVulkan12Features features12 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES, .pNext = &features13};
    VkPhysicalDeviceVulkan11Features features11 = {
        .sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES, .pNext = &features12};
    VkPhysicalDeviceFeatures2 features = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2,
                                          .pNext = &features11};
    const char *names[32];
    const uint32_t name_count =
        choose_extensions(gpu, options, names, (VkBaseOutStructure *)(void *)&features13);
    vkGetPhysicalDeviceFeatures2(gpu->physical, &features);
    features.features.robustBufferAccess = VK_FALSE;
    features13.robustImageAccess = VK_FALSE;
    gpu->int64 = features.features.shaderInt64;
    gpu->int64_atomics = gpu->int64 && features12.shaderBufferInt64Atomics;
    gpu->memory_model = features12.vulkanMemoryModel;
    gpu->memory_model_device_scope = features12.vulkanMemoryModelDeviceScope;
    gpu->demote = features13.shaderDemoteToHelperInvocation;
    gpu->terminate = features13.shaderTerminateInvocation;
    gpu->float64 = features.features.shaderFloat64;
    gpu->small_types = features.features.shaderInt16 && features12.shaderInt8 &&
                       features12.shaderFloat16 && features12.storageBuffer8BitAccess &&
                       features11.storageBuffer16BitAccess;

    const float priorities[2] = {1, 1};
    const VkDeviceQueueCreateInfo queue = {.sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
                                           .queueFamilyIndex = gpu->queue_family,
                                           .queueCount = options->two_queues ? 2 : 1,
                                           .pQueuePriorities = priorities};
    const VkDeviceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                     .pNext = &features,
                                     .queueCreateInfoCount = 1,
                                     .pQueueCreateInfos = &queue,
                                     .enabledExtensionCount = name_count,
                                     .ppEnabledExtensionNames = names};
    CHECK(vkCreateDevice(gpu->physical, &info, NULL, &gpu->device));
    vkGetDeviceQueue(gpu->device, gpu->queue_family, 0, &gpu->queue);
}

/* ---- what all shaders share ---- */

uint32_t gpu_bindings(VkDescriptorSetLayoutBinding bindings[static PM_GPU_BUFFERS + 2])
{
    for (uint32_t i = 0; i < PM_GPU_BUFFERS; i++)
        bindings[i] = (VkDescriptorSetLayoutBinding){i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, 1,
                                                     VK_SHADER_STAGE_ALL, NULL};
    bindings[PM_GPU_BUFFERS] = (VkDescriptorSetLayoutBinding){
        PM_GPU_TEXTURE_BINDING, VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1, VK_SHADER_STAGE_ALL,
        NULL};
    bindings[PM_GPU_BUFFERS + 1] = (VkDescriptorSetLayoutBinding){
        PM_GPU_UNIFORM_BINDING, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1, VK_SHADER_STAGE_ALL, NULL};
    return PM_GPU_BUFFERS + 2;
}

static void create_layout(struct pm_gpu *gpu)
{
    VkDescriptorSetLayoutBinding bindings[PM_GPU_BUFFERS + 2];
    const VkDescriptorSetLayoutCreateInfo set = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO,
        .bindingCount = gpu_bindings(bindings),
        .pBindings = bindings};
    CHECK(vkCreateDescriptorSetLayout(gpu->device, &set, NULL, &gpu->set_layout));
    const VkPushConstantRange push = {VK_SHADER_STAGE_ALL, 0, PM_GPU_PUSH_BYTES};
    const VkPipelineLayoutCreateInfo layout = {.sType =
                                                   VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO,
                                               .setLayoutCount = 1,
                                               .pSetLayouts = &gpu->set_layout,
                                               .pushConstantRangeCount = 1,
                                               .pPushConstantRanges = &push};
    CHECK(vkCreatePipelineLayout(gpu->device, &layout, NULL, &gpu->layout));
    const VkDescriptorPoolSize sizes[] = {
        {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, PM_GPU_BUFFERS},
        {VK_DESCRIPTOR_TYPE_COMBINED_IMAGE_SAMPLER, 1},
        {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1},
    };
    const VkDescriptorPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
                                             .maxSets = 1,
                                             .poolSizeCount = 3,
                                             .pPoolSizes = sizes};
    CHECK(vkCreateDescriptorPool(gpu->device, &pool, NULL, &gpu->descriptors));
}

void pm_gpu_create(struct pm_gpu *gpu)
{
    pm_gpu_create_with(gpu, &(struct pm_gpu_options){0});
}

void pm_gpu_create_with(struct pm_gpu *gpu, const struct pm_gpu_options *options)
{
    *gpu = (struct pm_gpu){.instance = options->instance};
    check_driver();
    if (!gpu->instance)
        create_instance(gpu, options->names);
    pick_device(gpu);
    learn_properties(gpu);
    create_device(gpu, options);
    const VkCommandPoolCreateInfo pool = {.sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
                                          .queueFamilyIndex = gpu->queue_family};
    CHECK(vkCreateCommandPool(gpu->device, &pool, NULL, &gpu->pool));
    create_layout(gpu);
    gpu_texture_create(gpu);
    uint32_t *words;
    size_t count;
    pm_gpu_load(PM_GPU_SHADERS, "pass.vert", &words, &count);
    gpu->vertex = gpu_module(gpu, words, count);
    free(words);
}

void pm_gpu_destroy(struct pm_gpu *gpu)
{
    vkDestroyShaderModule(gpu->device, gpu->vertex, NULL);
    vkDestroySampler(gpu->device, gpu->sampler, NULL);
    vkDestroyImageView(gpu->device, gpu->texture_view, NULL);
    vkDestroyImage(gpu->device, gpu->texture, NULL);
    vkFreeMemory(gpu->device, gpu->texture_memory, NULL);
    vkDestroyDescriptorPool(gpu->device, gpu->descriptors, NULL);
    vkDestroyPipelineLayout(gpu->device, gpu->layout, NULL);
    vkDestroyDescriptorSetLayout(gpu->device, gpu->set_layout, NULL);
    vkDestroyCommandPool(gpu->device, gpu->pool, NULL);
    vkDestroyDevice(gpu->device, NULL);
    assert_int_equal(gpu->validation_errors, 0);
}

void pm_gpu_name(const struct pm_gpu *gpu, VkObjectType type, uint64_t handle, const char *name)
{
    const VkDebugUtilsObjectNameInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
        .objectType = type,
        .objectHandle = handle,
        .pObjectName = name};
    if (gpu->set_name != NULL)
        CHECK(gpu->set_name(gpu->device, &info));
}

/* ---- memory, buffers, modules ---- */

VkDeviceMemory gpu_allocate(struct pm_gpu *gpu, const VkMemoryRequirements *needs,
                            VkMemoryPropertyFlags flags, VkMemoryAllocateFlags allocate_flags)
{
    uint32_t type = 0;
    while (type < gpu->memory.memoryTypeCount &&
           (!(needs->memoryTypeBits & 1u << type) ||
            (gpu->memory.memoryTypes[type].propertyFlags & flags) != flags))
        type++;
    assert_true(type < gpu->memory.memoryTypeCount);
    const VkMemoryAllocateFlagsInfo flags_info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO, .flags = allocate_flags};
    const VkMemoryAllocateInfo info = {.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                                       .pNext = &flags_info,
                                       .allocationSize = needs->size,
                                       .memoryTypeIndex = type};
    VkDeviceMemory memory;
    CHECK(vkAllocateMemory(gpu->device, &info, NULL, &memory));
    return memory;
}

void pm_gpu_buffer_create(struct pm_gpu *gpu, size_t size, struct pm_gpu_buffer *buffer)
{
    pm_gpu_buffer_create_for(gpu, size, 0, buffer);
}

void pm_gpu_buffer_create_for(struct pm_gpu *gpu, size_t size, VkBufferUsageFlags2KHR more,
                              struct pm_gpu_buffer *buffer)
{
    const VkBufferUsageFlags2CreateInfoKHR usage = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_USAGE_FLAGS_2_CREATE_INFO_KHR,
        .usage = PM_GPU_BUFFER_USAGE | more};
    const bool wide = more > INT32_MAX; /* which VkBufferUsageFlags has not */
    const VkBufferCreateInfo info = {.sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
                                     .pNext = wide ? &usage : NULL,
                                     .size = size,
                                     .usage = wide ? 0 : (VkBufferUsageFlags)usage.usage};
    CHECK(vkCreateBuffer(gpu->device, &info, NULL, &buffer->buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(gpu->device, buffer->buffer, &needs);
    buffer->memory = gpu_allocate(
        gpu, &needs, VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
        VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT);
    CHECK(vkBindBufferMemory(gpu->device, buffer->buffer, buffer->memory, 0));
    CHECK(vkMapMemory(gpu->device, buffer->memory, 0, VK_WHOLE_SIZE, 0, &buffer->data));
    memset(buffer->data, 0, size);
    const VkBufferDeviceAddressInfo address = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .buffer = buffer->buffer};
    buffer->address = vkGetBufferDeviceAddress(gpu->device, &address);
    buffer->size = size;
}

void pm_gpu_buffer_destroy(struct pm_gpu *gpu, struct pm_gpu_buffer *buffer)
{
    vkDestroyBuffer(gpu->device, buffer->buffer, NULL);
    vkFreeMemory(gpu->device, buffer->memory, NULL);
    *buffer = (struct pm_gpu_buffer){0};
}

VkShaderModule gpu_module(struct pm_gpu *gpu, const uint32_t *words, size_t count)
{
    const VkShaderModuleCreateInfo info = {.sType = VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO,
                                           .codeSize = count * sizeof(uint32_t),
                                           .pCode = words};
    VkShaderModule module;
    CHECK(vkCreateShaderModule(gpu->device, &info, NULL, &module));
    return module;
}

void pm_gpu_load(const char *folder, const char *name, uint32_t **words, size_t *count)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s.spv", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s cannot be opened", path);
    const size_t most = 1u << 20;
    *words = malloc(most * sizeof(uint32_t));
    assert_non_null(*words);
    *count = fread(*words, sizeof(uint32_t), most, file);
    fclose(file);
    assert_true(*count > 5 && *count < most);
}
