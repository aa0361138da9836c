/*
 * The hooks of push constants: vkCmdPushConstants and its form of maintenance6, under each name.
 * They go the way of draws (draw_hooks.c): compare the dispatch key with the one device's and jump
 * through a pointer, straight to the next layer, or to what follows the words while anybody wants
 * to know them, on the short way (pushed.h) where that is open.
 */
#include "layer/frame/binding.h"
#include "layer/hooks/hooks.h"
#include "layer/hooks/registry.h"
#include "layer/shader/pipeline.h"
#include "layer/trial/trial.h"

/* The long way. */
static __attribute__((noinline)) void follow(struct pm_command *command, const struct pm_push *push)
{
    if (command != NULL && pm_binding_push(command, push) &&
        command->recording == PM_RECORDING_TIMED)
        pm_trial_pushed(command);
}

/* Whether the short way was all that the push asks for. */
static PM_FAST inline __attribute__((always_inline)) bool is_quick(VkCommandBuffer handle,
                                                                   const struct pm_push *push)
{
    struct pm_command *command = pm_glance_at(handle);
    return command != NULL &&
           (pm_pushed_quick(&command->pushed, push) || pm_pushed_beside(&command->pushed, push));
}

/* Whether pushes are followed on the device, when there are several. */
static bool is_followed(const struct pm_device *device)
{
    return device->sampling != NULL &&
           (pm_binds_any(device, PM_BINDS_ARMED) ||
            atomic_load_explicit(&device->watched, memory_order_acquire) != 0);
}

/* X(name, (parameters), (arguments), what it pushes) */
#define ONE                                                                                        \
    (struct pm_push)                                                                               \
    {                                                                                              \
        layout, stages, offset, size, values                                                       \
    }
#define TWO                                                                                        \
    (struct pm_push)                                                                               \
    {                                                                                              \
        info->layout, info->stageFlags, info->offset, info->size, info->pValues                    \
    }
#define PUSH_COMMANDS(X)                                                                           \
    X(CmdPushConstants,                                                                            \
      (VkCommandBuffer handle, VkPipelineLayout layout, VkShaderStageFlags stages,                 \
       uint32_t offset, uint32_t size, const void *values),                                        \
      (handle, layout, stages, offset, size, values), ONE)                                         \
    X(CmdPushConstants2, (VkCommandBuffer handle, const VkPushConstantsInfo *info),                \
      (handle, info), TWO)                                                                         \
    X(CmdPushConstants2KHR, (VkCommandBuffer handle, const VkPushConstantsInfo *info),             \
      (handle, info), TWO)

/* What is bound is put right before the words are pushed: no call lies between the two. */
#define DEFINE(name, parameters, arguments, pushes)                                                \
    static PM_COLD VKAPI_ATTR void VKAPI_CALL long_##name parameters                               \
    {                                                                                              \
        const struct pm_push push = pushes;                                                        \
        follow(pm_lookup_find(pm_one.commands, PM_KEY(handle)), &push);                            \
        pm_one.next_push.name arguments;                                                           \
    }                                                                                              \
    static PM_FAST VKAPI_ATTR void VKAPI_CALL followed_##name parameters                           \
    {                                                                                              \
        const struct pm_push push = pushes;                                                        \
        if (PM_UNLIKELY(!is_quick(handle, &push))) {                                               \
            long_##name arguments;                                                                 \
            return;                                                                                \
        }                                                                                          \
        pm_one.next_push.name arguments;                                                           \
    }                                                                                              \
    static PM_COLD VKAPI_ATTR void VKAPI_CALL many_##name parameters                               \
    {                                                                                              \
        struct pm_device *device = pm_device_of(handle);                                           \
        if (device == NULL)                                                                        \
            return;                                                                                \
        if (is_followed(device)) {                                                                 \
            const struct pm_push push = pushes;                                                    \
            follow(pm_command_of(device->sampling, handle), &push);                                \
        }                                                                                          \
        device->dispatch.name arguments;                                                           \
    }                                                                                              \
    PM_FAST VKAPI_ATTR void VKAPI_CALL pm_##name parameters                                        \
    {                                                                                              \
        if (PM_UNLIKELY(!PM_IS_OF_ONE(handle))) {                                                  \
            many_##name arguments;                                                                 \
            return;                                                                                \
        }                                                                                          \
        PM_READ(PFN_vk##name, pm_push_targets.name) arguments;                                     \
    }

PUSH_COMMANDS(DEFINE)

void pm_push_tables_load(struct pm_push_table *next, const struct pm_device_dispatch *dispatch)
{
#define LOAD(name, parameters, arguments, pushes) next->name = dispatch->name;
    PUSH_COMMANDS(LOAD)
}

void pm_push_tables_swap(struct pm_push_table *now, const struct pm_push_table *next, bool followed)
{
#define SWAP(name, parameters, arguments, pushes)                                                  \
    __atomic_store_n(&now->name, followed ? followed_##name : next->name, __ATOMIC_RELAXED);
    PUSH_COMMANDS(SWAP)
}
