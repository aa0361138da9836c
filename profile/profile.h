/*
 * The piecemeal profile: what a client measured, raw (DESIGN, Contracts: Piecemeal profile,
 * Counters). In memory plain structs; on the wire protobuf (profile/piecemeal.proto),
 * zstd-compressed.
 *
 * Thread safety: a struct belongs to one thread at a time; the functions keep no state.
 */
#pragma once

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "profile/left_alone_why.h"
#include "profile/shader_key.h"

#define PM_PROFILE_VERSION 1u
#define PM_UPLOAD_ID_BYTES 16

/* Fewer than 2^20 values of a shader are left out as not worth measuring. */
#define PM_LEFT_OUT_BITS 20

enum pm_kind {
    PM_KIND_BLOCK = 1,
    PM_KIND_ZERO = 2,
    PM_KIND_TIMING = 3,
    PM_KIND_CONSTANT =
        4,               /* of push constants and uniforms, as 32-bit words; never a value of one */
    PM_KIND_VARIANT = 5, /* what A-Z testing measured of a shader's variants (variant_point.h) */
    PM_KIND_TURNS = 6,   /* of loops, counted as blocks are that a turn enters (points.h) */
    PM_KIND_LAST = PM_KIND_TURNS,
};

/* Whether a profile of this kind counts what is entered: PM_BLOCK_*, PM_MEASURE_FREQUENCY and on.
 */
static inline bool pm_kind_counts_entries(enum pm_kind kind)
{
    return kind == PM_KIND_BLOCK || kind == PM_KIND_TURNS;
}

/* "block", "zero", "timing", "constant", "variant", "turns"; "unknown" for a kind that is not
 * known. */
const char *pm_kind_name(enum pm_kind kind);

/* The raw counts of one point, by kind. Unused ones are 0. */
enum {
    PM_BLOCK_LANES = 0, /* lanes that entered the block */
    PM_BLOCK_UNIFORM_LANES =
        1, /* of those, lanes of subgroups that entered with every lane active at entry */
    PM_BLOCK_SUBGROUPS = 2,  /* subgroups that entered the block */
    PM_ZERO_WRITES = 0,      /* subgroup writes of the candidate */
    PM_ZERO_ZERO_WRITES = 1, /* of those, found zero by the versioning check */
    PM_TIMING_ORIGINAL = 0,  /* nanoseconds of calls with the game's own shader */
    PM_TIMING_VARIANT = 1,   /* nanoseconds of as many calls with the variant */
    PM_TIMING_SPREAD =
        2, /* nanoseconds of the original that are half of the 95 % interval of time with the
              variant over time without, as the trial found it; 0: not said */
    PM_CONSTANT_LOADS = 0, /* loads of the word that were seen: by subgroups; of a push constant the
                              sampled calls, since it is read on the CPU */
    PM_CONSTANT_SAME =
        1, /* of those, loads of the value that was the session's most frequent. Parts of a session
              add up to it: each says by how much the count of the most frequent value, whichever it
              was then, has grown since the part before. May be less where there were many values */
    PM_CONSTANT_ZERO = 2, /* of those, loads of 0 */
    PM_VARIANT_MOST = 0,  /* PM_VARIANT_UNIT a timed pair */
    PM_VARIANT_SAID = 1,  /* of that, the share that is their mean logarithm (variant_point.h) */
    PM_COUNTS = 3,
};

struct pm_point_counts {
    uint32_t point; /* index in the shader's space */
    uint32_t calls; /* sampled draws or dispatches that these counts come from; timing, variant:
                       timed pairs, also those whose times are left out of the counts */
    uint64_t entry_lanes, entry_subgroups; /* the normalization counters of the batch that measured
                                              it; timing, variant: timed pairs, both */
    uint64_t counts[PM_COUNTS];
    /* Block, turns: of counts[PM_BLOCK_LANES] those of calls that counted lanes alone. Of them
     * nobody knows which were of whole subgroups, nor of how many: what else is counted is of the
     * other calls, entry_subgroups as well, but entry_lanes is of all. Sums keep what is known,
     * not this, in its bounds (merge.c). */
    uint64_t lanes_alone;
};

/* Block, turns: the lanes of which it is known how many were of whole subgroups. */
static inline uint64_t pm_point_lanes_known(const struct pm_point_counts *point)
{
    return point->counts[PM_BLOCK_LANES] - point->lanes_alone;
}

/* What block, zero and constant profiles depend on beside the key; those of timings and variants
 * add the rest. */
struct pm_environment {
    uint32_t subgroup_size;
    uint32_t vendor_id, device_id, driver_id; /* 0 but for timing and variant */
    uint32_t driver_version;                  /* likewise */
};

enum pm_profile_flag {
    PM_PROFILE_OCCLUDED = 1, /* also counted for occluded pixels (HAZARDS 4) */
    PM_PROFILE_NO_QUADS = 2, /* zero: of a device without quad operations, on which candidates that
                                need them counted nothing (HAZARDS 2) */
    PM_PROFILE_HELD_OUT = 4, /* variant: of clusters that do not choose the winner
                                (aggregator/statistics/race.h). A lot of the aggregator's decides
                                it, and no upload may say it */
};

