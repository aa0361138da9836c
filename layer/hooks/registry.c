#include "layer/hooks/registry.h"

#include "aggregator_client/disk/spool.h"
#include "base/lock.h"
#include "layer/core/signal_handler.h"
#include "layer/frame/sampling.h"
#include "layer/shader/optimize.h"
#include "profile/journal.h"
#include <stddef.h>

_Atomic(const void *) pm_one_key;
struct pm_draw_table pm_draw_targets;
struct pm_push_table pm_push_targets;
struct pm_recording_table pm_recording_targets;
struct pm_one_device pm_one;
static pm_recording_table_swapper *swap_recordings; /* under registry_lock */

static struct pm_lookup instances = {.lock = PTHREAD_MUTEX_INITIALIZER};
static struct pm_lookup devices = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Guards pm_one and `count`, and keeps additions and removals apart from forks. */
static pthread_mutex_t registry_lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t registered; /* instances and devices */
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

static const void *key_of(const void *dispatchable)
{
    return *(const void *const *)dispatchable;
}

struct pm_instance *pm_instance_of(const void *dispatchable)
{
    return dispatchable != NULL ? pm_lookup_find(&instances, PM_KEY(key_of(dispatchable))) : NULL;
}

struct pm_device *pm_device_find(const void *dispatchable)
{
    return dispatchable != NULL ? pm_lookup_find(&devices, PM_KEY(key_of(dispatchable))) : NULL;
}

static void before_fork(void)
{
    pthread_mutex_lock(&registry_lock);
    pthread_mutex_lock(&instances.lock);
    pthread_mutex_lock(&devices.lock);
}

static void in_parent(void)
{
    pthread_mutex_unlock(&devices.lock);
    pthread_mutex_unlock(&instances.lock);
    pthread_mutex_unlock(&registry_lock);
}

static void abandon(void *user, void *value)
{
    (void)user;
    struct pm_instance *instance = value;
    /* The child must not keep the parent's session file locked. The writer's lock is not taken: the
     * thread that may hold it does not exist here, and dropping descriptors touches nothing else.
     */
    if (instance->spool != NULL)
        pm_spool_writer_abandon(instance->spool);
    instance->spool = NULL;
    instance->spool_failed = true;
    if (instance->journal != NULL)
        pm_journal_abandon(instance->journal);
}

static void in_child(void)
{
    pthread_mutex_unlock(&devices.lock);
    pthread_mutex_unlock(&instances.lock);
    pm_lookup_each(&instances, abandon, NULL);
    pthread_mutex_unlock(&registry_lock);
}

static void watch_forks(void)
{
    pthread_atfork(before_fork, in_parent, in_child);
}

struct sampling_devices {
    struct pm_device *only;
    uint32_t count;
};

static void count_sampling(void *user, void *value)
{
    struct sampling_devices *found = user;
    struct pm_device *device = value;
    if (device->sampling != NULL) {
        found->only = device;
        found->count++;
    }
}

/* Under registry_lock, of the one device. */
static void swap_tables(const struct pm_device *device)
{
    const bool armed = pm_binds_any(device, PM_BINDS_ARMED);
    const bool watched =
        pm_binds_any(device, PM_BINDS_WATCHED) || atomic_load(&device->watched) != 0;
    pm_draw_tables_swap(&pm_draw_targets, &pm_one.next, armed);
    pm_push_tables_swap(&pm_push_targets, &pm_one.next_push, armed || watched);
    swap_recordings(&pm_recording_targets, device);
}

/* Under registry_lock. A draw on the device that `key` named may be under way on another thread and
 * still use the tables; it then is of a device that lives, so the tables are only written for
 * another device once that one is gone. */
static void choose_one(void)
{
    struct sampling_devices found = {NULL, 0};
    pm_lookup_each(&devices, count_sampling, &found);
    struct pm_lookup *commands = found.count == 1 ? &found.only->sampling->commands : NULL;
    if (commands == NULL ||
        (pm_one.device != found.only && !pm_lookup_show(commands, &pm_one.command_slots))) {
        atomic_store_explicit(&pm_one_key, NULL, memory_order_relaxed);
        return;
    }
    if (pm_one.device != found.only) {
        pm_one.device = found.only;
        pm_one.commands = commands;
        pm_draw_tables_load(&pm_one.next, &found.only->dispatch);
        pm_push_tables_load(&pm_one.next_push, &found.only->dispatch);
    }
    swap_tables(found.only);
    atomic_store_explicit(&pm_one_key, key_of(found.only->handle), memory_order_release);
}

static bool add(struct pm_lookup *lookup, const void *handle, void *value)
{
    pthread_once(&fork_once, watch_forks);
    pthread_mutex_lock(&registry_lock);
    bool ok = pm_lookup_put(lookup, PM_KEY(key_of(handle)), value);
    registered += ok;
    if (ok && lookup == &devices)
        choose_one();
    pthread_mutex_unlock(&registry_lock);
    return ok;
}

