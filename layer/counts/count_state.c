#include "layer/counts/count_state.h"

#include "base/clock.h"
#include <assert.h>
#include <stdlib.h>

#define SETTLED PM_SECOND /* a submission this old is through */

#define NEVER PM_COUNT_STATES

const uint8_t pm_count_transitions[PM_COUNT_STATES][PM_COUNT_EVENTS] = {
    /* counted, copied, through */
    [PM_COUNTS_READ] = {PM_COUNTS_DIRTY, NEVER, NEVER},
    [PM_COUNTS_DIRTY] = {NEVER, PM_COUNTS_COPYING, NEVER},
    [PM_COUNTS_COPYING] = {PM_COUNTS_COPYING_DIRTY, NEVER, PM_COUNTS_READ},
    [PM_COUNTS_COPYING_DIRTY] = {NEVER, PM_COUNTS_COPYING, PM_COUNTS_DIRTY},
};

static void step(const struct pm_queue *queue, struct pm_variant *variant,
                 enum pm_count_event event)
{
    uint8_t *state = &variant->counted.state[queue->index];
    const uint8_t next = pm_count_transitions[*state][event];
    assert(next != NEVER);
    if (next != NEVER)
        *state = next;
}

bool pm_count_used(const struct pm_queue *queue, struct pm_variant *variant)
{
    const uint32_t user = queue->index + 1;
    const bool first = variant->counted.user == 0;
    if (variant->counted.user != user) {
        variant->counted.user = user;
        variant->counted.user_changes++;
    }
    return first;
}

bool pm_count_dirty(struct pm_queue *queue, struct pm_variant *variant)
{
    if (queue->dirty_count == queue->dirty_capacity) {
        uint32_t capacity = queue->dirty_capacity > 0 ? queue->dirty_capacity * 2 : 16;
        struct pm_variant **dirty = realloc(queue->dirty, capacity * sizeof *dirty);
        if (dirty == NULL)
            return false;
        queue->dirty = dirty;
        queue->dirty_capacity = capacity;
    }
    queue->dirty[queue->dirty_count++] = variant;
    step(queue, variant, PM_COUNT_COUNTED);
    return true;
}

void pm_count_copied(struct pm_queue *queue)
{
    for (uint32_t i = 0; i < queue->dirty_count; i++) {
        step(queue, queue->dirty[i], PM_COUNT_COPIED);
        queue->dirty[i]->counted.copies[queue->index]++;
    }
    queue->dirty_count = 0;
}

void pm_count_through(const struct pm_queue *queue, struct pm_variant *variant)
{
    if (--variant->counted.copies[queue->index] == 0)
        step(queue, variant, PM_COUNT_THROUGH);
}

bool pm_count_elsewhere(const struct pm_queue *queue, const struct pm_variant *variant)
{
    const struct pm_sampling *sampling = queue->device->sampling;
    const uint32_t count = atomic_load(&sampling->queue_count);
    int64_t settled = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct pm_queue *other = sampling->queue_list[i];
        const enum pm_count_state state = pm_count_state_of(other, variant);
        if (other == queue || state == PM_COUNTS_READ)
            continue;
        if (pm_count_is_copying(state))
            return true;
        if (settled == 0)
            settled = pm_now() - SETTLED;
        if (other->used_at > settled)
            return true;
    }
    return false;
}
