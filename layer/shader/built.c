#include "layer/shader/built.h"

void pm_built_destroy(struct pm_device *device, struct pm_built *built)
{
    if (built->handle)
        device->dispatch.DestroyPipeline(device->handle, built->handle, NULL);
    for (uint32_t i = 0; i < built->library_count; i++)
        device->dispatch.DestroyPipeline(device->handle, built->libraries[i], NULL);
    *built = (struct pm_built){0};
}
