/*
 * How many instrumented variants there may be (HAZARDS 17): limits.variants at a time, and over
 * time what a bucket of as many tokens gives, which is full at first and fills again by
 * limits.variants_per_minute. A token is a variant that is made.
 *
 * So that not everything goes to whatever is sampled first, a need may empty the bucket, and take
 * what may live, only so far: a shader of which nothing was sampled comes before the other batches
 * of one that was, and these before a batch's second variant, for another pipeline. Who waits
 * within a need is the compile queue's business, by heat (compiler.h).
 *
 * What lives is listed, so that a variant that was sampled enough, or is not used any more, makes
 * room for another (variant_make.c).
 *
 * Thread safety: any thread; the list is changed under the lock.
 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct pm_variant;

/* What a variant is wanted for. */
enum pm_need {
    PM_NEED_SHADER, /* nothing of its shader was sampled in this session, nor can be */
    PM_NEED_BATCH,  /* nothing of its batch */
    PM_NEED_MORE,   /* more of the batch, or of a shader that the database knows well */
    PM_NEEDS
};

struct pm_variant_budget {
    uint32_t limit;        /* limits.variants */
    double per_nanosecond; /* tokens */
    bool first_come;       /* whoever asks first is served: needs are all alike */
    pthread_mutex_t lock;
    /* guarded by lock: */
    double tokens;
    int64_t filled_at;  /* CLOCK_MONOTONIC, nanoseconds */
    uint32_t living;    /* variants, and those that are being made */
    bool counters_full; /* counter memory was used up, and nothing has died since */
    struct pm_variant *first;
    _Atomic int64_t retired_at; /* when it was last looked for something to retire; any thread */
};

void pm_variant_budget_init(struct pm_variant_budget *budget, uint32_t limit, uint32_t per_minute,
                            int64_t now);
void pm_variant_budget_finish(struct pm_variant_budget *budget);

/* What there is of a budget for a need. */
enum pm_budget_answer {
    PM_BUDGET_YES,
    PM_BUDGET_LATER, /* the bucket is too empty */
    PM_BUDGET_FULL,  /* too many live, or their counters take all there is */
};

/* Asks, and takes nothing. Draws do: it waits for nobody, since a compile thread that holds the
 * lock may not run for long, and says later then. */
enum pm_budget_answer pm_variant_budget_ask(struct pm_variant_budget *budget, enum pm_need need,
                                            int64_t now);
/* Takes a token and the right to live. */
enum pm_budget_answer pm_variant_budget_take(struct pm_variant_budget *budget, enum pm_need need,
                                             int64_t now);
/* The chance that something is made ahead of need, by what there is of tokens and of room beside so
 * many that cannot make any: 1 above half, for a shader's first above a quarter; below the square
 * of what there is of that, so that what is made late has a chance, too. 0: nothing more can be for
 * the need. */
double pm_variant_budget_chance(struct pm_variant_budget *budget, enum pm_need need,
                                uint32_t staying, int64_t now);
/* Nothing was made: both go back. */
void pm_variant_budget_refund(struct pm_variant_budget *budget);
/* There is no room for its counters, until something dies. false: nothing else lives. */
bool pm_variant_budget_no_counters(struct pm_variant_budget *budget);
/* Under the lock: whether there is a token for what is to have the place of one that lives, and
 * takes it, and the right to live as soon as that one has died. */
bool pm_variant_budget_may_replace(const struct pm_variant_budget *budget);
void pm_variant_budget_replace(struct pm_variant_budget *budget);
/* A variant has died. */
void pm_variant_budget_release(struct pm_variant_budget *budget);
