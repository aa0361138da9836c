/*
 * The render pass instances of a frame, remembered from one frame to the next: by what they are of
 * and their number among these in the frame, so that the n-th instance of a kind finds what was
 * learned of the n-th one before. A heartbeat may be a submission, and a frame several; by the
 * number alone nothing would be learned there.
 *
 * The table is of fixed size. A kind that finds no slot takes that of the kind that was not seen
 * for longest; whoever loses a slot starts anew.
 *
 * Thread safety: any thread, without a lock. Two threads that take one slot at once may lose what
 * either learned, no more.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    PM_PASS_SLOT_BITS = 9,
    PM_PASS_SLOTS = 1 << PM_PASS_SLOT_BITS,
};

struct pm_pass_slot {
    _Atomic uint64_t tag;   /* 0: free */
    _Atomic uint64_t frame; /* heartbeat + 1 at which it was seen last */
    _Atomic uint32_t value;
};

/* All zero is an empty table. */
struct pm_pass_table {
    struct pm_pass_slot kinds[PM_PASS_SLOTS];     /* value: instances in that frame */
    struct pm_pass_slot instances[PM_PASS_SLOTS]; /* value: whether it is worth timing */
};

/* An instance of a kind (what: any value that tells kinds apart) begins. Returns its slot;
 * *worth: what pm_pass_table_was said of it last, false at first. */
uint32_t pm_pass_table_begin(struct pm_pass_table *table, uint64_t what, uint64_t heartbeat,
                             bool *worth);

/* Whether the instance that has the slot turned out to be worth timing. */
void pm_pass_table_was(struct pm_pass_table *table, uint32_t slot, bool worth);
