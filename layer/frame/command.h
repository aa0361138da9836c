/*
 * Command buffers: which are sampled or timed, what is bound and active in them, and which variants
 * they name. A record is made when a command buffer is allocated and dies with it or its pool.
 *
 * Thread safety: a record has its command buffer's: Vulkan's external synchronization. `submits`
 * and what a queue reads of a finished recording may be used by several queues at once.
 */
#pragma once

#include "layer/frame/may_bind.h"
#include "layer/frame/pushed.h"
#include "layer/frame/sampling.h"
#include "layer/memory/scratch_memory.h"
#include "layer/shader/hold.h"
#include "layer/shader/variant.h"

/* A variant that a recording names: it holds a reference. */
struct pm_use {
    struct pm_variant *variant;
    uint32_t calls;  /* sampled calls in one submission of the recording */
    uint32_t picked; /* likewise in the latest one, of those that it holds twice (predicated.h) */
};

enum { PM_GRAPHICS, PM_COMPUTE, PM_BIND_POINTS };

/* What is bound at a bind point (binding.h). */
struct pm_bound {
    struct pm_pipeline *pipeline; /* the game's; NULL: it has no variants, or what is bound is not
                                     known, and then the rest says nothing */
    uint64_t game;                /* its handle */
    uint64_t standing;            /* that, or its proven variant: what stays bound */
    uint64_t now;                 /* that, or what is bound over it for a while */
    enum pm_binding kind;         /* of `now` */
    bool own; /* since it was bound something has ended that must not see a variant: the game's own
                 may stand, also where it has a proven one */
    const struct pm_built *built; /* what `now` is of while an instrumented variant is bound */
    const struct pm_watch
        *cover; /* what `now` must fit where it is over `standing`; NULL: nothing */
    const struct pm_passes *passes; /* of a trial, that the next call runs as over what stands;
                                       NULL: none */
    uint64_t watch; /* words of push constants that its variant watches; may be more */
};

/* What the game has bound since the record knew it last (pm_binding_catch_up), in two words that a
 * bind writes; by bind point. Whoever writes pm_command.bound forgets what it has there, but where
 * nothing can be in it: it is of sampled recordings, while hooks are armed, and of careful ones. */
struct pm_lately {
    uint64_t game[PM_BIND_POINTS]; /* a pipeline's handle; 0: nothing */
    uint64_t now[PM_BIND_POINTS];  /* that, or its proven variant's, which may be put back */
};

#define PM_TIMING_NONE UINT32_MAX
#define PM_BEGINS_LONG UINT32_MAX

struct pm_trial;
struct pm_session_trial; /* trial/sessions.h */
struct pm_session_use;
struct pm_predicated; /* predicated_calls.h */

/* What a measurement is of (trial.h): of each trial that takes part, which use. */
struct pm_timed {
    struct pm_trial *trial;
    uint32_t track, pair;
    bool variant;
    uint32_t turn;   /* of a render pass instance that executes secondary command buffers: the use
                        of the track, + 1; 0: none (trial/executed_passes.h) */
    bool mixed;      /* likewise: not all in it has this side */
    bool awaited;    /* likewise: one may be timed, now or later */
    bool inherited;  /* in a secondary command buffer: how large its render area is says only what
                        executes that */
    int64_t charged; /* for the pair, by its first half (trial/budget.h) */
    uint64_t what;   /* tells the use from others */
    uint64_t area;   /* where inherited: of what has executed it (pm_trial_work); 0: not known */
};

enum { PM_TIMED_MOST = 8, PM_TIMED_TRIALS = 4 }; /* trials in one measurement */

struct pm_timed_uses {
    struct pm_timed uses[PM_TIMED_MOST];
    uint32_t count; /* 0: nothing that is wanted any more */
    /* Or of trials over sessions, read after each submission: their uses; while the render pass
     * instance goes on, they themselves. */
    union {
        struct pm_session_use *sessions[PM_TIMED_TRIALS];
        struct pm_session_trial *trials[PM_TIMED_TRIALS];
    };
    uint32_t session_count;
};

/* The render pass instance that a recording which is timed is in (trial.h). */
struct pm_pass_instance {
    enum pm_condition place; /* PM_PLACE_OUTSIDE: in none, and all below says nothing */
    bool worth;              /* something was bound in it that is awaited */
    bool started;            /* its own first timestamp was written */
    bool inherited;          /* it is that of what executes the recording, a secondary one */
    bool executes;           /* its calls, or some of them, are in secondary ones */
    bool both;               /* likewise, and others in the command buffer itself */
    bool unknown;            /* of one of these it is not known what it does, or something was
                                active that must not see a variant */
    bool untimed;            /* one of these was recorded anew, and could have no part in a trial */
    bool mixed;              /* where inherited: a side of a trial could not be bound in it */
    uint64_t group;          /* likewise: tells its render pass from others */
    uint32_t slot;           /* among those of the frame (pm_trials_pass) */
    uint64_t work;           /* of its render area (pm_trial_work) */
    uint32_t measurement;    /* of it, or reserved for one of its draws; PM_TIMING_NONE */
    struct pm_timed_uses timed;
};

