#include "layer/shader/built.h"

void pm_built_destroy(struct pm_device *device, struct pm_built *built)
{
    for (uint32_t i = 0; i < PM_LIBRARY_DEPTH; i++) {
        if (built->linked[i])
            device->dispatch.DestroyShaderEXT(device->handle, built->linked[i], NULL);
    }
    if (built->shader)
        device->dispatch.DestroyShaderEXT(device->handle, built->shader, NULL);
    else if (built->handle)
        device->dispatch.DestroyPipeline(device->handle, PM_TO_HANDLE(VkPipeline, built->handle),
                                         NULL);
    for (uint32_t i = 0; i < built->library_count; i++)
        device->dispatch.DestroyPipeline(device->handle, built->libraries[i], NULL);
    *built = (struct pm_built){0};
}
