/*
 * A-Z testing of one shader on this device (Cooperative PGO, section 4.3): which of the recipes'
 * variants (shader_rewrite/variants) is tried next, and which one wins. Measurements go where
 * successive halving sends them (base/halving.h); what wins is then tried anew as any specialized
 * shader is, on calls that did not choose it, and only that may bind it.
 *
 * One that does not end goes on in the next session: what was seen of each variant is kept. The
 * oldest contest comes first wherever several wait for the compiler, so that one ends before all
 * have begun. In which order a round's variants are measured is drawn.
 *
 * First come the recipes by themselves, and the subgroup sizes that the pipeline may require; then,
 * where one of them won, the best of them in pairs, one after the other in either order, against
 * that one.
 *
 * Where something known made a shader faster (zeros, words, blocks), the recipes are run over that
 * specialized module in a contest of its own, and each is timed against that module's pipeline
 * instead of the game's: what wins has beaten the best that there was. Such a contest takes no part
 * in races (contest_race.h), since others may have another module.
 *
 * A variant whose words another one has, or which an earlier session's trial left, does not take
 * part. Here is no pipeline: optimize_contest_private.h has those.
 *
 * Of variants that are about as fast as the fastest the first is taken (base/halving.h), in the
 * order of the list of recipes (pm_variant_rank), after what is known to have won before: so that
 * contests have the same winner, and not the luckiest.
 *
 * What cannot win any more goes, its pipeline once no recording names it (hold.h), so that others
 * have its room.
 *
 * Ownership: a contest belongs to its table and lives until that is destroyed. Thread safety: a
 * contest's functions are for one thread at a time (the optimizer's), but for what is said to be
 * for others.
 */
#pragma once

#include "base/halving.h"
#include "layer/shader/pipeline_list.h"
#include "layer/shader/specialized.h"

struct pm_contests;
struct pm_optimized;

/* The rank of what is known to have won before: in an earlier session of this machine, or among
 * others' machines. */
enum { PM_CONTEST_KNOWN = 0 };

/* One of the variants. */
struct pm_arm {
    struct pm_variant_choice choice;
    struct pm_specialized_shader *shader; /* arm_shader.h; NULL: it takes no part */
    struct pm_optimized *built; /* for the contest's pipeline; that pipeline's; NULL: not */
    bool made;                  /* the shader was, or cannot be */
    bool failed;                /* it cannot be built */
    bool tried;                 /* it was chosen: its own trial has the verdict */
};

enum pm_contest_state {
    PM_CONTEST_OPEN,    /* variants are measured */
    PM_CONTEST_CONFIRM, /* what won is tried */
    PM_CONTEST_WON,
    PM_CONTEST_OVER, /* without a winner */
};

struct pm_contest {
    struct pm_contests *owner;
    const struct pm_shader_record *record;
    const struct pm_specialized_shader *base; /* that recipes are run over, and compared with; NULL:
                                                 the canonical module, and the game's own */
    uint32_t withheld; /* enum pm_part: of the shader, which no variant may have */
    struct pm_halving halving;
    struct pm_random random; /* of the order in which variants are measured */
    struct pm_arm *arms;     /* PM_HALVING_MOST; once it is over what was chosen, if anything was */
    bool paired;             /* the pairs take part */
    uint32_t alone;          /* then: the arm that had won without them */
    uint32_t current, winner; /* arms */
    _Atomic uint32_t state;   /* enum pm_contest_state */
    _Atomic bool due;         /* something came of it; set by any thread */
    _Atomic bool has_result;  /* an arm was measured; set by the poller's thread behind the next
                                 two, and taken back by the contest's */
    uint32_t result_of;       /* the arm */
    struct pm_anytime result;
    _Atomic bool idle; /* nothing of it was timed for a while; set by a thread of the game's */
    bool suspended;    /* it is none of those that are open: no pipeline has the shader just now, or
                          it is idle, or blocked */
    bool blocked;      /* it goes on when there is room for one more variant */
    bool measuring;    /* the current arm is */
    bool built, refused;                    /* an arm was by the driver, in this session */
    struct pm_pipeline *pipeline;           /* that is measured with; referenced; NULL: none */
    _Atomic(struct pm_pipeline *) won_late; /* whose trial went on after the contest was over, and
                                               found it faster; referenced; set by the poller's
                                               thread; NULL: none */
    struct pm_pipeline_list waiting;        /* that have the shader, too, for when it is over */
    struct pm_contest *next;
};

/* NULL: out of memory. What is given must outlive it. */
struct pm_contests *pm_contests_create(struct pm_device *device, struct pm_journal *journal);
/* Lets go of the pipelines, and of what the journal has of variants. NULL is allowed. */
void pm_contests_destroy(struct pm_contests *contests);

/* The contest of a shader, or of a specialized one (base; NULL: none), begun when there is none.
 * NULL: it can have none, or as many as may be are open, and the pipeline waits until one ends. As
 * slow as a compiler. */
struct pm_contest *pm_contests_get(struct pm_contests *contests,
                                   const struct pm_shader_request *request,
                                   const struct pm_specialized_shader *base,
                                   struct pm_pipeline *pipeline);
/* "shader 0123456789ab", with ", specialized" where recipes are run over that. */
enum { PM_CONTEST_NAME = 40 };
void pm_contest_name(const struct pm_contest *contest, char name[PM_CONTEST_NAME]);

/* One that waits so, whose reference becomes the caller's; NULL: none, or it is to wait on. */
struct pm_pipeline *pm_contests_take_later(struct pm_contests *contests);

/* Another one may be open meanwhile; or it is one of those again, though they be more then. */
void pm_contest_suspend(struct pm_contest *contest, bool suspended);
/* One that is suspended and has a pipeline to measure with, and so may have variants that nothing
 * is done with for now; NULL: none. */
struct pm_contest *pm_contests_idle(const struct pm_contests *contests);
/* The next one that is due, which it then is not any more; NULL: none. */
struct pm_contest *pm_contests_due(struct pm_contests *contests);

/* There may be room again: those that are blocked are due. */
void pm_contests_unblock(struct pm_contests *contests);

/* All have been measured: the best recipes in pairs take part from now on. false: they do already,
 * or there are no two that are worth it. */
bool pm_contest_pair(struct pm_contest *contest);

/* Once all have been measured, pairs too: the winner, which is no pair that was not shown to be
 * faster than one of its two alone, since of as many pairs as there are chance makes one the
 * fastest. false: there is none, or none is left that can be built. */
bool pm_contest_winner(struct pm_contest *contest);
/* Whether an arm may still be it: it is measured on, or is the best that is no pair. */
bool pm_contest_may_choose(const struct pm_contest *contest, uint32_t arm);
/* The winner cannot be built. */
void pm_contest_give_up(struct pm_contest *contest);

/* Makes the module of an arm, at most once, and of all in front of it: of arms that come out equal
 * the first takes part, in whatever order they are measured. What an earlier session has seen of
 * them counts as seen. false: it takes no part. */
bool pm_contest_make(struct pm_contest *contest, uint32_t arm);

/* Keeps what was seen of an arm, so that a later session goes on where this one ends. */
void pm_contest_keep(const struct pm_contest *contest, uint32_t arm);

/* The winner's shader. NULL: none was left that could be built when it ended, and what was found
 * faster since was chosen before. */
const struct pm_specialized_shader *pm_contest_chosen(const struct pm_contest *contest);

/* It is over: keeps for later sessions what lost, and in memory what was chosen alone. won: the
 * winner was found faster once more. */
void pm_contest_finish(struct pm_contest *contest, bool won);