/* A secondary command buffer that a recording executes (executed.h). */
struct pm_executed {
    VkCommandBuffer handle;
    uint32_t recording; /* its number */
    bool carries;       /* what is submitted with it */
};

struct pm_command {
    /* Calls until one that is not just passed on; PM_NEVER: none will be. Each thread writes its
     * own, so none shares a cache line. */
    _Alignas(PM_CACHE_LINE) uint64_t countdown;
    uint64_t drawn;  /* sum of the countdowns that were drawn in a recording that is sampled */
    uint64_t behind; /* the countdown of a recording that is sampled, while each call is looked at
                        for another reason; 0: `countdown` is it */
    struct pm_device *device;
    VkCommandBuffer handle;
    struct pm_command_pool *pool;
    struct pm_command *next, *previous; /* in the pool */
    struct pm_random random;
    double probability; /* that a call of the recording is chosen, while it is sampled */
    double times; /* `countdown` was drawn for so many calls for each that is chosen; the others are
                     for what shaders are owed (owed.h) */
    struct pm_geometric_scale scale; /* of what it was drawn with */
    bool owes; /* they are owed what is chosen in the recording and cannot be sampled: it is for
                  one submission */
    bool secondary;
    bool begun;   /* at least once */
    bool touched; /* something may be otherwise than where a recording begins that nothing is known
                     of: begin puts it right */
    /* Said of every recording, however short the way that it began. */
    bool once;         /* it is for one submission */
    bool repeats;      /* it may be submitted more than once, as far as anyone knows */
    bool simultaneous; /* and while an earlier submission is under way */
    uint32_t again;    /* flags with which a begin may go the short way; PM_BEGINS_LONG: none */
    enum pm_condition recording; /* PM_RECORDING_SAMPLED or TIMED until it ends, else TRACKED */
    uint32_t active;             /* PM_CONDITION bits of PM_ACTIVE_…, but for what is counted or
                                    looked up elsewhere: queries, other shaders, a lost device */
    uint32_t active_queries;     /* whose result a variant could change */
    /* Bind points of which what is bound may go to `lately`, from the first on: all of them, or
     * none. Nothing is done in the recording then but to bind and to draw; nothing is active that
     * could see a variant, nothing timed, and either calls are sampled, or nothing is and no pushes
     * are followed. Where not `touched` that is all that the recording has left in the record. */
    uint32_t plain_points;
    bool put_off; /* the next draw binds what stands, or the game's own pipeline (put_off.h) */
    struct pm_lately lately;
    struct pm_bound bound[PM_BIND_POINTS];
    uint64_t watched; /* by any of them */
    struct pm_pushed pushed;
    struct pm_pass_instance pass;
    uint64_t area;         /* of the render pass instance that it is in, timed or not
                               (pm_trial_work); 0: not known */
    uint32_t area_awaited; /* pm_sampling_awaited when it was noted (trial/area.h) */
    uint32_t spare;        /* a measurement of it that measures nothing; PM_TIMING_NONE */
    uint32_t timings;      /* the latest measurement that the recording names; PM_TIMING_NONE */
    struct pm_use *uses;
    uint32_t use_count, use_capacity;
    uint32_t sampled;       /* sum of the uses' calls */
    struct pm_hold **holds; /* of what it names that may go; a reference of each */
    uint32_t hold_count, hold_capacity;
    struct pm_scratch_run scratch;    /* for dispatches in several passes (passes_run.h) */
    uint32_t scratch_unit;            /* what the next such one begins at */
    struct pm_predicated *predicated; /* calls that it holds twice; NULL: it may hold none */
    uint32_t scene;                   /* that the last label in it began (scene.h) */
    struct pm_executed *executed;     /* secondary ones that concern its submission */
    VkCommandBuffer *noted;           /* others, of which nothing else is known (executed.h) */
    uint32_t executed_capacity, noted_capacity;
    uint32_t executed_count, noted_count; /* next to each other: a begin forgets both at once */
    bool carries;                         /* one of them does */
    uint32_t recordings;                  /* that were begun; not of all that are primary */
    _Atomic uint32_t submits;    /* since it began last; of a secondary one: of what executes it, of
                                    each recording two at most */
    _Atomic uint64_t submission; /* of a secondary one: the latest (pm_sampling.submission) */
};

struct pm_command_pool {
    VkCommandPool handle;
    uint32_t family;
    bool is_protected;
    struct pm_command *first;
};

