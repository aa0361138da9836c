#include "layer/memory/mapped_buffer.h"

static uint32_t memory_type(const struct pm_device *device, uint32_t allowed,
                            VkMemoryPropertyFlags preferred)
{
    const VkMemoryPropertyFlags coherent =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < device->memory.memoryTypeCount; i++) {
        const VkMemoryPropertyFlags flags = device->memory.memoryTypes[i].propertyFlags;
        if ((allowed & (1u << i)) == 0 || (flags & coherent) != coherent)
            continue;
        if ((flags & preferred) == preferred)
            return i;
        if (found == UINT32_MAX)
            found = i;
    }
    return found;
}

bool pm_mapped_buffer_create(struct pm_device *device, uint64_t bytes, VkBufferUsageFlags usage,
                             VkMemoryPropertyFlags preferred, bool shared,
                             struct pm_mapped_buffer *out)
{
    const struct pm_device_dispatch *dispatch = &device->dispatch;
    const bool concurrent = shared && device->queue_family_count > 1;
    *out = (struct pm_mapped_buffer){.bytes = bytes};
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .size = bytes,
        .usage = usage,
        .sharingMode = concurrent ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
        .queueFamilyIndexCount = concurrent ? device->queue_family_count : 0,
        .pQueueFamilyIndices = device->queue_families,
    };
    if (dispatch->CreateBuffer(device->handle, &info, NULL, &out->buffer) != VK_SUCCESS) {
        *out = (struct pm_mapped_buffer){0};
        return false;
    }
    VkMemoryRequirements needs;
    dispatch->GetBufferMemoryRequirements(device->handle, out->buffer, &needs);
    const VkMemoryAllocateInfo allocate = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .allocationSize = needs.size,
        .memoryTypeIndex = memory_type(device, needs.memoryTypeBits, preferred),
    };
    void *map;
    if (allocate.memoryTypeIndex == UINT32_MAX ||
        dispatch->AllocateMemory(device->handle, &allocate, NULL, &out->memory) != VK_SUCCESS ||
        dispatch->BindBufferMemory(device->handle, out->buffer, out->memory, 0) != VK_SUCCESS ||
        dispatch->MapMemory(device->handle, out->memory, 0, VK_WHOLE_SIZE, 0, &map) != VK_SUCCESS) {
        pm_mapped_buffer_destroy(device, out);
        return false;
    }
    out->map = map;
    return true;
}

void pm_mapped_buffer_destroy(struct pm_device *device, struct pm_mapped_buffer *buffer)
{
    if (buffer->buffer != VK_NULL_HANDLE)
        device->dispatch.DestroyBuffer(device->handle, buffer->buffer, NULL);
    if (buffer->memory != VK_NULL_HANDLE)
        device->dispatch.FreeMemory(device->handle, buffer->memory, NULL);
    *buffer = (struct pm_mapped_buffer){0};
}
