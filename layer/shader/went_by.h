/*
 * What became of a shader's calls that were chosen and not counted: why a session has little of a
 * shader, for who asks (bench/coverage/real_programs.sh).
 *
 * Thread safety: any thread, without a lock.
 */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

/* Why such a call went on unchanged. */
enum pm_went_by {
    PM_BY_NO_RECORD,  /* its shader's points were not known yet */
    PM_BY_BEING_MADE, /* the variant of the batch that was due was not made yet */
    PM_BY_NONE,       /* there was no room for it, or it cannot be made */
    PM_BY_FIRST_DRAW, /* it would have been one first draw too many (first_draws.h) */
    PM_BY_OCCLUDED,   /* of what counts occluded fragments only a share is taken (HAZARDS 4) */
    PM_WENT_BY
};

struct pm_gone_calls {
    _Atomic uint32_t by[PM_WENT_BY];
};

static inline void pm_gone_call(struct pm_gone_calls *gone, enum pm_went_by why, uint32_t calls)
{
    atomic_fetch_add_explicit(&gone->by[why], calls, memory_order_relaxed);
}
