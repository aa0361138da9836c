/*
 * The PGO database of one game (DESIGN, Contracts: Estimates, PGO database): per (key, environment,
 * kind) the estimates of every point of a covered shader, and the deficit of those that still need
 * samples. On the wire protobuf (profile/piecemeal.proto), zstd-compressed; one body holds all
 * environments of a game, and never more than PM_DATABASE_BYTES before compression, since games
 * load it. Estimates travel as 32-bit floats.
 *
 * Thread safety: read-only once decoded; any thread may then read it.
 */
#pragma once

#include "profile/profile.h"

#define PM_DATABASE_VERSION 2u
#define PM_DATABASE_BYTES ((size_t)32 << 20) /* of an encoding, not compressed */

/* The estimates of a struct pm_ratio, in its order. */
enum { PM_RATIO_VALUES = 6 };

/* One y over x with its two means and their 95 % intervals. */
struct pm_ratio {
    double mean, mean_low, mean_high;    /* mean of the clusters' ratios (the paper's) */
    double ratio, ratio_low, ratio_high; /* ratio of sums */
    uint32_t clusters;                   /* with x > 0 */
};

/* The measures of a point, by kind. */
enum {
    PM_MEASURE_FREQUENCY = 0, /* block, and turns as if each entered one: lanes over entry lanes */
    PM_MEASURE_UNIFORM = 1,   /* block: uniform lanes over lanes */
    PM_MEASURE_SUBGROUPS = 2, /* block: subgroups over entry subgroups */
    PM_MEASURE_ZERO = 0,      /* zero: zero writes over writes */
    PM_MEASURE_WRITES =
        1, /* zero: writes over entry subgroups, the weight of the candidate's block */
    PM_MEASURE_TIME = 0,   /* timing: time with the variant over time without */
    PM_MEASURE_SPREAD = 1, /* timing: half of a trial's own 95 % interval; nobody is judged by it */
    PM_MEASURE_SAME = 0,   /* constant: loads of the session's most frequent value over loads */
    PM_MEASURE_SAME_ZERO = 1, /* constant: loads of 0 over loads */
    PM_MEASURE_LOADS = 2,     /* constant: loads over entry subgroups */
    PM_MEASURE_SAID = 0,      /* variant: the logarithm as a share (variant_point.h) */
    PM_MEASURES = 3,
};

/* How many measures a kind has, the first of enum PM_MEASURE_*; 0 for a kind that is not known. */
unsigned pm_measure_count(enum pm_kind kind);

/* "frequency", "uniform", "subgroups"; "zero", "writes"; "time", "spread"; "same", "zero", "loads";
 * "said". NULL for one that the kind has not. */
const char *pm_measure_name(enum pm_kind kind, unsigned measure);

struct pm_point_estimate {
    uint32_t calls;    /* sampled calls behind it; timing: timed pairs */
    uint32_t sessions; /* clusters in which its shader was entered with this point in the batch */
    struct pm_ratio measures[PM_MEASURES]; /* those that its kind has not are 0 */
};

/* Whether a block is uniform: as large a share of its lanes, or more, entered it with their whole
 * subgroup. One that nothing ever entered is, too (the offload RFC, "Profile Merge"). One of which
 * that is not known is not. */
bool pm_block_is_uniform(const struct pm_point_estimate *block, double uniform_share);

/* false: lanes entered it, and all of them were counted alone (struct pm_point_counts). */
bool pm_block_uniformity_is_known(const struct pm_point_estimate *block);

/* false: lanes entered it, and nobody says how many subgroups they were. */
bool pm_block_subgroups_are_known(const struct pm_point_estimate *block);

/* What few say of a point's first measure: more or less than half. Advice about what to try,
 * nothing more. */
enum pm_provisional {
    PM_PROVISIONAL_UNKNOWN = 0,
    PM_PROVISIONAL_LIKELY = 1,
    PM_PROVISIONAL_UNLIKELY = 2,
};

/* So many tokens may lie every day, and no bounded estimate of a shader is off by more than the
 * error, 0 to 1; 0 tokens: it may be if one lies (aggregator/curation/breakdown.h). That is before
 * they are rounded, which moves each by up to a quarter of its half-width more (quantize.h). error
 * 0: nobody said, as where there are no tokens. */
struct pm_lying {
    uint32_t tokens;
    double error;
};

struct pm_shader_estimates {
    struct pm_shader_key key;
    struct pm_environment environment;
    enum pm_kind kind;
    uint32_t flags;
    uint32_t space;
    uint32_t candidates; /* as in struct pm_shader_profile: what most sessions said */
    uint32_t
        as_of_day;  /* since which it says what it says; days since the epoch, UTC; 0: not known */
    bool published; /* covered, and every interval narrow enough */
    const struct pm_point_estimate *points; /* `space` of them; NULL when not published */
    const uint8_t
        *deficit; /* bitmap of `space` bits: points that still need samples; NULL: none do */
    const uint8_t
        *provisional;      /* `space` of enum pm_provisional; NULL: published, or all unknown */
    uint64_t entry_lanes;  /* summed, a measure of how hot the shader is */
    struct pm_lying lying; /* of what is published */
    struct pm_shader_key original; /* as in struct pm_shader_profile */
};

/* By which measure a shader's blocks are weighed against each other, all by the same one: how often
 * subgroups enter, or lanes where some block's subgroups are not known. Its points are there. */
unsigned pm_blocks_weighed_by(const struct pm_shader_estimates *blocks);

struct pm_database {
    const char *game;
    uint64_t curated_at; /* seconds since the epoch */
    const struct pm_shader_estimates
        *shaders; /* strictly ascending by key, environment, kind, flags */
    size_t shader_count;
};

/* How many points have the level. */
uint32_t pm_provisional_count(const struct pm_shader_estimates *shader, enum pm_provisional level);

/* Orders by key, environment and kind: < 0, 0, > 0. */
int pm_shader_estimates_compare(const struct pm_shader_estimates *a,
                                const struct pm_shader_estimates *b);

/* How many measures a point has on the wire: a timing whose spread nobody said has none there, as
 * before there were any. */
unsigned pm_measures_written(const struct pm_shader_estimates *shader);

/* Bytes that the shader takes of an encoding, at most. */
size_t pm_shader_estimates_bytes(const struct pm_shader_estimates *shader);

/* Appends the protobuf encoding to *out; pm_compress makes the body of it. Refuses what
 * pm_database_decode would, and more than PM_DATABASE_BYTES (PM_ERROR_LIMIT). */
bool pm_database_encode(const struct pm_database *database, struct pm_buffer *out,
                        struct pm_error *error);

/* Reads a protobuf encoding (pm_decompress first). Everything *database points to is owned by the
 * arena. Any numbers are accepted that are finite as 32-bit floats; a caller must treat them as
 * advice (DESIGN: a profile can cost speed, never correctness). It stops where the thread is asked
 * to (base/stop.h). */
bool pm_database_decode(const void *data, size_t size, struct pm_arena *arena,
                        struct pm_database *database, struct pm_error *error);

/* NULL when the database has nothing of it. Of several that differ in flags, the one with the
 * fewest. */
const struct pm_shader_estimates *pm_database_find(const struct pm_database *database,
                                                   const struct pm_shader_key *key,
                                                   const struct pm_environment *environment,
                                                   enum pm_kind kind);
