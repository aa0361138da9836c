#include "layer/hooks/slow_later_hooks.h"

#include "layer/hooks/registry.h"
#include "layer/shader/slow_later.h"

static VKAPI_ATTR void VKAPI_CALL bind_turned(VkCommandBuffer handle, VkPipelineBindPoint point,
                                              VkPipeline pipeline)
{
    struct pm_slow_later *later = pm_device_of(handle)->slow_later;
    later->bind(handle, point,
                PM_TO_HANDLE(VkPipeline, pm_slow_later_bound(later, PM_BITS(pipeline))));
}

void pm_slow_later_hook(struct pm_device *device)
{
    device->slow_later = pm_slow_later_create(device);
    if (device->slow_later != NULL)
        device->dispatch.CmdBindPipeline = bind_turned;
}
