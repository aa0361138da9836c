#include "layer/memory/device_buffer.h"

#define HOST (VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT)

static uint32_t memory_type(const struct pm_device *device, uint32_t allowed,
                            VkMemoryPropertyFlags wanted)
{
    for (uint32_t i = 0; i < device->memory.memoryTypeCount; i++) {
        if ((allowed & (1u << i)) != 0 &&
            (device->memory.memoryTypes[i].propertyFlags & wanted) == wanted)
            return i;
    }
    return UINT32_MAX;
}

static bool create_buffer(struct pm_device *device, const struct pm_device_buffer_info *wanted,
                          struct pm_device_buffer *out, struct pm_error *error)
{
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = wanted->bytes,
        .usage = wanted->usage | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |
                 VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
        .sharingMode =
            device->queue_family_count > 1 ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
        .queueFamilyIndexCount = device->queue_family_count,
        .pQueueFamilyIndices = device->queue_families,
    };
    const VkResult result =
        device->dispatch.CreateBuffer(device->handle, &info, NULL, &out->buffer);
    return result == VK_SUCCESS ||
           pm_fail(error, PM_ERROR_DEVICE, "no buffer for %s (VkResult %d)", wanted->what, result);
}

static bool allocate(struct pm_device *device, uint32_t type, uint64_t bytes, bool mapped,
                     struct pm_device_buffer *out, VkResult *result)
{
    const struct pm_device_dispatch *dispatch = &device->dispatch;
    const VkMemoryAllocateFlagsInfo flags = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
    };
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = &flags,
        .allocationSize = bytes,
        .memoryTypeIndex = type,
    };
    *result = dispatch->AllocateMemory(device->handle, &info, NULL, &out->memory);
    if (*result != VK_SUCCESS)
        return false;
    void *map = NULL;
    if (mapped && (device->memory.memoryTypes[type].propertyFlags & HOST) == HOST)
        *result = dispatch->MapMemory(device->handle, out->memory, 0, VK_WHOLE_SIZE, 0, &map);
    if (*result == VK_SUCCESS) {
        out->map = map;
        return true;
    }
    dispatch->FreeMemory(device->handle, out->memory, NULL);
    out->memory = VK_NULL_HANDLE;
    return false;
}

static bool allocate_memory(struct pm_device *device, const struct pm_device_buffer_info *info,
                            struct pm_device_buffer *out, struct pm_error *error)
{
    const struct pm_device_dispatch *dispatch = &device->dispatch;
    VkMemoryRequirements needs;
    dispatch->GetBufferMemoryRequirements(device->handle, out->buffer, &needs);
    VkResult result = VK_ERROR_OUT_OF_DEVICE_MEMORY;
    bool found = false;
    for (uint32_t i = 0; !found && i < info->preferred_count; i++) {
        const uint32_t type = memory_type(device, needs.memoryTypeBits, info->preferred[i]);
        found =
            type != UINT32_MAX && allocate(device, type, needs.size, info->mapped, out, &result);
    }
    if (!found)
        return pm_fail(error, PM_ERROR_DEVICE, "no memory for %s (VkResult %d)", info->what,
                       result);
    result = dispatch->BindBufferMemory(device->handle, out->buffer, out->memory, 0);
    if (result != VK_SUCCESS)
        return pm_fail(error, PM_ERROR_DEVICE, "%s cannot be bound (VkResult %d)", info->what,
                       result);
    return true;
}

bool pm_device_buffer_create(struct pm_device *device, const struct pm_device_buffer_info *info,
                             struct pm_device_buffer *out, struct pm_error *error)
{
    *out = (struct pm_device_buffer){.bytes = info->bytes};
    if (!create_buffer(device, info, out, error) || !allocate_memory(device, info, out, error)) {
        pm_device_buffer_destroy(device, out);
        return false;
    }
    const VkBufferDeviceAddressInfo address = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO,
        .buffer = out->buffer,
    };
    out->address = device->dispatch.GetBufferDeviceAddress(device->handle, &address);
    return true;
}

void pm_device_buffer_destroy(struct pm_device *device, struct pm_device_buffer *buffer)
{
    if (buffer->buffer != VK_NULL_HANDLE)
        device->dispatch.DestroyBuffer(device->handle, buffer->buffer, NULL);
    if (buffer->memory != VK_NULL_HANDLE)
        device->dispatch.FreeMemory(device->handle, buffer->memory, NULL);
    *buffer = (struct pm_device_buffer){0};
}
