/*
 * What is kept of one variant from session to session (verdicts.h): how it is made again, and what
 * is known of its speed.
 *
 * Thread safety: plain data.
 */
#pragma once

#include "base/anytime.h"
#include "profile/profile.h"
#include "profile/words_store.h"

enum {
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

enum { PM_KEPT_DAY = 24 * 60 * 60 }; /* seconds */

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
    bool variant;    /* the side */
    int64_t at;      /* CLOCK_REALTIME, seconds */
    uint32_t unlike; /* sessions in a row up to this one that had nothing of
                        one size with the one before, of the other side */
    uint32_t share;  /* of the session's time that all of them took, in millionths */
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
        struct pm_session_half own;        /* the latest session with the game's own */
        int64_t charged;                   /* nanoseconds that sessions with it took longer */
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

/* The verdict at `now` (CLOCK_REALTIME, seconds); NONE: there is none, or it is old. A time that
 * lies ahead is of a clock that was wrong, so it is old. */
enum pm_verdict pm_kept_verdict(const struct pm_kept_variant *kept, int64_t now);

/* Ratios are kept as whole numbers: how a fraction is written depends on the game's locale. */
#define PM_KEPT_PER_RATIO 1000000.0
/* A ratio as it is kept: in millionths, at least one, which its logarithm needs. */
uint32_t pm_kept_millionths(double ratio);

bool pm_kept_same_environment(const struct pm_environment *a, const struct pm_environment *b);
