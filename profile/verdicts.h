/*
 * What this machine's own trials said of a game's specialized variants, kept from session to
 * session (HAZARDS 21, 24): only what was timed here counts, never what others published.
 *
 * On the disk, beside the journal of safe mode (journal.h), so that PIECEMEAL_JOURNAL moves both:
 * `$PLACE_DATA/journal/<safe name of game>/verdicts`, a text, read once and replaced whole (rename)
 * whenever something is learned, so that a session that is killed keeps what it learned before.
 * Several processes of a game share it: what another one has written meanwhile stays, also of the
 * same variant, but for what this one has learned itself; of two verdicts the later one stays. Of
 * another build of the layer or damaged it is ignored. It has PM_VERDICTS_MOST variants at most;
 * which goes then says pm_kept_put.
 *
 * A variant is named by the key of the specialized module, by that of what it was made of, and by
 * its environment with device, driver and driver's version: a new driver or PGO database has no
 * verdicts. Two originals may become the same module, and each has its own: what the one may run
 * with, and what it gained, is not the other's.
 *
 * A driver may make one shader's pipelines in one process faster than in the next (where code and
 * images lie in memory decides, docs/results/variants.md), so a trial's interval says nothing of
 * the next process. What each session's trial found is kept, and whether they agree can be asked. A
 * session is what pm_verdicts_open begins: two instances of one process count as two.
 *
 * Thread safety: any thread, but for opening and closing. A forked child's copy is not saved.
 */
#pragma once

#include "base/anytime.h"
#include "base/buffer.h"
#include "base/error.h"
#include "profile/profile.h"
#include "profile/signed_verdicts.h"
#include "profile/words_store.h"

enum {
    PM_VERDICTS_MOST = 4096,
    PM_KEPT_NAME_BYTES = 48,
    PM_KEPT_RECIPE_BYTES = 64,
    PM_KEPT_PUSHED = 4,
    PM_SESSION_USES = 8,   /* of a shader that are timed in a session */
    PM_SESSION_PAIRS = 32, /* of sessions, at most */
    PM_SESSIONS_TRIED = 8, /* whose trials are remembered */
};

/* Days until a verdict is old. A faster variant is tried again then; a slower one may be compiled
 * again, and so may one that trials could not tell from the original. */
enum {
    PM_DAYS_FASTER = 90,
    PM_DAYS_SLOWER = 30,
    PM_DAYS_UNDECIDED = 7,
    PM_DAYS_HALF = 14, /* until a session is no partner for another one any more */
};

enum pm_verdict { PM_VERDICT_NONE, PM_VERDICT_FASTER, PM_VERDICT_SLOWER, PM_VERDICT_UNDECIDED };

/* What a variant was made by: bits. */
enum pm_made_by {
    PM_MADE_BY_ZEROS = 1 << 0,  /* values that are often zero */
    PM_MADE_BY_BLOCKS = 1 << 1, /* how often blocks run */
    PM_MADE_BY_WORDS = 1 << 2,  /* known words */
    PM_MADE_BY_RECIPE = 1 << 3, /* A-Z testing */
    PM_MADE_OVER = 1 << 4,      /* that, run over what the others made; never made at once */
};

/* What was timed. */
enum pm_timed_kind { PM_TIMED_CALLS, PM_TIMED_PASSES, PM_TIMED_SESSIONS };

/* What a session timed that had the one side throughout. */
struct pm_session_half {
    bool there;
    bool variant;                          /* the side */
    int64_t at;                            /* CLOCK_REALTIME, seconds */
    uint32_t unlike;                       /* sessions in a row up to this one that had nothing of
                                              one size with the one before, of the other side */
    uint64_t nanoseconds[PM_SESSION_USES]; /* by use; 0: none */
    uint64_t work[PM_SESSION_USES];        /* tells uses of different size apart; 0: not known, or
                                              without a time none; else without one the use was
                                              there, and could not be timed */
};

struct pm_kept_variant {
    struct pm_shader_key key, original; /* of the specialized module and of what it was made of */
    struct pm_environment environment;  /* of its timing profiles */
    int64_t used_at;                    /* CLOCK_REALTIME, seconds */

