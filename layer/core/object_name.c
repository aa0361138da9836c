#include "layer/core/object_name.h"

#include <stdarg.h>
#include <stdio.h>

void pm_name_object(struct pm_device *device, VkObjectType type, uint64_t handle,
                    const char *format, ...)
{
    if (!device->instance->debug_utils || !device->dispatch.SetDebugUtilsObjectNameEXT)
        return;
    char name[128];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    const VkDebugUtilsObjectNameInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_DEBUG_UTILS_OBJECT_NAME_INFO_EXT,
        .objectType = type,
        .objectHandle = handle,
        .pObjectName = name,
    };
    (void)device->dispatch.SetDebugUtilsObjectNameEXT(device->handle, &info);
}
