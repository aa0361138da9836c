#include "layer/memory/scratch_memory.h"

#include "layer/core/lookup.h"
#include "layer/core/object_name.h"
#include "layer/memory/device_buffer.h"
#include <stdlib.h>

#define NO_FAMILY UINT32_MAX

struct pm_scratch_memory {
    struct pm_device *device;
    _Atomic uint32_t family; /* whose recordings use it; NO_FAMILY: none does yet */
    pthread_mutex_t lock;    /* all below */
    struct pm_device_buffer buffer;
    struct pm_error refused; /* why there is none */
};

struct pm_scratch_memory *pm_scratch_memory_create(struct pm_device *device)
{
    struct pm_scratch_memory *memory = calloc(1, sizeof *memory);
    if (memory == NULL)
        return NULL;
    memory->device = device;
    atomic_init(&memory->family, NO_FAMILY);
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
        .bytes = (uint64_t)device->instance->config.limits.scratch_mib << 20,
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

bool pm_scratch_memory_is_for(struct pm_scratch_memory *memory, uint32_t family)
{
    if (memory == NULL || family >= 64 || (memory->device->lone_families >> family & 1) == 0)
        return false;
    uint32_t found = NO_FAMILY;
    return atomic_compare_exchange_strong(&memory->family, &found, family) || found == family;
}
