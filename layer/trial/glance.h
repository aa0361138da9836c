/*
 * Glances: whether a variant in use is still faster, between its trials (trial.h). In a scene that
 * nobody has named it may be slower, and its next trial is minutes away. So every few hundred
 * heartbeats a pair is timed, of one of its uses by lot: some may be slower and others not. What
 * pairs say is summed: more for each in which the variant took longer, less for each other one, and
 * never below none, so that what was faster for long and turns slow is noticed as soon as what
 * never was (Page's cumulative sum: Continuous inspection schemes, Biometrika 41, 1954). While
 * there is a sum the next pair follows at once (Reynolds, Amin and Arnold, CUSUM charts with
 * variable sampling intervals, Technometrics 32, 1990); what ends a glance otherwise leaves it to
 * the next. With a sum of 2.9 the variant is tried again at once. The pairs of a glance decide
 * nothing: what they are followed by is judged on pairs of its own.
 *
 * A pair says as much as the logarithms of its times differ, over two and a quarter times what they
 * usually do (their median, which is followed), and 1 at most: a time that something else made long
 * counts as any large one. A lot says which half of a pair has the variant (trial.h). Where it
 * makes no difference either sign is as likely, whatever came before, how noisy the machine is, and
 * what slows it down for a while; so the sum is a martingale but for its floor, and an alarm takes
 * some 34 pairs on the average, whenever one looks. Where the variant is faster it takes far
 * longer. Signs alone are as safe, and take longer to find what is slower.
 *
 * The longer a glance, the longer the rest behind it, but for what short ones before it have saved:
 * what is faster is given no more pairs than by the rule that was here before (a glance goes on up
 * to four slower pairs in a row, which are an alarm, or one that is not), and what is as fast a
 * tenth more, with as few alarms (layer/glance_alarms).
 *
 * A pair is charged like any other (budget.h), and a glance has no two at a time. The first is
 * charged before recordings are tracked for it: without a budget there is no glance. What of it is
 * charged at its end for pairs whose times are not there is given back.
 *
 * What is executed in areas that take turns may need several halves until two are of one size
 * (trial.h): where a pair's second one found none another begins, so many times.
 *
 * Where a glance was followed by a trial in vain, the next ones come half as often, and in the end
 * no more often than trials do; behind each other trial twice as often again. What is not drawn
 * with costs recordings that are tracked for it: it is looked at less and less often, until it is
 * drawn with again. It asks for no turn at the budget, and begins beside all others like it
 * (trial_glance.c). trial.c begins and ends them.
 *
 * Thread safety: under the trials' lock, but where it says otherwise.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum pm_glance_pair {
    PM_GLANCE_NONE,
    PM_GLANCE_HALF,  /* the second half is to come */
    PM_GLANCE_WHOLE, /* both were begun */
};

struct pm_glance {
    _Atomic bool on;
    _Atomic uint32_t pair;    /* enum pm_glance_pair: one that was begun */
    _Atomic uint32_t skipped; /* uses to come at which none begins */
    _Atomic bool denied;      /* the budget had nothing left for the latest */
    _Atomic int64_t prepaid;  /* charged for the first, which has not begun */
    _Atomic int64_t charged;  /* for that and all whose times are not there */
    double slower;            /* the sum of what pairs say */
    double usual;             /* of how much the logarithms of a pair's times differ; 0: none did */
    uint32_t pairs;           /* since the last rest */
    double due;               /* of the next rest, beyond `every`, in times that; below 0: saved */
    uint32_t odd;             /* pairs whose halves were of two sizes */
    uint32_t every;           /* heartbeats between two, */
    uint32_t wait;            /* and until the next: more where it is not drawn with */
    bool undrawn;             /* no pair was whole in the latest: it is not drawn with */
    bool told;                /* there was one: what a pair costs is of such pairs */
    bool alarmed;             /* it is tried again since one said so */
};

void pm_glance_init(struct pm_glance *glance);

/* One begins whose first pair was charged so much, with one of so many uses, 0 as 1; lot: at
 * random. */
void pm_glance_begin(struct pm_glance *glance, int64_t charged, uint32_t uses, uint64_t lot);
/* Another pair may begin, likewise. */
void pm_glance_go_on(struct pm_glance *glance, uint32_t uses, uint64_t lot);
/* It ends. What is to be given back. */
int64_t pm_glance_end(struct pm_glance *glance);

/* Whether it is over, since nothing was timed for so many heartbeats. */
bool pm_glance_finds_nothing(struct pm_glance *glance, uint64_t idle);
/* A second half found none of its size. Whether it is over since there were many of them. */
bool pm_glance_is_odd(struct pm_glance *glance);

/* A pair is there that was charged so much. log_ratio: of the variant's time over the original's.
 */
enum pm_glance_says { PM_GLANCE_RESTS, PM_GLANCE_GOES_ON, PM_GLANCE_ALARM };
enum pm_glance_says pm_glance_take(struct pm_glance *glance, double log_ratio, int64_t charged);

/* What was tried again is used again. */
void pm_glance_was_tried(struct pm_glance *glance);

/* ---- any thread, without the lock ---- */

static inline bool pm_glance_is_on(const struct pm_glance *glance)
{
    return atomic_load_explicit(&glance->on, memory_order_relaxed);
}

/* Whether a pair may begin, as far as this is concerned; it does, and was charged so much beside
 * what was before; and it does not. spent: the budget has nothing left, not only somebody else. */
bool pm_glance_begin_pair(struct pm_glance *glance);
void pm_glance_charge_pair(struct pm_glance *glance, int64_t charged);
void pm_glance_deny_pair(struct pm_glance *glance, bool spent);
/* Its second half begins. */
void pm_glance_second_half(struct pm_glance *glance);
