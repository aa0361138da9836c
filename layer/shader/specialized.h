/*
 * What was made of a shader in place of the game's: its words, how it was made, and what is known
 * of it. Who makes it: specialize.h, recipe_shader.h, passes_cut.h; who keeps it:
 * specialized_shader.h, contest.h.
 *
 * Thread safety: no state; a shader belongs to one thread at a time until it is published.
 */
#pragma once

#include "layer/shader/known_words.h"
#include "profile/journal.h"
#include "profile/verdicts.h"
#include "shader_rewrite/shader_rewrite.h"

/* What is known of the specialized module's time over the original's when the session begins. */
enum pm_timing_verdict { PM_TIMING_UNDECIDED, PM_TIMING_FASTER, PM_TIMING_SLOWER };

/* The side that a session has which is part of a trial over sessions (trial/sessions.h). */
enum pm_session_side {
    PM_SESSION_NONE,
    PM_SESSION_ORIGINAL,
    PM_SESSION_LOOK, /* likewise, but of no pair: what the original takes is to be known, or the
                        variant waits */
    PM_SESSION_VARIANT
};

/* What is known of the shader's part in such a trial when the session begins. */
struct pm_session_part {
    enum pm_session_side otherwise; /* the side where an untried variant has to wait */
    uint32_t share; /* of a session's time that what draws with the original took, in millionths */
    uint64_t time;  /* nanoseconds that each such use took, on average */
    double ratio;   /* time with it over time without by the verdict; 0: there is none */
};

/* What is known of a shader, whether of use or not: bits. */
enum pm_known_of {
    PM_KNOWN_ZEROS = 1 << 0,  /* its zero profile */
    PM_KNOWN_BLOCKS = 1 << 1, /* its block profile */
    PM_KNOWN_VALUES = 1 << 2, /* values that this machine has seen */
};

/* Where a specialized shader may run. */
enum pm_specialized_use {
    PM_USE_ANYWHERE, /* it looks for itself whether its values are zero, or its uniforms known */
    PM_USE_PUSHED,   /* where push constants have the values of `known` */
    PM_USE_PASSES,   /* anywhere, in several passes */
    PM_SPECIALIZED_USES
};

struct pm_specialized_shader {
    struct pm_shader_key original; /* the game's, of which it or its base was made */
    const struct pm_specialized_shader
        *base;                /* what a recipe was run over, and has to beat; NULL: the original */
    const char *entry_point;  /* of the module; owned */
    struct pm_shader_key key; /* of the specialized module's words, or of all passes' */
    struct pm_environment environment; /* of its timing profiles */
    struct pm_specialized module;      /* empty: it is cut into passes */
    struct pm_partitioned partitioned; /* of PM_USE_PASSES alone */
    struct pm_known_words known; /* words that it was made for; of such a module nothing leaves the
                                    machine, not even its key, which tells values from others */
    uint32_t changes;            /* in the module, by how often blocks run */
    uint32_t changes_by[PM_BLOCK_PASSES]; /* each pass */
    uint32_t made_of;                     /* enum pm_known_of: what was known */
    uint32_t made_by;                     /* enum pm_made_by: what of it was of use */
    char recipe[PM_VARIANT_NAME];         /* of PM_MADE_BY_RECIPE: which variant; "": none */
    uint32_t subgroup_size;               /* that its pipelines require by that; 0: as the game's */
    bool is_private;                      /* it was made for known words */
    bool is_pushed;                       /* of push constants */
    enum pm_uniform_reads reads;          /* of the pipelines that it is for */
    enum pm_timing_verdict timing; /* by this machine's own verdict: UNDECIDED, or FASTER, which is
                                      bound without a trial */
    enum pm_timing_verdict published; /* by the database; says what is worth trying again */
    enum pm_session_side session;     /* NONE but for pm_specialized_shaders_proven */
    struct pm_session_part part;      /* where that is not NONE */
    struct pm_journal_entry *entry;
};

/* What its pipeline costs the thread that creates it. */
struct pm_making_cost {
    int64_t took; /* nanoseconds of processor time that the driver took last; 0: not known */
    bool worth;   /* what an earlier session kept of its gain is worth that, where there is not
                     enough time for all (pm_kept_is_worth) */
};

/* The key of a variant: of its words, and of the subgroup size that its pipelines are to require.
 */
struct pm_shader_key pm_specialized_key(const struct pm_words *words, uint32_t subgroup_size);

/* With debug.slow_variants the words do their work twice from now on, with debug.slow_guards where
 * all guards fail; `from` is what they were made of. false: they cannot. */
bool pm_specialized_slow_down(const struct pm_device *device, const struct pm_words *from,
                              struct pm_words *words, struct pm_error *error);

/* The key of what it was made of and is compared with: a verdict on it and its timings are of that.
 */
static inline const struct pm_shader_key *
pm_specialized_from(const struct pm_specialized_shader *shader)
{
    return shader->base ? &shader->base->key : &shader->original;
}

/* What a variant has (enum pm_part). */
uint32_t pm_specialized_parts(const struct pm_specialized_shader *shader);
/* By what of what was known it was made (enum pm_made_by), for who counts them: a recipe that needs
 * no block profile is not by blocks, whatever passes it runs. */
uint32_t pm_specialized_counts_as(const struct pm_specialized_shader *shader);
/* Which recipe's it is, for the log, behind what is said of it: " (hoist)", or " (hoist over
 * 0123456789ab)" of what was made of the shader before; with whose, " (of shader 89abcdef0123,
 * hoist)".
 * "": no recipe's. */
enum { PM_SPECIALIZED_OF = 128 };
void pm_specialized_say_of(const struct pm_specialized_shader *shader, bool whose,
                           char text[PM_SPECIALIZED_OF]);
/* What was made, for the log: "is specialized: ...". */
enum { PM_SPECIALIZED_TEXT = 320 };
void pm_specialized_describe(const struct pm_specialized_shader *shader, enum pm_stage stage,
                             char text[PM_SPECIALIZED_TEXT]);
