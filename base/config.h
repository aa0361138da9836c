/*
 * The configuration of one game (docs/config.md, manifest/config.schema.json): JSON, overridden by
 * PIECEMEAL_<SECTION>_<KEY> from the environment, overridden by `--set section.key=value` of the
 * command line (which `piecemeal run` passes on through the environment).
 *
 * Thread safety: a struct pm_config is read-only once loaded and may then be read from any thread.
 */
#pragma once

#include "base/error.h"
#include "base/log.h"
#include <stddef.h>
#include <stdint.h>

enum pm_kind_bit {
    PM_KIND_BIT_BLOCK = 1,
    PM_KIND_BIT_ZERO = 2,
    PM_KIND_BIT_TIMING = 4,
    PM_KIND_BIT_CONSTANT = 8,
    PM_KIND_BIT_TURNS = 16,
    PM_KIND_BITS_ALL = 31,
};
/* optimize.block_passes: shader_rewrite/blocks' passes, by their places there. */
#define PM_BLOCK_PASS_BITS_ALL 63u
/* What is built of a shader that has a zero profile (debug.specialize). */
enum pm_specialize {
    PM_SPECIALIZE_PROFILE,   /* what the profile makes worth while */
    PM_SPECIALIZE_ALL,       /* whatever may be transformed: for tests */
    PM_SPECIALIZE_CANONICAL, /* the canonical module itself: for benchmarks */
};
/* What goes beyond AZP where it is built (debug.beyond; docs/specialized.md). */
enum pm_beyond {
    PM_BEYOND_NONE,
    PM_BEYOND_FIT,   /* regions that begin and end where that pays best */
    PM_BEYOND_HOIST, /* checks in earlier blocks */
    PM_BEYOND_PAIRS, /* one check for two candidates */
    PM_BEYOND_ALL,
};
enum pm_float_zero { PM_FLOAT_ZERO_SHADER, PM_FLOAT_ZERO_NEVER, PM_FLOAT_ZERO_ALLOW };

#define PM_BATCH_ALL UINT32_MAX

/* optimize.uniform_share where nothing is said: the offload RFC's. */
#define PM_UNIFORM_SHARE 0.9

/* limits.background_share where nothing is said. */
#define PM_BACKGROUND_SHARE 0.05

struct pm_config {
    char *game_name;         /* NULL: find out (DESIGN: identity of a game) */
    char *game_scene_labels; /* NULL: none; how debug labels begin that name a scene */
    char *game_scene;        /* NULL: none; a tag for the uploads of this session */
    struct {
        double window_probability;
        uint32_t window_frames;
        double api_probability;
        uint32_t batch;  /* PM_BATCH_ALL for "all" */
        bool uniformity; /* false: of blocks lanes alone are counted */
        bool follow; /* of whole batches lanes are counted in some blocks, those of others follow */
        uint32_t kinds; /* enum pm_kind_bit */
        bool seed_set;
        uint64_t seed;
    } sampler;
    struct {
        bool zero, blocks, variants, constants;
        bool partition; /* large compute shaders in several passes */
        enum pm_float_zero float_zero;
        uint32_t block_passes;      /* bits */
        char *withhold;             /* file of the shaders that keep the game's own; NULL: none */
        uint32_t agreeing_sessions; /* that found faster what is used untried, at least */
        double retry_share;         /* of the sessions in which a kept verdict is tried again */
        double doubt_share;         /* of the machines that try what is published as slower */
        double uniform_share; /* of a block's lanes that entered it with their whole subgroup, from
                                 which on the block is uniform */
    } optimize;
    struct {
        char *url, *token_file, *ca_file, *verdict_key_file; /* NULL: none */
    } aggregator;
    bool consent_withheld; /* consent.upload is false here; it can never grant */
    struct {
        uint32_t compile_threads;
        uint32_t counter_memory_mib, scratch_mib, spool_mib, shader_store_mib, pipeline_cache_mib;
        uint32_t variants, variants_per_minute, creation_ms, loading_ms, predicates;
        uint32_t proven_ms_per_pipeline, proven_ms_per_second;
        uint32_t synchronous_words; /* of SPIR-V, a shader */
        uint32_t first_draw_words;  /* of SPIR-V, a heartbeat */
        double background_share;    /* of one core; 1: as much as there is */
        double trial_share;         /* of the frames' time */
    } limits;
    struct {
        enum pm_log_level level;
        char *file; /* NULL: stderr of `piecemeal run` (descriptor in PIECEMEAL_LOG_FD), else
                       nowhere */
    } log;
    struct {
        uint32_t frames; /* heartbeats of a block */
        char *file;      /* NULL: nothing is compared; `piecemeal run --ab` sets it */
    } ab;
    struct {
        char *file; /* NULL: nothing is told; `piecemeal run --trace` sets it */
    } trace;
    struct {
        enum pm_beyond beyond;
        bool synchronous, trust_variants, slow_variants, slow_guards;
        enum pm_specialize specialize;
        char *recipe;                   /* with which shaders are built, untried; NULL: none */
        char *partition_limits;         /* a preset, or a number of operations; NULL: "registers" */
        char *variants_folder;          /* where specialized modules are kept; NULL: nowhere */
        uint32_t checkpoint_heartbeats; /* 64 */
        uint32_t settle_seconds;        /* profile/journal.h; 600 */
        uint32_t slow_from;             /* heartbeat; 0: none */
    } debug;
};

