/*
 * What is made of a shader by the PGO database (specialize.h), or the passes that it is cut into
 * (passes.h), once however many pipelines use it, and whether it may be used: not without a
 * published profile (passes need none), not when the journal holds it
 * back (HAZARDS 22), not when an earlier session's trial on this machine found it no faster
 * (HAZARDS 21, profile/verdicts.h); and where there was none, not when a published timing profile
 * of this very module on this device says that it is slower, unless this machine is one of those
 * that doubt it. What is published never makes one faster (HAZARDS 24): that takes a trial.
 *
 * Ownership: a shader belongs to its table and lives until that is destroyed. Thread safety: any
 * thread, at any time. Getting one takes as long as a compiler does: compile threads only.
 */
#pragma once

#include "layer/shader/known_words.h"
#include "layer/shader/shader_record.h"
#include "profile/journal.h"
#include "profile/verdicts.h"
#include "shader_rewrite/shader_rewrite.h"

/* What is known of the specialized module's time over the original's when the session begins. */
enum pm_timing_verdict { PM_TIMING_UNDECIDED, PM_TIMING_FASTER, PM_TIMING_SLOWER };

/* The side that a session has which is part of a trial over sessions (trial/sessions.h). */
enum pm_session_side { PM_SESSION_NONE, PM_SESSION_ORIGINAL, PM_SESSION_VARIANT };

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
    struct pm_shader_key original;     /* what it was made of */
    const char *entry_point;           /* of the module; owned */
    struct pm_shader_key key;          /* of the specialized module's words, or of all passes' */
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
    struct pm_journal_entry *entry;
};

struct pm_specialized_shaders;

/* The key of a variant: of its words, and of the subgroup size that its pipelines are to require.
 */
struct pm_shader_key pm_specialized_key(const struct pm_words *words, uint32_t subgroup_size);

/* With debug.slow_variants: the words do their work twice from now on. false: they cannot. */
bool pm_specialized_slow_down(const struct pm_device *device, struct pm_words *words,
                              struct pm_error *error);

/* NULL: out of memory. The journal must outlive it. */
struct pm_specialized_shaders *pm_specialized_shaders_create(struct pm_device *device,
                                                             struct pm_journal *journal);
/* NULL is allowed. */
void pm_specialized_shaders_destroy(struct pm_specialized_shaders *shaders);

/* The one that an earlier session on this machine found faster or made and an operator signed as
 * faster, or that is tried over sessions, where it can be had without making anything, and how many
 * nanoseconds the driver took for its pipeline last. Reads two small files at most. NULL: there is
 * none, or only later. */
const struct pm_specialized_shader *
pm_specialized_shaders_proven(struct pm_specialized_shaders *shaders,
                              const struct pm_shader_request *request, enum pm_specialized_use use,
                              int64_t *took);
/* Whether optimize.withhold withholds the variants of A-Z testing of the shader. Takes as long as
 * finding its key out does. */
bool pm_specialized_shaders_withhold(const struct pm_specialized_shaders *shaders,
                                     const struct pm_shader_request *request);
/* What a variant has (enum pm_part). */
uint32_t pm_specialized_parts(const struct pm_specialized_shader *shader);
/* Whether there may be any of these. */
bool pm_specialized_shaders_any_proven(const struct pm_specialized_shaders *shaders);

/* The driver made a pipeline with it in so many nanoseconds, which later sessions are to know, and
 * with which push constants it may run; on a game's own thread or on a compile thread. Not of what
 * runs in several passes. */
void pm_specialized_shaders_took(struct pm_specialized_shaders *shaders,
                                 const struct pm_specialized_shader *shader, int64_t took,
                                 bool own_thread);
/* Brings that to the disk. Compile threads only. */
void pm_specialized_shaders_save(struct pm_specialized_shaders *shaders);

/* The specialized shader of a pipeline's stage; NULL: there is none to use, and why was logged. */
const struct pm_specialized_shader *
pm_specialized_shaders_get(struct pm_specialized_shaders *shaders,
                           const struct pm_shader_request *request, enum pm_specialized_use use);