static void removed(struct pm_lookup *lookup, const void *handle)
{
    pthread_mutex_lock(&registry_lock);
    if (pm_lookup_remove(lookup, PM_KEY(key_of(handle))) != NULL)
        registered--;
    if (lookup == &devices)
        choose_one();
    if (registered == 0) {
        /* Nobody can be looking anything up: every dispatchable handle is gone. */
        pm_lookup_finish(&instances);
        pm_lookup_finish(&devices);
        pm_lookup_init(&instances);
        pm_lookup_init(&devices);
    }
    pthread_mutex_unlock(&registry_lock);
}

bool pm_registry_add_instance(struct pm_instance *instance)
{
    return add(&instances, instance->handle, instance);
}

bool pm_registry_add_device(struct pm_device *device)
{
    return add(&devices, device->handle, device);
}

void pm_registry_remove_instance(struct pm_instance *instance)
{
    removed(&instances, instance->handle);
}

void pm_registry_remove_device(struct pm_device *device)
{
    pthread_mutex_lock(&registry_lock);
    if (pm_one.device == device) {
        atomic_store_explicit(&pm_one_key, NULL, memory_order_relaxed);
        pm_lookup_show(pm_one.commands, NULL);
        pm_one.device = NULL;
    }
    pthread_mutex_unlock(&registry_lock);
    removed(&devices, device->handle);
}

struct leftover {
    const struct pm_instance *instance;
    struct pm_device *device;
};

static void find_leftover(void *user, void *value)
{
    struct leftover *leftover = user;
    struct pm_device *device = value;
    if (device->instance == leftover->instance)
        leftover->device = device;
}

struct pm_device *pm_registry_leftover(const struct pm_instance *instance)
{
    struct leftover leftover = {instance, NULL};
    pm_lookup_each(&devices, find_leftover, &leftover);
    return leftover.device;
}

bool pm_registry_is_empty(void)
{
    /* Asked while the process may be ending: whoever holds the lock may never give it back. */
    if (pthread_mutex_trylock(&registry_lock) != 0)
        return false;
    const bool empty = registered == 0;
    pthread_mutex_unlock(&registry_lock);
    return empty;
}

static void end_device(void *user, void *value)
{
    (void)user;
    pm_optimize_ends(value, false);
}

static void note_crash(void *user, void *value)
{
    (void)user;
    const struct pm_instance *instance = value;
    if (instance->journal != NULL)
        pm_journal_crashed(instance->journal);
}

static void end_session(void *user, void *value)
{
    (void)user;
    const struct pm_instance *instance = value;
    if (instance->journal != NULL)
        pm_journal_exit(instance->journal);
}

void pm_registry_exit(void)
{
    /* As above, if not for long. The session then looks as if it had not ended properly, which
     * costs speed only. */
    if (!pm_lock_soon(&registry_lock))
        return;
    if (pm_signal_handler_runs())
        pm_lookup_try_each(&instances, note_crash, NULL);
    else if (pm_lookup_try_each(&devices, end_device, NULL))
        pm_lookup_try_each(&instances, end_session, NULL);
    pthread_mutex_unlock(&registry_lock);
}

void pm_registry_swap_recordings(pm_recording_table_swapper *swap)
{
    pthread_mutex_lock(&registry_lock);
    swap_recordings = swap;
    pthread_mutex_unlock(&registry_lock);
}

void pm_registry_set_binds(struct pm_device *device, uint32_t of, uint32_t bits)
{
    pthread_mutex_lock(&registry_lock);
    pm_binds_set(device, of, bits);
    if (pm_one.device == device)
        swap_tables(device);
    pthread_mutex_unlock(&registry_lock);
}

void pm_registry_arm(struct pm_device *device, bool armed)
{
    pm_registry_set_binds(device, PM_BINDS_ARMED, armed ? PM_BINDS_ARMED : 0);
}

void pm_registry_be_careful(struct pm_device *device)
{
    /* Also where the bit is set: whoever set it may not have swapped the tables yet. */
    pm_registry_set_binds(device, PM_BINDS_CAREFUL, PM_BINDS_CAREFUL);
}

void pm_registry_follow(struct pm_device *device, uint64_t words)
{
    pthread_mutex_lock(&registry_lock);
    /* The hooks first: whoever begins a recording that follows must find them. Whoever still begins
     * one the short way follows nothing. */
    if (pm_one.device == device)
        pm_push_tables_swap(&pm_push_targets, &pm_one.next_push, true);
    atomic_fetch_or_explicit(&device->watched, words, memory_order_release);
    if (pm_one.device == device)
        swap_tables(device);
    pthread_mutex_unlock(&registry_lock);
}