static inline struct pm_command *pm_command_of(struct pm_sampling *sampling, VkCommandBuffer handle)
{
    return pm_lookup_find(&sampling->commands, PM_KEY(handle));
}

/* One draw or dispatch in a command buffer. The record when it is the one to sample. */
static inline struct pm_command *pm_command_due(const struct pm_lookup *commands,
                                                VkCommandBuffer handle)
{
    struct pm_command *command = pm_lookup_find(commands, PM_KEY(handle));
    if (command == NULL || --command->countdown != 0)
        return NULL;
    return command;
}

/* Whether calls of the recording are sampled or timed; not once it has ended. */
static inline bool pm_command_takes_part(const struct pm_command *command)
{
    return command->recording != PM_RECORDING_TRACKED;
}

/* Whether the recording that was holds something that is to be given back. */
static inline bool pm_command_holds(const struct pm_command *command)
{
    return command->use_count > 0 || command->hold_count > 0 ||
           command->timings != PM_TIMING_NONE || command->predicated != NULL ||
           command->scratch.held != 0 || command->put_off || pm_command_takes_part(command);
}

/* ---- pools and their buffers; nothing is found by a handle that was forgotten ---- */

/* Remembers a pool that was created; a protected one behind PM_BINDS_CAREFUL. Without memory for it
 * its buffers are unknown. */
void pm_command_pool_add(struct pm_device *device, VkCommandPool handle,
                         const VkCommandPoolCreateInfo *info);
/* NULL: unknown, as VK_NULL_HANDLE is; sampling may be NULL too. */
struct pm_command_pool *pm_command_pool_of(struct pm_sampling *sampling, VkCommandPool handle);
/* Forgets the handles of a pool and of its buffers; then frees their records, dropping what the
 * recordings hold. */
void pm_command_pool_forget(struct pm_sampling *sampling, struct pm_command_pool *pool);
void pm_command_pool_destroy(struct pm_command_pool *pool);

void pm_command_add(struct pm_device *device, struct pm_command_pool *pool, VkCommandBuffer handle,
                    bool secondary);
/* Forgets a buffer and takes it out of its pool. NULL: unknown. */
struct pm_command *pm_command_forget(struct pm_sampling *sampling, VkCommandBuffer handle);
/* Drops what the recording holds and frees the record. */
void pm_command_destroy(struct pm_command *command);

/* Frees every record and pool, dropping their references. */
void pm_commands_destroy(struct pm_sampling *sampling);

/* ---- a recording; between its begin and its end nothing but this changes `recording` ---- */

/* A recording begins, in which nothing is bound. true: it may be submitted more than once as it is,
 * as far as anyone knows. */
bool pm_command_begin(struct pm_command *command, const VkCommandBufferBeginInfo *info);

/* Whether a begin leaves the record as the one before it did, but for what the recording touched:
 * no more is known of it, it was not submitted twice, and is begun with the same flags. */
static PM_FAST inline __attribute__((always_inline)) bool
pm_command_begins_with_same(const struct pm_command *command, const VkCommandBufferBeginInfo *info)
{
    return info->flags == command->again && PM_READ(uint32_t, command->submits) <= 1;
}
/* And a secondary one inherits nothing that matters. */
static inline __attribute__((always_inline)) bool
pm_command_inherits_nothing(const VkCommandBufferBeginInfo *info)
{
    return info->pInheritanceInfo == NULL || info->pInheritanceInfo->pipelineStatistics == 0;
}
static PM_FAST inline __attribute__((always_inline)) bool
pm_command_begins_alike(const struct pm_command *command, const VkCommandBufferBeginInfo *info)
{
    return pm_command_begins_with_same(command, info) &&
           (!command->secondary || pm_command_inherits_nothing(info));
}

static inline __attribute__((always_inline)) void pm_command_begins_anew(struct pm_command *command)
{
    if (command->secondary)
        command->recordings++;
    command->executed_count = command->noted_count = 0;
    atomic_store_explicit(&command->submits, 0, memory_order_relaxed);
}

/* The same as pm_command_begin and pm_command_choose for a recording that cannot be chosen and need
 * not follow what is pushed, in few instructions, and before the driver begins it; where it is
 * known for good whether the game keeps recordings. false: there is more to do, and nothing was
 * done. */
static PM_FAST inline __attribute__((always_inline)) bool
pm_command_begin_again(struct pm_command *command, const VkCommandBufferBeginInfo *info)
{
    if (command->touched || !pm_command_begins_alike(command, info))
        return false;
    pm_command_begins_anew(command);
    return true;
}

