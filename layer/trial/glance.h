/*
 * Glances: whether a variant in use is still faster, between its trials (trial.h). In a scene that
 * nobody has named it may be slower, and its next trial is minutes away. So every few hundred
 * heartbeats one pair is timed. Where the variant takes longer there are up to three more, and if
 * all four say so it is tried again at once. The pairs of a glance decide nothing: what they are
 * followed by is judged on pairs of its own. A pair is charged like any other (budget.h), and a
 * glance has no two at a time.
 *
 * Where a glance was followed by a trial in vain, the next ones come half as often, and in the end
 * no more often than trials do. What is not drawn with costs recordings that are tracked for it: it
 * is looked at less and less often, until it is drawn with again. trial.c begins and ends them.
 *
 * Thread safety: under the trials' lock, but where it says otherwise.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct pm_glance {
    _Atomic bool on;
    _Atomic bool under_way; /* a pair that was begun */
    _Atomic bool denied;    /* the budget had nothing left for one */
    uint32_t slower;        /* pairs of this one that say so */
    uint32_t every;         /* heartbeats between two, */
    uint32_t wait;          /* and until the next: more where it is not drawn with */
    bool told;              /* there was one: what a pair costs is of such pairs */
    bool alarmed;           /* it is tried again since one said so */
};

void pm_glance_init(struct pm_glance *glance);

/* One begins. false: what a pair of it costs is not known. */
bool pm_glance_begin(struct pm_glance *glance);

/* Whether it is over, since nothing was timed for so many heartbeats. */
bool pm_glance_finds_nothing(struct pm_glance *glance, uint64_t idle);

/* A pair is there. */
enum pm_glance_says { PM_GLANCE_FAST, PM_GLANCE_GOES_ON, PM_GLANCE_ALARM };
enum pm_glance_says pm_glance_take(struct pm_glance *glance, bool slower);

/* What was tried again is used again. */
void pm_glance_was_tried(struct pm_glance *glance);

/* ---- any thread, without the lock ---- */

static inline bool pm_glance_is_on(const struct pm_glance *glance)
{
    return atomic_load_explicit(&glance->on, memory_order_relaxed);
}

/* Whether a pair may begin, as far as this is concerned; and it may not for the budget. */
static inline bool pm_glance_begin_pair(struct pm_glance *glance)
{
    return !pm_glance_is_on(glance) || !atomic_exchange(&glance->under_way, true);
}
static inline void pm_glance_deny_pair(struct pm_glance *glance)
{
    atomic_store(&glance->denied, true);
    atomic_store(&glance->under_way, false);
}