struct pm_shader_profile {
    struct pm_shader_key key;
    struct pm_environment environment;
    enum pm_kind kind;
    uint32_t flags;      /* enum pm_profile_flag */
    uint32_t space;      /* number of points; timing: 1; variant: PM_VARIANT_SPACE */
    uint32_t candidates; /* zero: values that may be zero; `space` of them are points, the others
                            are left out as not worth measuring (shader_rewrite/points/points.h); 0:
                            not known. Only shown. */
    struct pm_shader_key original; /* timing: of the game's shader that the one of `key` was
                                      specialized from; none: not known */
    const uint8_t *at_most_once;   /* bitmap of `space` bits, least significant first: runs once per
                                      invocation at most; (space + 7) / 8 bytes; NULL: none known */
    const struct pm_point_counts *points;
    size_t point_count;
};

/* A reason why a profile of this kind and space cannot have so many candidates, NULL when it can.
 */
const char *pm_candidates_wrong(uint32_t candidates, enum pm_kind kind, uint32_t space);

struct pm_profile {
    uint8_t upload_id[PM_UPLOAD_ID_BYTES];
    const char *game;
    const char *scene; /* "" for none */
    const char *layer_version;
    const struct pm_shader_profile *shaders;
    size_t shader_count;
    uint32_t day; /* days since the epoch, UTC, on which its session ended; the same however often
                     it is sent; 0: not said */
    /* Shaders of the game that the machine met in the day before the session's end and could make
     * nothing of, by why; PM_LEFT_ALONE_MOST of each at most. */
    uint32_t left_alone[PM_LEFT_ALONE_WHYS];
};

/* Bounds a reader enforces; a hostile upload cannot make it allocate more. */
struct pm_profile_limits {
    size_t compressed_bytes, decompressed_bytes;
    size_t shaders, points_per_shader, space, name_bytes;
};
extern const struct pm_profile_limits pm_profile_limits_default;

/* Appends the protobuf encoding to *out (not compressed). Refuses what pm_profile_decode would by
 * the default limits. */
bool pm_profile_encode(const struct pm_profile *profile, struct pm_buffer *out,
                       struct pm_error *error);

/* Reads a protobuf encoding; everything *profile points to is owned by the arena. Refuses an
 * unknown version, a point outside its space, a bitmap of the wrong size, repeated points, counts
 * that cannot be (uniform lanes above the lanes of which that is known, an at-most-once point above
 * its entry counter, time with a variant and none without, an original of what is no timing, a
 * variant that no recipe makes, fewer candidates than points); the message names the shader, point
 * and field. profile->game is set as soon as this is a profile at all ("" when its name is what is
 * wrong), else left alone. PM_ERROR_LIMIT: it has more shaders or points, or a larger space, than
 * limits allow. limits NULL: the defaults. */
bool pm_profile_decode(const void *data, size_t size, const struct pm_profile_limits *limits,
                       struct pm_arena *arena, struct pm_profile *profile, struct pm_error *error);

/* zstd, one frame, with content size and checksum. */
bool pm_compress(const void *data, size_t size, struct pm_buffer *out, struct pm_error *error);

/* Appends the decompressed bytes to *out, whose cap bounds them before anything is allocated. */
bool pm_decompress(const void *data, size_t size, struct pm_buffer *out, struct pm_error *error);

/* The same of what is much like other bytes, which are there again when it is read: of most of it
 * nothing is left. like NULL: there are none. */
bool pm_compress_against(const void *like, size_t like_size, const void *data, size_t size,
                         struct pm_buffer *out, struct pm_error *error);
bool pm_decompress_against(const void *like, size_t like_size, const void *data, size_t size,
                           struct pm_buffer *out, struct pm_error *error);

/* For people: `piecemeal sync --dry-run`, tests. Appends JSON. */
bool pm_profile_to_json(const struct pm_profile *profile, struct pm_buffer *out,
                        struct pm_error *error);

/* Merges `from` into a builder: the counts of equal (key, environment, kind, flags, point) are
 * added. This is what makes one cluster of one session. */
struct pm_profile_merge;
struct pm_profile_merge *pm_profile_merge_create(void);
void pm_profile_merge_destroy(struct pm_profile_merge *merge);
/* Fails with PM_ERROR_INPUT when two profiles disagree on a shader's space or on which points run
 * at most once; `from` is then left out whole (unless it disagrees with itself). Of two originals
 * the lesser key stays: different shaders may be the same once specialized. Of two numbers of
 * candidates the greater stays. Sums saturate. Copies all it keeps. */
bool pm_profile_merge_add(struct pm_profile_merge *merge, const struct pm_profile *from,
                          struct pm_error *error);
/* The merged shaders, sorted by key, environment, kind and flags, the points ascending; NULL when
 * out of memory; owned by the merge until it is destroyed or added to. */
const struct pm_shader_profile *pm_profile_merge_shaders(struct pm_profile_merge *merge,
                                                         size_t *count);
