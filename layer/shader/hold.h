/*
 * Which recordings hold a variant that may go before its pipeline does: one of a contest's
 * (contest.h), most of which lose. Whoever binds it in a recording takes its hold first, and gives
 * it back when the recording is reset, freed or begun again, which Vulkan allows only once the GPU
 * is done with it. Closed, nobody takes it any more; and once no recording has it, what it is of
 * may be destroyed.
 *
 * Ownership: its owner has a reference, and each recording: it outlives what it is of.
 * Thread safety: any thread. Nothing here blocks.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct pm_hold {
    _Atomic uint32_t references;
    _Atomic bool closed;
};

/* With the owner's reference. NULL: out of memory. */
struct pm_hold *pm_hold_create(void);

/* For a recording. false: it is closed, and nothing was taken. */
bool pm_hold_take(struct pm_hold *hold);

/* A recording's, or the owner's. NULL is allowed. */
void pm_hold_release(struct pm_hold *hold);

/* No recording has it just now. */
bool pm_hold_is_idle(const struct pm_hold *hold);

/* The owner's, both. */
void pm_hold_close(struct pm_hold *hold);
bool pm_hold_is_free(const struct pm_hold *hold); /* closed, and no recording has it */
