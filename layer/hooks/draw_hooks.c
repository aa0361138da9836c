/*
 * The hooks of draws and dispatches, generated from draw_commands.h. A call goes one of these ways:
 *
 *     hook_     compares the dispatch key with the one device's and jumps through pm_draw_targets:
 *               either straight to the next layer, or, while armed, to
 *     armed_    counts the call down in its command buffer; at zero
 *     sampled_  binds a variant around it, or calls twice, the second time with one, or dispatches
 *               in several passes
 *     many_     the way when there are several devices
 *
 * With the arguments in registers hook_ is four instructions on x86-64: load, compare, branch,
 * jump.
 */
#include "layer/frame/binding.h"
#include "layer/hooks/hooks.h"
#include "layer/hooks/registry.h"
#include "layer/hooks/sampled_call.h"

#define DEFINE(name, canonical, point, parameters, arguments, groups)                              \
    static PM_COLD VKAPI_ATTR void VKAPI_CALL sampled_##name parameters                            \
    {                                                                                              \
        struct pm_device *device = pm_device_of(commandBuffer);                                    \
        struct pm_command *command = pm_command_caught_up(device, commandBuffer);                  \
        if (pm_binding_lets_by(command, PM_##point)) {                                             \
            device->dispatch.name arguments;                                                       \
            return;                                                                                \
        }                                                                                          \
        const struct pm_sampled_call call = pm_sampled_call_begins(command, PM_##point, groups);   \
        if (!pm_sampled_call_in_passes(command, &call, groups))                                    \
            device->dispatch.name arguments;                                                       \
        if (pm_sampled_call_again(command, PM_##point, &call))                                     \
            device->dispatch.name arguments;                                                       \
        pm_sampled_call_ends(command, &call);                                                      \
    }                                                                                              \
    static VKAPI_ATTR void VKAPI_CALL armed_##name parameters                                      \
    {                                                                                              \
        if (PM_UNLIKELY(pm_command_due(pm_one.commands, commandBuffer) != NULL)) {                 \
            sampled_##name arguments;                                                              \
            return;                                                                                \
        }                                                                                          \
        pm_one.next.name arguments;                                                                \
    }                                                                                              \
    static PM_COLD VKAPI_ATTR void VKAPI_CALL many_##name parameters                               \
    {                                                                                              \
        struct pm_device *device = pm_device_of(commandBuffer);                                    \
        if (device == NULL)                                                                        \
            return;                                                                                \
        struct pm_sampling *sampling = device->sampling;                                           \
        if (sampling != NULL && pm_binds_any(device, PM_BINDS_ARMED) &&                            \
            PM_UNLIKELY(pm_command_due(&sampling->commands, commandBuffer) != NULL)) {             \
            sampled_##name arguments;                                                              \
            return;                                                                                \
        }                                                                                          \
        device->dispatch.name arguments;                                                           \
    }                                                                                              \
    static PM_FAST VKAPI_ATTR void VKAPI_CALL hook_##name parameters                               \
    {                                                                                              \
        if (PM_UNLIKELY(!PM_IS_OF_ONE(commandBuffer))) {                                           \
            many_##name arguments;                                                                 \
            return;                                                                                \
        }                                                                                          \
        PM_READ(PFN_vk##name, pm_draw_targets.name) arguments;                                     \
    }

PM_DRAW_COMMANDS(DEFINE)

const struct pm_hook pm_draw_hooks[] = {
#define ENTRY(name, canonical, point, parameters, arguments, groups)                               \
    {"vk" #name, (PFN_vkVoidFunction)hook_##name},
    PM_DRAW_COMMANDS(ENTRY)};

const uint32_t pm_draw_hook_count = PM_DRAW_COMMAND_COUNT;

void pm_draw_tables_load(struct pm_draw_table *next, const struct pm_device_dispatch *dispatch)
{
#define LOAD(name, canonical, point, parameters, arguments, groups) next->name = dispatch->name;
    PM_DRAW_COMMANDS(LOAD)
}

void pm_draw_tables_swap(struct pm_draw_table *now, const struct pm_draw_table *next, bool armed)
{
#define SWAP(name, canonical, point, parameters, arguments, groups)                                \
    __atomic_store_n(&now->name, armed ? armed_##name : next->name, __ATOMIC_RELAXED);
    PM_DRAW_COMMANDS(SWAP)
}
