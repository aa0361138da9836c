#include "layer/core/timeline.h"

#include "layer/core/object_name.h"

VkSemaphore pm_timeline_create(struct pm_device *device, const char *name)
{
    const VkSemaphoreTypeCreateInfo type = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO,
        .semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE,
    };
    const VkSemaphoreCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO,
        .pNext = &type,
    };
    VkSemaphore semaphore;
    if (device->dispatch.CreateSemaphore(device->handle, &info, NULL, &semaphore) != VK_SUCCESS)
        return VK_NULL_HANDLE;
    pm_name_object(device, VK_OBJECT_TYPE_SEMAPHORE, PM_KEY(semaphore), "%s", name);
    return semaphore;
}
