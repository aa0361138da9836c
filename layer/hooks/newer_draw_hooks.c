/*
 * The hooks of draws and dispatches that are newer than the headers that vk.xml is of: those of
 * VK_KHR_device_address_commands. They are sampled and timed as the others are (draw_hooks.c), and
 * find their device by its handle: what is few calls needs no shorter way.
 */
#include "layer/frame/binding.h"
#include "layer/hooks/hooks.h"
#include "layer/hooks/registry.h"
#include "layer/hooks/sampled_call.h"

static PFN_vkVoidFunction next_of(const struct pm_device *device, enum pm_newer_draw draw,
                                  const char *name)
{
    return device->sampling != NULL ? device->sampling->newer_draws[draw]
                                    : device->dispatch.GetDeviceProcAddr(device->handle, name);
}

/* As pm_command_due. */
static struct pm_command *due(struct pm_device *device, VkCommandBuffer handle)
{
    return device->sampling != NULL && pm_binds_any(device, PM_BINDS_ARMED) &&
                   pm_command_due(&device->sampling->commands, handle) != NULL
               ? pm_command_caught_up(device, handle)
               : NULL;
}

#define DEFINE(name, index, point, parameters, arguments)                                          \
    VKAPI_ATTR void VKAPI_CALL pm_##name parameters                                                \
    {                                                                                              \
        struct pm_device *device = pm_device_of(handle);                                           \
        void(VKAPI_PTR * next) parameters =                                                        \
            (void(VKAPI_PTR *) parameters)next_of(device, index, "vk" #name);                      \
        if (next == NULL)                                                                          \
            return;                                                                                \
        struct pm_command *command = due(device, handle);                                          \
        if (command == NULL) {                                                                     \
            next arguments;                                                                        \
            return;                                                                                \
        }                                                                                          \
        const struct pm_sampled_call call = pm_sampled_call_begins(command, PM_##point, NULL);     \
        next arguments;                                                                            \
        if (pm_sampled_call_again(command, PM_##point, &call))                                     \
            next arguments;                                                                        \
        pm_sampled_call_ends(command, &call);                                                      \
    }

PM_NEWER_DRAWS(DEFINE)
