#include "examples/common/gpu.h"
#include <stdlib.h>
#include <string.h>

bool pm_gpu_check(VkResult result, const char *call, struct pm_error *error)
{
    if (result == VK_SUCCESS)
        return true;
    return pm_fail(error, PM_ERROR_DEVICE, "%s failed with VkResult %d", call, (int)result);
}

static bool create_instance(struct pm_gpu *gpu, const struct pm_gpu_info *info,
                            struct pm_error *error)
{
    const VkApplicationInfo application = {
        .sType = VK_STRUCTURE_TYPE_APPLICATION_INFO,
        .pApplicationName = info->application,
        .applicationVersion = 1,
        .apiVersion = VK_API_VERSION_1_1,
    };
    const VkInstanceCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO,
        .pApplicationInfo = &application,
    };
    return pm_gpu_check(vkCreateInstance(&create, NULL, &gpu->instance), "vkCreateInstance", error);
}

/* The first queue family of the device that can draw and compute; false: it has none. */
static bool find_family(VkPhysicalDevice physical, struct pm_gpu *gpu)
{
    VkQueueFamilyProperties families[16];
    uint32_t count = 16;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families);
    const VkQueueFlags wanted = VK_QUEUE_GRAPHICS_BIT | VK_QUEUE_COMPUTE_BIT;
    for (uint32_t i = 0; i < count; i++) {
        if ((families[i].queueFlags & wanted) == wanted) {
            gpu->family = i;
            gpu->timestamp_bits = families[i].timestampValidBits;
            return true;
        }
    }
    return false;
}

static bool choose_device(struct pm_gpu *gpu, const char *name, struct pm_error *error)
{
    VkPhysicalDevice devices[16];
    uint32_t count = 16;
    const VkResult result = vkEnumeratePhysicalDevices(gpu->instance, &count, devices);
    if (result != VK_SUCCESS && result != VK_INCOMPLETE)
        return pm_gpu_check(result, "vkEnumeratePhysicalDevices", error);
    for (uint32_t i = 0; i < count; i++) {
        vkGetPhysicalDeviceProperties(devices[i], &gpu->properties);
        if (name && !strstr(gpu->properties.deviceName, name))
            continue;
        if (gpu->properties.apiVersion < VK_API_VERSION_1_1 || !find_family(devices[i], gpu))
            continue;
        gpu->physical = devices[i];
        vkGetPhysicalDeviceMemoryProperties(gpu->physical, &gpu->memory);
        return true;
    }
    return pm_fail(error, PM_ERROR_DEVICE, "none of the %u Vulkan devices is a Vulkan 1.1 one%s%s",
                   count, name ? " named " : "", name ? name : "");
}

bool pm_gpu_init(struct pm_gpu *gpu, const struct pm_gpu_info *info, struct pm_error *error)
{
    if (!create_instance(gpu, info, error) || !choose_device(gpu, info->device, error))
        return false;
    const float priority = 1.0f;
    const VkDeviceQueueCreateInfo queue = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO,
        .queueFamilyIndex = gpu->family,
        .queueCount = 1,
        .pQueuePriorities = &priority,
    };
    const VkDeviceCreateInfo device = {
        .sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
        .queueCreateInfoCount = 1,
        .pQueueCreateInfos = &queue,
    };
    if (!pm_gpu_check(vkCreateDevice(gpu->physical, &device, NULL, &gpu->device), "vkCreateDevice",
                      error))
        return false;
    vkGetDeviceQueue(gpu->device, gpu->family, 0, &gpu->queue);
    const VkCommandPoolCreateInfo pool = {
        .sType = VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO,
        .flags = VK_COMMAND_POOL_CREATE_RESET_COMMAND_BUFFER_BIT,
        .queueFamilyIndex = gpu->family,
    };
    return pm_gpu_check(vkCreateCommandPool(gpu->device, &pool, NULL, &gpu->pool),
                        "vkCreateCommandPool", error);
}

void pm_gpu_finish(struct pm_gpu *gpu)
{
    if (gpu->device) {
        vkDestroyCommandPool(gpu->device, gpu->pool, NULL);
        vkDestroyDevice(gpu->device, NULL);
    }
    if (gpu->instance)
        vkDestroyInstance(gpu->instance, NULL);
    *gpu = (struct pm_gpu){0};
}

/* The first type allowed by bits that has all of needed and, if there is one, all of liked too. */
static bool find_memory_type(const struct pm_gpu *gpu, uint32_t bits, VkMemoryPropertyFlags needed,
                             VkMemoryPropertyFlags liked, uint32_t *type)
{
    for (int pass = 0; pass < 2; pass++) {
        const VkMemoryPropertyFlags flags = pass == 0 ? needed | liked : needed;
        for (uint32_t i = 0; i < gpu->memory.memoryTypeCount; i++) {
            if (bits & (1u << i) && (gpu->memory.memoryTypes[i].propertyFlags & flags) == flags) {
                *type = i;
                return true;
            }
        }
    }
    return false;
}

