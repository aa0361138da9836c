/*
 * The hooks of draws that are newer than the headers that vk.xml is of: those of
 * VK_KHR_device_address_commands. None is sampled or timed; they put back what was put off to the
 * next draw (frame/put_off.h), as the others do (draw_hooks.c).
 */
#include "layer/frame/binding.h"
#include "layer/frame/passes_run.h"
#include "layer/hooks/hooks.h"
#include "layer/hooks/registry.h"

static void draw_comes(struct pm_device *device, VkCommandBuffer handle)
{
    struct pm_command *command = device->sampling != NULL && pm_binds_any(device, PM_BINDS_ARMED)
                                     ? pm_command_of(device->sampling, handle)
                                     : NULL;
    if (command == NULL || !command->put_off)
        return;
    pm_binding_put_back_at_draw(command);
    pm_passes_count_down(command);
}

static PFN_vkVoidFunction next_of(const struct pm_device *device, enum pm_newer_draw draw,
                                  const char *name)
{
    return device->sampling != NULL ? device->sampling->newer_draws[draw]
                                    : device->dispatch.GetDeviceProcAddr(device->handle, name);
}

#define DEFINE(name, index, parameters, arguments)                                                 \
    VKAPI_ATTR void VKAPI_CALL pm_##name parameters                                                \
    {                                                                                              \
        struct pm_device *device = pm_device_of(handle);                                           \
        void(VKAPI_PTR * next) parameters =                                                        \
            (void(VKAPI_PTR *) parameters)next_of(device, index, "vk" #name);                      \
        draw_comes(device, handle);                                                                \
        if (next != NULL)                                                                          \
            next arguments;                                                                        \
    }

PM_NEWER_DRAWS(DEFINE)
