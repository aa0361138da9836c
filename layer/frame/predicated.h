/*
 * Calls that a kept recording holds twice (HAZARDS 12): the game's own and an instrumented
 * variant's, under opposite predicates of VK_EXT_conditional_rendering on a word of ours, so that
 * exactly one of them runs, and which one is said anew for each submission (predicate_update.h):
 * outside windows always the game's.
 *
 * A call whose pipeline won its variant by lot with probability a (struct pm_pipeline), and which
 * is then chosen with probability c when it is recorded, is sampled with probability p / (a c) in
 * each submission inside a window: with p in all, as where everything is recorded anew, if a c is
 * no less than p. The first call of each shader is chosen for sure, so that all are covered, while
 * more than a quarter is left of PM_PREDICATED_SURE such calls, and below with what is left of it.
 * So is, while half is left, the first call of each further pipeline of a shader, so that few do
 * not stand for many, and less and less until a quarter is; and while half is left also the first
 * calls of a recording that can be. Of the others p / a (1 + (TIMES - 1) a), where TIMES is
 * PM_PREDICATED_TIMES, so of all calls TIMES as many as are sampled at most; fewer when words
 * become scarce. Since a is no less than 4 p (variant_make.c), of a pipeline's calls it is little
 * more than a quarter, or 4 p where a is 1.
 *
 * Only in command buffers without ONE_TIME_SUBMIT that may be submitted again, and where all
 * submissions of a recording are in one order, and so are the changes to its words: without
 * SIMULTANEOUS_USE the game submits it again only once it knows that it is done, in whatever queue;
 * with it, where the game has one queue of the family; so also where it has queues on which nothing
 * is sampled, since there the words would stay as they are. A secondary recording is submitted with
 * what executes it (executed.h).
 *
 * Thread safety: the command buffer's, Vulkan's external synchronization; once the recording has
 * ended, the queue's.
 */
#pragma once

#include "layer/frame/command.h"
#include "layer/frame/predicated_calls.h"
#include "layer/shader/pipeline.h"
#include <string.h>

/* A call that runs twice. */
struct pm_predicated_pair {
    const struct pm_built *variant; /* NULL: it is passed on once, as it is */
    uint32_t offset;                /* bytes in the buffer */
};

/* Of a pipeline that has a variant. */
static inline struct pm_shader_record *pm_predicated_shader(const struct pm_pipeline *pipeline)
{
    return atomic_load_explicit(&pipeline->record, memory_order_acquire);
}

/* What the chance of calls depends on while it is bound: pipelines with the same number have the
 * same one, but for how many words are free, which matters from when the next call is looked at. */
enum { PM_ALIKE_WITHOUT_VARIANT, PM_ALIKE_SURE, PM_ALIKE_UNTOLD /* or else its lot */ };
static inline uint64_t pm_predicated_alike(const struct pm_predicated *predicated,
                                           const struct pm_pipeline *pipeline)
{
    uint64_t lot;
    if (pipeline == NULL || atomic_load_explicit(&pipeline->variants, memory_order_relaxed) == 0 ||
        pipeline->lot <= 0)
        return PM_ALIKE_WITHOUT_VARIANT;
    if (predicated->sure > 0)
        return PM_ALIKE_SURE;
    if (!atomic_load_explicit(&pipeline->told, memory_order_relaxed) ||
        !atomic_load_explicit(&pm_predicated_shader(pipeline)->told, memory_order_relaxed))
        return PM_ALIKE_UNTOLD;
    memcpy(&lot, &pipeline->lot, sizeof lot);
    return lot;
}

/* The game has bound something at the bind point in a recording with `predicated`: draws the
 * countdown anew where the chance is another one. */
void pm_predicated_bound(struct pm_command *command, int point);

/* Whether that has anything to do where it is that pipeline; NULL: it has no variants. */
static inline bool pm_predicated_changes(const struct pm_command *command, uint32_t point,
                                         const struct pm_pipeline *pipeline)
{
    const uint64_t alike = pm_predicated_alike(command->predicated, pipeline);
    return alike == PM_ALIKE_UNTOLD || alike != command->predicated->alike[point];
}

/* A call at which the countdown was through: draws the next; where there is a variant the game's
 * call that follows is under a predicate, and pm_predicated_again is owed, then the call again,
 * then pm_predicated_ends. */
struct pm_predicated_pair pm_predicated_begins(struct pm_command *command, int point);
void pm_predicated_again(struct pm_command *command, int point,
                         const struct pm_predicated_pair *pair);
void pm_predicated_ends(struct pm_command *command);

/* What the recording's words are to become with the submission that is being made: `next`. */
void pm_predicated_pick(struct pm_command *command);

/* They can: `next` without what would be a first draw too many (first_draws.h). */
void pm_predicated_allow(struct pm_command *command);

/* The words are so: `picked` is what `next` was, and the recording's uses say so. */
void pm_predicated_picked(struct pm_command *command);

/* They did not become so after all. */
void pm_predicated_not_picked(struct pm_command *command);
