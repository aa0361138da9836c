#include "layer/trial/area.h"

#include "layer/frame/executed.h"
#include "layer/trial/timing.h"
#include "layer/trial/trial.h"

/* NULL: nothing is noted just now. */
static struct pm_command *noted(struct pm_device *device, VkCommandBuffer handle)
{
    return pm_trials_time(device) ? pm_command_of(device->sampling, handle) : NULL;
}

void pm_area_enter(struct pm_device *device, VkCommandBuffer handle, uint64_t work)
{
    struct pm_command *command = noted(device, handle);
    if (command == NULL)
        return;
    command->area = work;
    command->area_awaited = pm_sampling_awaited(device->sampling);
    command->touched = true;
}

void pm_area_leave(struct pm_device *device, VkCommandBuffer handle)
{
    struct pm_command *command = noted(device, handle);
    if (command != NULL)
        command->area = 0;
}

static void give(const struct pm_command *command, uint64_t area, uint32_t count,
                 const VkCommandBuffer *buffers)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct pm_command *secondary = pm_command_of(command->device->sampling, buffers[i]);
        if (secondary == NULL)
            continue;
        pm_timing_executed(secondary, area);
        for (uint32_t j = 0; j < secondary->executed_count; j++) {
            const struct pm_command *nested = pm_executed_at(secondary, j);
            if (nested != NULL)
                pm_timing_executed(nested, area);
        }
    }
}

void pm_area_give(struct pm_device *device, VkCommandBuffer handle, uint32_t count,
                  const VkCommandBuffer *buffers)
{
    const struct pm_command *command = noted(device, handle);
    if (command == NULL)
        return;
    const bool known = command->area_awaited == pm_sampling_awaited(device->sampling);
    give(command, known ? command->area : 0, count, buffers);
}