/* Where that is not known yet: learns it from the recording that was. false: as above. */
static PM_FAST inline __attribute__((always_inline)) bool
pm_command_learn_again(const struct pm_command *command, struct pm_sampling *sampling)
{
    const bool counts = command->once || PM_READ(uint32_t, command->submits) == 1;
    return __builtin_expect(!counts, 0) || pm_sampling_learn_one(sampling);
}
/* A number that a secondary one has too much for it does not matter. */
static PM_FAST inline __attribute__((always_inline)) bool
pm_command_begin_learning(struct pm_command *command, const VkCommandBufferBeginInfo *info,
                          struct pm_sampling *sampling)
{
    if (command->touched || !pm_command_begins_with_same(command, info))
        return false;
    if (command->secondary) {
        if (!pm_command_inherits_nothing(info))
            return false;
        command->recordings++;
    }
    if (!pm_command_learn_again(command, sampling))
        return false;
    command->executed_count = command->noted_count = 0;
    atomic_store_explicit(&command->submits, 0, memory_order_relaxed);
    return true;
}

/* The same as pm_command_begin_again while every recording is tracked and none follows what is
 * pushed: what it binds goes to `lately` from the begin on. The recording before may have followed
 * pushes though: the first that do so begin before the hook of begins is another. */
static PM_FAST inline __attribute__((always_inline)) bool
pm_command_begin_careful(struct pm_command *command, const VkCommandBufferBeginInfo *info)
{
    if (command->touched || command->pushed.wanted != 0 || !pm_command_begins_alike(command, info))
        return false;
    pm_command_begins_anew(command);
    command->lately.game[PM_GRAPHICS] = command->lately.game[PM_COMPUTE] = 0;
    command->plain_points = PM_BIND_POINTS;
    return true;
}

/* The same while these words of what is pushed are followed, and nothing has been. */
static PM_FAST inline __attribute__((always_inline)) bool
pm_command_begin_unpushed(struct pm_command *command, const VkCommandBufferBeginInfo *info,
                          uint64_t watched)
{
    if (command->touched || command->pushed.layout != VK_NULL_HANDLE ||
        command->pushed.wanted != watched || !pm_command_begins_alike(command, info))
        return false;
    pm_command_begins_anew(command);
    return true;
}

/* The same as any of them for one whose record is touched, and which may follow what is pushed. */
bool pm_command_begin_followed(struct pm_command *command, const VkCommandBufferBeginInfo *info);

/* Draws the countdown of a recording that is sampled and holds no calls twice. */
static inline void pm_command_count_down(struct pm_command *command)
{
    command->times = command->owes ? pm_sampling_times(command->device->sampling) : 1;
    command->countdown = pm_geometric_again(&command->random, &command->scale,
                                            command->probability * command->times);
    command->drawn += command->countdown;
}

/* Behind pm_command_begin: whether it is sampled or, where may_be_timed, timed. */
void pm_command_choose(struct pm_command *command, bool may_repeat, bool may_be_timed);

/* Of a recording that is sampled: whether each call is looked at, whatever the countdown to the
 * next one that is sampled. */
void pm_command_look_at_each(struct pm_command *command, bool each);

/* Nothing is put off any more, if anything was (put_off.h): at a draw, behind the query, or where
 * the recording ends. pm_passes_count_down is owed but in the last case. */
static inline void pm_command_put_off_ends(struct pm_command *command)
{
    if (!command->put_off)
        return;
    command->put_off = false;
    pm_sampling_end(command->device->sampling);
}

/* A call that is looked at; true: the countdown is through. */
bool pm_command_is_through(struct pm_command *command);

/* The recording ends: nothing of it is sampled or timed any more. */
void pm_command_end(struct pm_command *command);

/* The recording, if there is one, is over or given up: ends it and lets go of its variants. Vulkan
 * allows what leads here only when the GPU is done with the command buffer. Its measurements are
 * dropped before (trial/timing.h). */
void pm_command_drop(struct pm_command *command);

/* Draws anew the countdown to the next call that a recording with `predicated` may hold twice, with
 * the chance of each; takes up to so many of the device's sure ones, and gives back those that it
 * does not choose (predicated.h). */
void pm_command_count_twice(struct pm_command *command, double chance);
uint32_t pm_command_reserve_sure(struct pm_command *command, uint32_t wanted);
void pm_command_give_back_sure(struct pm_command *command, uint32_t count);

/* Names a variant in the recording, taking over one reference to it; *use (NULL is allowed): its
 * index among the uses. false: out of memory, and the reference stays the caller's. */
bool pm_command_use(struct pm_command *command, struct pm_variant *variant, uint32_t calls,
                    uint32_t *use);

/* The recording holds what it is about to name, until it is dropped. NULL: that does not go before
 * its pipeline. false: it goes, or out of memory, and is not to be named. */
bool pm_command_hold(struct pm_command *command, struct pm_hold *hold);

/* Whether a submission of the recording, as it is now, counts anything. */
bool pm_command_counts(const struct pm_command *command);

/* Room for one more in an array of a record; NULL: out of memory, and it is as it was. */
void *pm_command_reserve(void *array, uint32_t count, uint32_t *capacity, size_t size);