/* The defaults of DESIGN.md. */
void pm_config_init(struct pm_config *config);
void pm_config_finish(struct pm_config *config);

/* Merges a JSON text over *config. name is what errors call it. On failure the message is
 * "name:line:column: what is wrong" and *config is as it was. Unknown keys are errors, with the
 * nearest known key suggested. */
bool pm_config_parse(struct pm_config *config, const char *name, const char *text, size_t size,
                     struct pm_error *error);

/* As pm_config_parse, from a file. */
bool pm_config_load_file(struct pm_config *config, const char *path, struct pm_error *error);

/* A game's own configuration over *config: the file that PIECEMEAL_CONFIG names, else that of
 * pm_config_game_path where there is one (game may be NULL) with a consent that is withheld by
 * pm_config_shared_path, then the environment. */
bool pm_config_load_game(struct pm_config *config, const char *game, struct pm_error *error);

/* The same of a game of which something waits to be sent: PIECEMEAL_CONFIG, which is for the game
 * that is started, does not replace its file. environment: as of pm_config_apply_environment. */
bool pm_config_load_waiting(struct pm_config *config, const char *game, char *const *environment,
                            struct pm_error *error);

/* Where a game's own file is, there or not: $PLACE_CONFIG/<safe name of game>.json; malloc'ed.
 * NULL: no home, or out of memory. */
char *pm_config_game_path(const char *game);

/* Where the file of the name that the game shares with others (base/shared_name.h) is, there or
 * not. A consent that is withheld there is withheld for the game; nothing else of it is the game's.
 * malloc'ed. NULL: it shares no name, no home, or out of memory. */
char *pm_config_shared_path(const char *game);

/* Sets one key from text, "sampler.batch" = "all"; what names the source in errors. */
bool pm_config_set(struct pm_config *config, const char *key, const char *value, const char *what,
                   struct pm_error *error);

/* Applies every PIECEMEAL_<SECTION>_<KEY> of environment (NULL-terminated as environ is). Variables
 * that are not keys (PIECEMEAL_ENABLE, PIECEMEAL_CONFIG…) are left alone; a bad value is an error.
 */
bool pm_config_apply_environment(struct pm_config *config, char *const *environment,
                                 struct pm_error *error);

/* The key's variable, "sampler.batch" to "PIECEMEAL_SAMPLER_BATCH", into out (size bytes); false:
 * too long. */
bool pm_config_variable(const char *key, char *out, size_t size);

/* The keys known, in order; NULL after the last. */
const char *pm_config_key(size_t index);
