#include "layer/memory/scratch_memory.h"

#include "layer/core/object_name.h"
#include "layer/memory/device_buffer.h"
#include <stdlib.h>

enum { FAMILIES = 64 }; /* of which it can be known that they have one queue */

struct pm_scratch_memory {
    struct pm_device *device;
    uint64_t bytes, unit;   /* unit 0: it is one part */
    _Atomic uint64_t taken; /* by bit: units */
    pthread_mutex_t lock;   /* all below */
    struct pm_device_buffer buffer;
    struct pm_error refused; /* why there is none */
    struct pm_scratch_run shared[FAMILIES];
    /* The latest of these, for who takes no lock: first | count << 32. */
    _Atomic uint64_t latest[FAMILIES];
};

struct pm_scratch_memory *pm_scratch_memory_create(struct pm_device *device, uint32_t queues)
{
    struct pm_scratch_memory *memory = calloc(1, sizeof *memory);
    if (memory == NULL)
        return NULL;
    memory->device = device;
    memory->bytes = (uint64_t)device->instance->config.limits.scratch_mib << 20;
    memory->unit = queues > 1 ? memory->bytes / PM_SCRATCH_UNITS : 0;
    pthread_mutex_init(&memory->lock, NULL);
    return memory;
}

void pm_scratch_memory_destroy(struct pm_scratch_memory *memory)
{
    if (memory == NULL)
        return;
    pm_device_buffer_destroy(memory->device, &memory->buffer);
    pthread_mutex_destroy(&memory->lock);
    free(memory);
}

/* Under the lock. */
static void make_buffer(struct pm_scratch_memory *memory)
{
    static const VkMemoryPropertyFlags preferred[] = {VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0};
    struct pm_device *device = memory->device;
    const struct pm_device_buffer_info info = {
        .what = "passes' values",
        .bytes = memory->bytes,
        .preferred = preferred,
        .preferred_count = sizeof preferred / sizeof preferred[0],
    };
    if (!pm_device_buffer_create(device, &info, &memory->buffer, &memory->refused))
        return;
    pm_name_object(device, VK_OBJECT_TYPE_BUFFER, PM_KEY(memory->buffer.buffer), "passes' values");
    pm_name_object(device, VK_OBJECT_TYPE_DEVICE_MEMORY, PM_KEY(memory->buffer.memory),
                   "passes' values");
}

bool pm_scratch_memory_get(struct pm_scratch_memory *memory, VkDeviceAddress *address,
                           uint64_t *bytes, struct pm_error *error)
{
    pthread_mutex_lock(&memory->lock);
    if (memory->buffer.buffer == VK_NULL_HANDLE && memory->refused.code == PM_OK)
        make_buffer(memory);
    *address = memory->buffer.address;
    *bytes = memory->buffer.bytes;
    const bool there = memory->buffer.buffer != VK_NULL_HANDLE;
    if (!there && error != NULL)
        *error = memory->refused;
    pthread_mutex_unlock(&memory->lock);
    return there;
}

uint64_t pm_scratch_memory_unit(const struct pm_scratch_memory *memory)
{
    return memory->unit;
}

/* So many free units in a row. 0: there are none. */
static uint64_t find_free(uint64_t taken, uint32_t count)
{
    const uint64_t run = count < PM_SCRATCH_UNITS ? (UINT64_C(1) << count) - 1 : UINT64_MAX;
    for (uint32_t first = 0; first + count <= PM_SCRATCH_UNITS; first++)
        if ((taken & run << first) == 0)
            return run << first;
    return 0;
}

static bool take_units(struct pm_scratch_memory *memory, uint32_t count, struct pm_scratch_run *run)
{
    uint64_t taken = atomic_load(&memory->taken), found;
    do {
        found = find_free(taken, count);
        if (found == 0)
            return false;
    } while (!atomic_compare_exchange_weak(&memory->taken, &taken, taken | found));
    run->held |= found;
    run->first = (uint32_t)__builtin_ctzll(found);
    run->count = count;
    return true;
}

/* Twice as many as before or more, where there are, since recordings may name what was before. */
static bool take(struct pm_scratch_memory *memory, uint32_t count, struct pm_scratch_run *run)
{
    if (count <= run->count)
        return true;
    const uint32_t more = 2 * run->count;
    return (more > count && take_units(memory, more, run)) || take_units(memory, count, run);
}

/* The same of what all recordings for a family share. */
static bool take_shared(struct pm_scratch_memory *memory, uint32_t family, uint32_t count,
                        uint32_t *unit)
{
    uint64_t latest = atomic_load_explicit(&memory->latest[family], memory_order_acquire);
    bool taken = latest >> 32 >= count;
    if (!taken) {
        pthread_mutex_lock(&memory->lock);
        struct pm_scratch_run *run = &memory->shared[family];
        taken = take(memory, count, run);
        latest = run->first | (uint64_t)run->count << 32;
        atomic_store_explicit(&memory->latest[family], latest, memory_order_release);
        pthread_mutex_unlock(&memory->lock);
    }
    *unit = (uint32_t)latest;
    return taken;
}

bool pm_scratch_memory_take(struct pm_scratch_memory *memory, uint32_t family,
                            struct pm_scratch_run *own, uint64_t bytes, uint32_t *unit)
{
    *unit = 0;
    if (memory == NULL || bytes > memory->bytes)
        return false;
    if (memory->unit == 0)
        return true;
    const uint64_t count = bytes > 0 ? (bytes + memory->unit - 1) / memory->unit : 1;
    if (count > PM_SCRATCH_UNITS)
        return false;
    if (family < FAMILIES && (memory->device->lone_families >> family & 1) != 0)
        return take_shared(memory, family, (uint32_t)count, unit);
    const bool taken = take(memory, (uint32_t)count, own);
    *unit = own->first;
    return taken;
}

void pm_scratch_memory_give_back(struct pm_scratch_memory *memory, struct pm_scratch_run *own)
{
    if (own->held != 0)
        atomic_fetch_and(&memory->taken, ~own->held);
    *own = (struct pm_scratch_run){0};
}
