#include "layer/memory/predicates.h"

#include "layer/core/lookup.h"
#include "layer/core/object_name.h"
#include "layer/memory/mapped_buffer.h"
#include "layer/memory/ranges.h"
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = PM_PREDICATE_BLOCK * sizeof(uint32_t) };

struct pm_predicates {
    struct pm_device *device;
    uint32_t blocks;
    _Atomic uint32_t taken;
    pthread_mutex_t lock; /* all below; the buffer does not change once it is there */
    struct pm_mapped_buffer words;
    struct pm_range *free;
    bool failed; /* the driver refused the buffer */
};

struct pm_predicates *pm_predicates_create(struct pm_device *device)
{
    const uint32_t limit = device->instance->config.limits.predicates;
    struct pm_predicates *predicates = limit > 0 ? calloc(1, sizeof *predicates) : NULL;
    if (predicates == NULL)
        return NULL;
    predicates->device = device;
    predicates->blocks = (limit + PM_PREDICATE_BLOCK - 1) / PM_PREDICATE_BLOCK;
    pthread_mutex_init(&predicates->lock, NULL);
    return predicates;
}

void pm_predicates_destroy(struct pm_predicates *predicates)
{
    if (predicates == NULL)
        return;
    pm_mapped_buffer_destroy(predicates->device, &predicates->words);
    pm_ranges_finish(&predicates->free);
    pthread_mutex_destroy(&predicates->lock);
    free(predicates);
}

VkBuffer pm_predicates_buffer(const struct pm_predicates *predicates)
{
    return predicates->words.buffer;
}

/* Makes the buffer. The first block is nobody's: the scratch word is in it. Under the lock. */
static void make_buffer(struct pm_predicates *predicates)
{
    struct pm_device *device = predicates->device;
    const uint64_t bytes = (uint64_t)predicates->blocks * BLOCK_BYTES;
    predicates->failed = !pm_mapped_buffer_create(
        device, BLOCK_BYTES + bytes,
        VK_BUFFER_USAGE_CONDITIONAL_RENDERING_BIT_EXT | VK_BUFFER_USAGE_TRANSFER_DST_BIT,
        VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, true, &predicates->words);
    if (predicates->failed) {
        pm_log_info(device->instance->log, "no buffer for predicates: no call is recorded twice");
        return;
    }
    memset(predicates->words.map, 0, BLOCK_BYTES);
    pm_name_object(device, VK_OBJECT_TYPE_BUFFER, PM_KEY(predicates->words.buffer), "predicates");
    pm_name_object(device, VK_OBJECT_TYPE_DEVICE_MEMORY, PM_KEY(predicates->words.memory),
                   "predicates");
    pm_ranges_give(&predicates->free, BLOCK_BYTES, bytes);
}

double pm_predicates_used(const struct pm_predicates *predicates)
{
    return (double)atomic_load_explicit(&predicates->taken, memory_order_relaxed) /
           predicates->blocks;
}

bool pm_predicates_allocate(struct pm_predicates *predicates, uint32_t *offset)
{
    uint64_t taken_at = 0;
    pthread_mutex_lock(&predicates->lock);
    if (predicates->words.buffer == VK_NULL_HANDLE && !predicates->failed)
        make_buffer(predicates);
    const bool taken = pm_ranges_take(&predicates->free, 0, BLOCK_BYTES, &taken_at);
    pthread_mutex_unlock(&predicates->lock);
    if (!taken)
        return false;
    atomic_fetch_add_explicit(&predicates->taken, 1, memory_order_relaxed);
    memset(predicates->words.map + taken_at, 0, BLOCK_BYTES);
    *offset = (uint32_t)taken_at;
    return true;
}

void pm_predicates_free(struct pm_predicates *predicates, uint32_t offset)
{
    atomic_fetch_sub_explicit(&predicates->taken, 1, memory_order_relaxed);
    pthread_mutex_lock(&predicates->lock);
    pm_ranges_give(&predicates->free, offset, BLOCK_BYTES);
    pthread_mutex_unlock(&predicates->lock);
}