static bool allocate(const struct pm_gpu *gpu, const VkMemoryRequirements *requirements,
                     enum pm_gpu_place place, VkDeviceMemory *memory, struct pm_error *error)
{
    const VkMemoryPropertyFlags mapped =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = requirements->size,
    };
    if (!find_memory_type(gpu, requirements->memoryTypeBits, place == PM_GPU_DEVICE ? 0 : mapped,
                          place == PM_GPU_DEVICE     ? VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT
                          : place == PM_GPU_READBACK ? VK_MEMORY_PROPERTY_HOST_CACHED_BIT
                                                     : 0,
                          &info.memoryTypeIndex))
        return pm_fail(error, PM_ERROR_DEVICE, "the device has no memory type for this use");
    return pm_gpu_check(vkAllocateMemory(gpu->device, &info, NULL, memory), "vkAllocateMemory",
                        error);
}

bool pm_gpu_buffer_init(struct pm_gpu_buffer *buffer, const struct pm_gpu *gpu, VkDeviceSize size,
                        VkBufferUsageFlags usage, enum pm_gpu_place place, struct pm_error *error)
{
    *buffer = (struct pm_gpu_buffer){.size = size};
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = size,
        .usage = usage,
    };
    if (!pm_gpu_check(vkCreateBuffer(gpu->device, &info, NULL, &buffer->handle), "vkCreateBuffer",
                      error))
        return false;
    VkMemoryRequirements requirements;
    vkGetBufferMemoryRequirements(gpu->device, buffer->handle, &requirements);
    if (!allocate(gpu, &requirements, place, &buffer->memory, error) ||
        !pm_gpu_check(vkBindBufferMemory(gpu->device, buffer->handle, buffer->memory, 0),
                      "vkBindBufferMemory", error))
        return false;
    return place == PM_GPU_DEVICE || pm_gpu_check(vkMapMemory(gpu->device, buffer->memory, 0,
                                                              VK_WHOLE_SIZE, 0, &buffer->mapped),
                                                  "vkMapMemory", error);
}

void pm_gpu_buffer_finish(struct pm_gpu_buffer *buffer, const struct pm_gpu *gpu)
{
    if (!gpu->device)
        return;
    vkDestroyBuffer(gpu->device, buffer->handle, NULL);
    vkFreeMemory(gpu->device, buffer->memory, NULL);
    *buffer = (struct pm_gpu_buffer){0};
}

bool pm_gpu_image_init(struct pm_gpu_image *image, const struct pm_gpu *gpu,
                       const struct pm_gpu_image_info *info, struct pm_error *error)
{
    *image = (struct pm_gpu_image){
        .format = info->format,
        .width = info->width,
        .height = info->height,
        .layers = info->layers ? info->layers : 1,
        .levels = info->levels ? info->levels : 1,
    };
    const VkImageCreateInfo create = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_CREATE_INFO,
        .imageType = VK_IMAGE_TYPE_2D,
        .format = image->format,
        .extent = {image->width, image->height, 1},
        .mipLevels = image->levels,
        .arrayLayers = image->layers,
        .samples = VK_SAMPLE_COUNT_1_BIT,
        .tiling = VK_IMAGE_TILING_OPTIMAL,
        .usage = info->usage,
    };
    if (!pm_gpu_check(vkCreateImage(gpu->device, &create, NULL, &image->handle), "vkCreateImage",
                      error))
        return false;
    VkMemoryRequirements requirements;
    vkGetImageMemoryRequirements(gpu->device, image->handle, &requirements);
    if (!allocate(gpu, &requirements, PM_GPU_DEVICE, &image->memory, error) ||
        !pm_gpu_check(vkBindImageMemory(gpu->device, image->handle, image->memory, 0),
                      "vkBindImageMemory", error))
        return false;
    const bool depth = image->format == VK_FORMAT_D32_SFLOAT;
    const VkImageViewCreateInfo view = {
        .sType = VK_STRUCTURE_TYPE_IMAGE_VIEW_CREATE_INFO,
        .image = image->handle,
        .viewType = info->is_array ? VK_IMAGE_VIEW_TYPE_2D_ARRAY : VK_IMAGE_VIEW_TYPE_2D,
        .format = image->format,
        .subresourceRange = {depth ? VK_IMAGE_ASPECT_DEPTH_BIT : VK_IMAGE_ASPECT_COLOR_BIT, 0,
                             image->levels, 0, image->layers},
    };
    return pm_gpu_check(vkCreateImageView(gpu->device, &view, NULL, &image->view),
                        "vkCreateImageView", error);
}

void pm_gpu_image_finish(struct pm_gpu_image *image, const struct pm_gpu *gpu)
{
    if (!gpu->device)
        return;
    vkDestroyImageView(gpu->device, image->view, NULL);
    vkDestroyImage(gpu->device, image->handle, NULL);
    vkFreeMemory(gpu->device, image->memory, NULL);
    *image = (struct pm_gpu_image){0};
}

bool pm_gpu_sampler_create(const struct pm_gpu *gpu, VkFilter filter, VkSamplerAddressMode mode,
                           VkSampler *sampler, struct pm_error *error)
{
    const VkSamplerCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SAMPLER_CREATE_INFO,
        .magFilter = filter,
        .minFilter = filter,
        .mipmapMode = filter == VK_FILTER_LINEAR ? VK_SAMPLER_MIPMAP_MODE_LINEAR
                                                 : VK_SAMPLER_MIPMAP_MODE_NEAREST,
        .addressModeU = mode,
        .addressModeV = mode,
        .addressModeW = mode,
        .maxLod = VK_LOD_CLAMP_NONE,
    };
    return pm_gpu_check(vkCreateSampler(gpu->device, &info, NULL, sampler), "vkCreateSampler",
                        error);
}