    /* How it is made again; count 0: not known, and the rest says nothing. */
    struct {
        uint64_t options;          /* all but key and environment that the module depends on */
        struct pm_words_hash hash; /* of its words, in the store of words */
        uint32_t count;
        char entry_point[PM_KEPT_NAME_BYTES]; /* one word */
        uint64_t took; /* nanoseconds of processor time that the driver's thread took last */
        uint32_t by;   /* enum pm_made_by */
        char recipe[PM_KEPT_RECIPE_BYTES]; /* which of A-Z testing's, one word; "": none */
        /* Words of push constants (offset in bytes over 4, 63 at most) and the values with which
         * alone it may run; none: wherever the original does. */
        struct {
            uint32_t word, value;
        } pushed[PM_KEPT_PUSHED];
        uint32_t pushed_count;
    } made;

    /* A trial over sessions (layer/trial/sessions.h). */
    struct {
        bool wanted;                       /* nothing can alternate within a session */
        uint32_t count;                    /* of pairs of sessions */
        uint32_t ratios[PM_SESSION_PAIRS]; /* time with it over time without, in millionths */
        struct pm_session_half half;       /* of the next pair */
    } sessions;

    /* What a contest that did not end has seen of it (layer/shader/contest.h), and when; count 0:
     * nothing. A verdict ends it. */
    struct pm_anytime seen;
    int64_t seen_at; /* CLOCK_REALTIME, seconds */

    enum pm_verdict verdict; /* NONE: all below says nothing */
    enum pm_timed_kind kind;
    double ratio, low, high; /* time with it over time without, and the 95 % interval */
    uint32_t pairs;
    int64_t decided_at; /* CLOCK_REALTIME, seconds */

    /* What trials of the kind found, one a session, the newest last; none that found it slower. */
    struct {
        uint64_t last; /* the session of the newest; a random number */
        uint32_t count;
        uint32_t ratios[PM_SESSIONS_TRIED]; /* time with it over time without, in millionths */
    } tried;

    uint32_t fresh; /* verdicts.c's: which parts are not saved yet; not on the disk */
};

struct pm_verdicts;

/* folder NULL: where the journal is (journal_folder.h). layer: the build's name, of one word
 * (layer/core/build_name.h): what specializes may change from one to the next, its version need
 * not. NULL: out of memory, or no home. *damaged (may be NULL): code PM_OK, or what was ignored.
 * Reads a small file. */
struct pm_verdicts *pm_verdicts_open(const char *folder, const char *game, const char *layer,
                                     struct pm_error *damaged);
/* Copies what is kept, of whatever build, of a game (its safe name; NULL: of all) into a folder
 * that another PIECEMEAL_JOURNAL may name. from as above. */
bool pm_verdicts_copy(const char *from, const char *to, const char *game, struct pm_error *error);
/* Frees it; what was not saved is lost. NULL is allowed. */
void pm_verdicts_close(struct pm_verdicts *verdicts);

/* What is kept of a variant. false: nothing. verdicts NULL is allowed. */
bool pm_verdicts_find(struct pm_verdicts *verdicts, const struct pm_shader_key *key,
                      const struct pm_shader_key *original,
                      const struct pm_environment *environment, struct pm_kept_variant *kept);

/* Of the variants of an original that were found faster and can be made again, the one that was
 * tried last; one of which at least so many sessions are sure (pm_kept_is_sure) before others. */
bool pm_verdicts_find_faster(struct pm_verdicts *verdicts, const struct pm_shader_key *original,
                             const struct pm_environment *environment, uint64_t options,
                             int64_t now, uint32_t least, struct pm_kept_variant *kept);

/* Likewise of those without a verdict that are to be tried over sessions, the one that was used
 * last.
 */
bool pm_verdicts_find_session(struct pm_verdicts *verdicts, const struct pm_shader_key *original,
                              const struct pm_environment *environment, uint64_t options,
                              int64_t now, struct pm_kept_variant *kept);

/* Likewise of those that this machine has no verdict on, and an operator signed as faster in an
 * environment as these verdicts name it; the one that was used last. */
bool pm_verdicts_find_signed(struct pm_verdicts *verdicts, const struct pm_signed_verdicts *by,
                             const struct pm_environment *by_environment,
                             const struct pm_shader_key *original,
                             const struct pm_environment *environment, uint64_t options,
                             int64_t now, struct pm_kept_variant *kept);

/* Whether there may be any at all that a verdict or sessions are about, in the environment,
 * whatever the subgroup size. */
bool pm_verdicts_any_at_once(struct pm_verdicts *verdicts,
                             const struct pm_environment *environment);

