/*
 * Calls that a shader is owed: of what a game records anew, those that were chosen while their
 * pipeline had no variant, or none of the batch whose turn it was. Pipelines that share a shader
 * share its points, and only some of them get variants (variant_budget.h); so as many further calls
 * of these are sampled, and the shader's rate is p all the same. What is recorded once makes up for
 * it otherwise (ahead.h).
 *
 * While anybody is owed, calls are looked at several times as often as they are chosen
 * (frame/sampling.h). One that is looked at and was not chosen is taken for what is owed with a
 * chance that is the same for all calls of some frames, a period: what was owed when it began, over
 * how many such calls came in the latest one before that had any. So which of the calls of a frame
 * are taken does not hang on what stands before them: if the first that comes were taken, or none
 * once nothing is owed any more, it would ever be those behind the pipelines that have no variant.
 * A period may thus take some more than was due; that many are owed the fewer.
 *
 * What is owed ends with its window, and is no more than what some seconds of it came to, or as
 * many would take of the calls that come now.
 *
 * Thread safety: any thread, without a lock. Counts that two threads change at once may be off by
 * one.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Heartbeats of a period, by which calls are counted. */
enum { PM_OWED_PERIOD = 8 };
/* Periods whose calls may be owed; and so many calls in any case. Calls are counted for as many
 * after something was owed last. */
enum { PM_OWED_PERIODS = 32, PM_OWED_CALLS = 32 };

/* A period of a window: the later, the larger. Windows count from 1 on. */
static inline uint64_t pm_owed_when(uint64_t window, uint64_t heartbeats)
{
    return window << 32 | (heartbeats / PM_OWED_PERIOD & UINT32_MAX);
}

static inline bool pm_owed_is_recent(uint64_t when, uint64_t now)
{
    return when >> 32 == now >> 32 && now <= when + PM_OWED_PERIODS;
}

struct pm_owed {
    _Atomic uint64_t when;                    /* pm_owed_when of what follows */
    _Atomic int32_t calls;                    /* that are owed; below 0: more were taken */
    _Atomic uint32_t due;                     /* of them, when the period began */
    _Atomic uint32_t added, added_before;     /* to them in the period, and in the one before it */
    _Atomic uint32_t chances, chances_before; /* likewise: calls that might have been taken;
                                                 before: in the latest one that had any */
    _Atomic uint64_t added_at;                /* the latest period in which some were added */
    _Atomic uint64_t counted_from;            /* chances are counted since this one began, or later
                                                 in it */
};

/* What a call says of it. */
struct pm_owing {
    uint64_t when;
    bool any; /* something is owed of what may be taken */
};

/* So many more. */
void pm_owed_add(struct pm_owed *owed, uint64_t when, uint32_t calls);

/* Whether anything is owed, or was lately; else nobody need write to it. */
static inline bool pm_owed_any(struct pm_owed *owed, uint64_t when)
{
    return pm_owed_is_recent(atomic_load_explicit(&owed->added_at, memory_order_relaxed), when) ||
           (atomic_load_explicit(&owed->calls, memory_order_relaxed) > 0 &&
            atomic_load_explicit(&owed->when, memory_order_relaxed) >> 32 == when >> 32);
}

/* Where there is any: whether a call with a variant is taken that is looked at and was not chosen.
 * Then pm_owed_pay, also where one that counts occluded fragments lets it go by after all. */
bool pm_owed_draw(struct pm_owed *owed, uint64_t when, uint64_t random);
void pm_owed_pay(struct pm_owed *owed);
