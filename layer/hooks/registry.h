/*
 * The layer's one global: which instances and devices there are, by dispatch key; and beside them
 * the one device whose draws take the shortest way (draw_hooks.c). Empty again when the last
 * instance is gone, so that the library can be unloaded and loaded again (HAZARDS 18).
 *
 * Thread safety: any thread.
 */
#pragma once

#include "draw_commands.h"
#include "layer/core/layer.h"
#include "layer/core/lookup.h"

/* -fvisibility=hidden says nothing of declarations; without this a variable is reached through a
 * table. */
#define PM_NEAR __attribute__((visibility("hidden")))

/* A dispatchable handle's first word, its dispatch key, says whose it is; a VkPhysicalDevice has
 * its instance's, queues and command buffers their device's. NULL: not ours. Lock-free. */
struct pm_instance *pm_instance_of(const void *dispatchable);
/* Not inlined: hooks are never called with what is not ours, but gcc would see its NULL in each of
 * them, and warn of what they do with it. */
__attribute__((noinline)) struct pm_device *pm_device_find(const void *dispatchable);

/* What the hooks of draws read first: the dispatch key of the only device that samples (NULL: none,
 * or several), and where its draws go, `next` or the armed hooks, whose pointers are swapped one by
 * one. Variables of their own, since that saves an instruction a draw. */
extern PM_NEAR _Atomic(const void *) pm_one_key;
extern PM_NEAR struct pm_draw_table pm_draw_targets;

/* Likewise of the hooks of push constants (push_hooks.c), which follow what is pushed while hooks
 * are armed, or there are variants for values of it. */
struct pm_push_table {
    PFN_vkCmdPushConstants CmdPushConstants;
    PFN_vkCmdPushConstants2 CmdPushConstants2;
    PFN_vkCmdPushConstants2KHR CmdPushConstants2KHR;
};
extern PM_NEAR struct pm_push_table pm_push_targets;

/* Likewise, where the hooks of command buffers go, and that of binds. */
struct pm_recording_table {
    PFN_vkCmdBindPipeline bind; /* by device->binds */
    PFN_vkBeginCommandBuffer begin;
    PFN_vkEndCommandBuffer end;
    PFN_vkResetCommandBuffer reset;
    PFN_vkCmdExecuteCommands execute;
};
extern PM_NEAR struct pm_recording_table pm_recording_targets;

/* How a hook that is called very often finds out in a few instructions whether its call can just be
 * passed on: the dispatch key is compared with the one device's, and the rest is a jump through a
 * pointer that arming swaps. */
#define PM_UNLIKELY(condition) __builtin_expect((condition), 0)
#define PM_COLD __attribute__((noinline, cold))

/* Whether it is of the one device; needs PM_FAST. */
#define PM_IS_OF_ONE(dispatchable)                                                                 \
    (*(const void *const *)(dispatchable) == PM_READ(const void *, pm_one_key))

/* A hook that passes its call on where that is plain, and is long_NAME else; long_NAME stands
 * before it. Its first parameter is `handle`. */
#define PM_HOOK_UNLESS_PLAIN(name, parameters, arguments, plain)                                   \
    VKAPI_ATTR PM_FAST void VKAPI_CALL pm_##name parameters                                        \
    {                                                                                              \
        if (PM_UNLIKELY(!plain(handle))) {                                                         \
            long_##name arguments;                                                                 \
            return;                                                                                \
        }                                                                                          \
        pm_one.device->dispatch.name arguments;                                                    \
    }

/* What the armed hooks read. Written only while the device it describes cannot be drawing: when a
 * device is created or destroyed. */
struct pm_one_device {
    struct pm_draw_table next; /* the next layer's */
    struct pm_push_table next_push;
    struct pm_lookup *commands;
    _Atomic(struct pm_lookup_slots *) command_slots; /* of these (pm_lookup_show) */
    struct pm_device *device;
};
extern PM_NEAR struct pm_one_device pm_one;

/* The one device's record of a command buffer; NULL: it is looked for in a longer way
 * (pm_lookup_glance). */
static PM_FAST inline __attribute__((always_inline)) struct pm_command *
pm_glance_at(VkCommandBuffer handle)
{
    return pm_lookup_glance(PM_READ(const struct pm_lookup_slots *, pm_one.command_slots),
                            PM_KEY(handle));
}

/* pm_device_find, which is seldom needed. */
static inline struct pm_device *pm_device_of(const void *dispatchable)
{
    return dispatchable != NULL && *(const void *const *)dispatchable ==
                                       atomic_load_explicit(&pm_one_key, memory_order_acquire)
               ? pm_one.device
               : pm_device_find(dispatchable);
}

/* false: out of memory. */
bool pm_registry_add_instance(struct pm_instance *instance);
bool pm_registry_add_device(struct pm_device *device);
void pm_registry_remove_instance(struct pm_instance *instance);
void pm_registry_remove_device(struct pm_device *device);

/* Any device of the instance that the game left behind, NULL when there is none. */
struct pm_device *pm_registry_leftover(const struct pm_instance *instance);

/* The process exits: its sessions have ended properly (profile/journal.h), unless a crash's handler
 * does it, or a device of theirs hangs. Waits for no lock: a handler may have interrupted the
 * thread that holds it. */
void pm_registry_exit(void);

/* Whether there is no instance and no device, so that nothing of ours runs. */
bool pm_registry_is_empty(void);

/* Those bits of device->binds that `of` has become what `bits` says (enum pm_binds), and binds go
 * the way that is for it. */
void pm_registry_set_binds(struct pm_device *device, uint32_t of, uint32_t bits);

/* Makes draws on the device take the armed hooks, or the shortest way again. */
void pm_registry_arm(struct pm_device *device, bool armed);

/* There may be what sees what is bound (PM_BINDS_CAREFUL), for ever: recordings begin the way of
 * those that are tracked. */
void pm_registry_be_careful(struct pm_device *device);

/* Makes recordings on the device that begin from now on follow these words of what is pushed, too,
 * for ever (watch.h). */
void pm_registry_follow(struct pm_device *device, uint64_t words);

/* Swaps the table in push_hooks.c. */
void pm_push_tables_load(struct pm_push_table *next, const struct pm_device_dispatch *dispatch);
void pm_push_tables_swap(struct pm_push_table *now, const struct pm_push_table *next,
                         bool followed);

/* Swap the tables: draw_hooks.c and command_hooks.c. */
void pm_draw_tables_load(struct pm_draw_table *next, const struct pm_device_dispatch *dispatch);
void pm_draw_tables_swap(struct pm_draw_table *now, const struct pm_draw_table *next, bool armed);
typedef void pm_recording_table_swapper(struct pm_recording_table *now,
                                        const struct pm_device *device);
pm_recording_table_swapper pm_recording_table_swap;
/* Where a bind goes while device->binds is that; binding_hooks.c. */
PFN_vkCmdBindPipeline pm_bind_way(const struct pm_device *device, uint32_t binds);

/* Before a device is added: what swaps the hooks of command buffers. */
void pm_registry_swap_recordings(pm_recording_table_swapper *swap);
