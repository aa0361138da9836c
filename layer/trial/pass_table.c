#include "layer/trial/pass_table.h"

#include "base/random.h"
#include <stdatomic.h>

enum { PROBES = 16 }; /* slots in which an entry may lie */

/* The slot of the entry; with value 0 if it was not there. */
static struct pm_pass_slot *find(struct pm_pass_slot *slots, uint64_t name, uint64_t heartbeat)
{
    const uint64_t tag = pm_random_mix(name) | 1;
    const uint32_t start = (uint32_t)(tag >> (64 - PM_PASS_SLOT_BITS));
    struct pm_pass_slot *oldest = NULL;
    uint64_t oldest_frame = UINT64_MAX;
    for (uint32_t i = 0; i < PROBES; i++) {
        struct pm_pass_slot *slot = &slots[(start + i) % PM_PASS_SLOTS];
        if (atomic_load(&slot->tag) == tag)
            return slot;
        const uint64_t frame = atomic_load(&slot->frame);
        if (frame < oldest_frame) {
            oldest = slot;
            oldest_frame = frame;
        }
    }
    atomic_store(&oldest->tag, tag);
    atomic_store(&oldest->value, 0);
    atomic_store(&oldest->frame, heartbeat + 1);
    return oldest;
}

uint32_t pm_pass_table_begin(struct pm_pass_table *table, uint64_t what, uint64_t heartbeat,
                             bool *worth)
{
    struct pm_pass_slot *kind = find(table->kinds, what, heartbeat);
    if (atomic_exchange(&kind->frame, heartbeat + 1) != heartbeat + 1)
        atomic_store(&kind->value, 0);
    const uint32_t number = atomic_fetch_add(&kind->value, 1);
    struct pm_pass_slot *instance = find(table->instances, pm_random_mix(what) + number, heartbeat);
    atomic_store(&instance->frame, heartbeat + 1);
    *worth = atomic_load(&instance->value) != 0;
    return (uint32_t)(instance - table->instances);
}

void pm_pass_table_was(struct pm_pass_table *table, uint32_t slot, bool worth)
{
    atomic_store(&table->instances[slot].value, worth);
}