/* What all of them take that are found faster by a verdict at `now` of which at least so many
 * sessions are sure, and gain: shares of the time of what they stand for. Without PM_MADE_OVER. */
struct pm_at_once_sum {
    double took, gain; /* took: nanoseconds */
};
struct pm_at_once_sum pm_verdicts_sum_at_once(struct pm_verdicts *verdicts,
                                              const struct pm_environment *environment, int64_t now,
                                              uint32_t least);
/* Where there are so many nanoseconds for all, whether one of them is to be made first: there is
 * enough, or it gains as much for its time as all do on average. */
bool pm_kept_is_worth(const struct pm_kept_variant *kept, const struct pm_at_once_sum *all,
                      double time);

/* The verdict at `now` (CLOCK_REALTIME, seconds); NONE: there is none, or it is old. A time that
 * lies ahead is of a clock that was wrong, so it is old. */
enum pm_verdict pm_kept_verdict(const struct pm_kept_variant *kept, int64_t now);

/* Keeps a verdict (from `verdict` on), or how a variant is made (`made`), in place of what there
 * was of it; until pm_verdicts_save in memory only. verdicts NULL is allowed. */
void pm_verdicts_put(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept);
void pm_verdicts_put_made(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept);

/* Keeps the verdict of a trial within this session. What those of other sessions found, which are
 * not old, counts as well: it stays a faster one while it is faster on average over sessions, and
 * is undecided if PM_SESSIONS_TRIED of them do not agree. A slower one is slower. */
void pm_verdicts_put_trial(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept);
/* Whether at least so many sessions found a faster one faster, and by so alike ratios that the 95 %
 * interval of their mean says so. least 1: always. A trial over sessions has asked enough of them.
 */
bool pm_kept_is_sure(const struct pm_kept_variant *kept, uint32_t least);

/* Keeps what a contest has seen of a variant (`seen` and `seen_at`), in place of what it had. */
void pm_verdicts_put_seen(struct pm_verdicts *verdicts, const struct pm_kept_variant *kept);

/* Nothing could be timed in turn of a variant that is kept: it is to be tried over sessions, which
 * begin without a pair. Not wanted: nothing could be timed over sessions. A verdict of what was
 * timed in turn takes it back, too. */
void pm_verdicts_want_sessions(struct pm_verdicts *verdicts, const struct pm_shader_key *key,
                               const struct pm_shader_key *original,
                               const struct pm_environment *environment, bool wanted);
/* What a session timed of it becomes a pair with what an earlier one did on the other side, or
 * waits for one. true: it is a pair; *kept has them all. */
bool pm_verdicts_add_half(struct pm_verdicts *verdicts, const struct pm_shader_key *key,
                          const struct pm_shader_key *original,
                          const struct pm_environment *environment,
                          const struct pm_session_half *half, struct pm_kept_variant *kept);
/* Whether the half waits for a partner at `now`. */
bool pm_session_half_waits(const struct pm_session_half *half, int64_t now);

/* Brings what is new to the disk; no call where nothing is. Waits for the disk: not for a game's
 * own threads. */
bool pm_verdicts_save(struct pm_verdicts *verdicts, struct pm_error *error);

/* ---- the text; for verdicts.c and tests ---- */

struct pm_kept_table {
    struct pm_kept_variant *variants;
    size_t count, allocated;
};

/* The variant of a key, original and environment; NULL: there is none. */
struct pm_kept_variant *pm_kept_find(const struct pm_kept_table *table,
                                     const struct pm_shader_key *key,
                                     const struct pm_shader_key *original,
                                     const struct pm_environment *environment);
/* A ratio as it is kept: in millionths, at least one, which its logarithm needs. */
uint32_t pm_kept_millionths(double ratio);

bool pm_kept_same_environment(const struct pm_environment *a, const struct pm_environment *b);
/* Puts a variant in; of too many, what was used longest ago goes: what no trial found faster and no
 * session is to try, then what sessions are to, and then the rest. false: out of memory. */
bool pm_kept_put(struct pm_kept_table *table, const struct pm_kept_variant *kept);

/* Reads a text; of another build of the layer it is empty. false: damaged, and where, or no memory;
 * *table is empty then. */
bool pm_kept_parse(struct pm_kept_table *table, const char *layer, const char *text, size_t size,
                   struct pm_error *error);
bool pm_kept_format(const struct pm_kept_table *table, const char *layer, struct pm_buffer *out);
