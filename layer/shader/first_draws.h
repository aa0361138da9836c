/*
 * How much of a frame may be drawn with variants that nothing was drawn with before. A driver such
 * as lavapipe compiles a pipeline when it first draws with it, while the game waits for its fence:
 * if a level's variants all came in its first frame, it would take as long as their compiles
 * together. So they come by limits.first_draw_words words of their modules in each heartbeat, or
 * one where a single one has more; a call that would be the first with another goes on unchanged,
 * and its shader is owed it (owed.h).
 *
 * Of a call that a recording holds twice it is counted when a submission is to run the variant's
 * (frame/predicate_update.h), and none is owed: a later submission may choose it again. Of others
 * it is counted when they are recorded. A recording that may be submitted again and holds none
 * twice is not bounded, since where the game keeps it no later call can make up for one.
 *
 * Thread safety: any thread, without a lock.
 */
#pragma once

#include "layer/shader/variant.h"

struct pm_first_draws {
    uint32_t most;          /* words in a heartbeat; 0: as many as come */
    _Atomic uint64_t words; /* since the heartbeat before */
};

/* A heartbeat. */
static inline void pm_first_draws_heartbeat(struct pm_first_draws *draws)
{
    if (atomic_load_explicit(&draws->words, memory_order_relaxed) != 0)
        atomic_store_explicit(&draws->words, 0, memory_order_relaxed);
}

/* It is not, though it was allowed: whoever draws with it next asks again. What the heartbeat gave
 * for it is spent. */
static inline void pm_first_draws_did_not(struct pm_variant *variant)
{
    atomic_store_explicit(&variant->drawn, false, memory_order_relaxed);
}

/* Takes the words of a variant that nothing was drawn with. false: the heartbeat has had its
 * share. */
bool pm_first_draws_take(struct pm_first_draws *draws, struct pm_variant *variant);

/* Whether a call could be drawn with the variant now; takes nothing. */
bool pm_first_draws_would_allow(const struct pm_first_draws *draws,
                                const struct pm_variant *variant);

/* Whether a call may be drawn with the variant now. true: it will be. */
static inline bool pm_first_draws_allow(struct pm_first_draws *draws, struct pm_variant *variant)
{
    return atomic_load_explicit(&variant->drawn, memory_order_relaxed) ||
           pm_first_draws_take(draws, variant);
}
