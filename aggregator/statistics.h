/*
 * The statistics of one shader for one day (DESIGN, Contracts: Estimates): per point and measure,
 * over the clusters with x > 0, n, Σx, Σy, Σx², Σxy, Σy² and, for r = y / x, Σr, Σr² and a
 * histogram of r. This is all that the aggregator keeps of an upload; estimate.h turns it into
 * means with intervals.
 *
 * Every sum is an integer of a width that cannot overflow (wide.h), r being rounded once, to a
 * multiple of 2^-32, before it is summed. So merging is exactly commutative and associative, and
 * equal statistics have equal bytes.
 *
 * Layout of the encoding, version 1 (varint: LEB128, shortest form; wide: one byte with the number
 * of bytes that follow, at most 24, then these, least significant first, the last one not 0): 4
 * bytes "PMst", 1 byte version, 1 byte kind, varint space, (space + 7) / 8 bytes bitmap of the
 * points that run at most once per invocation, wide entry lanes, varint number of points, and per
 * point, ascending: varint (index minus the one before minus 1; the first: index), varint calls,
 * varint sessions, and per measure of the kind: varint n and, when n > 0, wide Σx Σy Σx² Σxy Σy² Σr
 * Σr², 4 bytes with a bit for each histogram bin that is not 0, least significant first, and a
 * varint for each of these.
 *
 * Thread safety: a struct belongs to one thread at a time; the functions keep no state.
 */
#pragma once

#include "aggregator/wide.h"
#include "base/buffer.h"
#include "base/error.h"
#include "profile/database.h"

#define PM_STATISTICS_VERSION 1u

/* r is kept as an integer multiple of 2^-32, and one of 2^32 or more as the largest 64-bit number.
 */
#define PM_STATISTICS_RATIO_BITS 32

/* The most bytes a blob can have that this library writes for a shader of `space` points is far
 * below this. */
#define PM_STATISTICS_MAX_SPACE (1u << 20)         /* points of a shader */
#define PM_STATISTICS_BLOB_CAP ((size_t)512 << 20) /* bytes */

/* Bins of r: 0; ten of width 0.1 over what lies between 0 and 1, a lower edge belonging to the bin
 * above it; exactly 1; and (1, 1.5] (1.5, 2] (2, 3] (3, 4] (4, 6] (6, 8] (8, 16] (16, 32] (32, 64]
 * (64, 256] (256, 4096] (4096, …). */
#define PM_HISTOGRAM_BINS 24
#define PM_HISTOGRAM_ONE 11 /* the bin of exactly 1: those above it hold r > 1 */

struct pm_measure_sums {
    uint64_t n; /* clusters with x > 0 */
    struct pm_wide x, y, xx, xy, yy;
    struct pm_wide r;  /* in units of 2^-32 */
    struct pm_wide rr; /* in units of 2^-64 */
    uint64_t histogram[PM_HISTOGRAM_BINS];
};

struct pm_point_statistics {
    uint32_t point;
    uint64_t calls;    /* sampled draws or dispatches; timing: timed pairs */
    uint64_t sessions; /* clusters in which the shader was entered with this point in the batch */
    struct pm_measure_sums measures[PM_MEASURES]; /* those that its kind has not are empty */
};

struct pm_statistics {
    enum pm_kind kind;
    uint32_t space;
    uint8_t *at_most_once; /* (space + 7) / 8 bytes: every upload said that the point runs at most
                              once */
    struct pm_wide entry_lanes; /* summed over batches, see pm_statistics_add_profile */
    struct pm_point_statistics
        *points; /* ascending by index; only those that were ever in a batch */
    size_t count;
};

/* An empty one, which merges with anything; allocates nothing. */
void pm_statistics_init(struct pm_statistics *statistics);
void pm_statistics_finish(struct pm_statistics *statistics);

/* What pm_statistics_add_profile refuses: counts that cannot be. Allocates nothing but for points
 * out of order. */
bool pm_statistics_check_profile(const struct pm_shader_profile *shader, struct pm_error *error);

/* Adds one cluster: the merged counts of one session. PM_ERROR_INPUT when the counts cannot be (a
 * point outside its space or twice, more uniform lanes than lanes, an at-most-once point above its
 * entry counter, counts without entry, time with a variant and none without…); the message names
 * the point and the field, and *statistics is as it was. Entry lanes are summed once for each
 * different pair of normalization counters, since the points of one batch share theirs. */
bool pm_statistics_add_profile(struct pm_statistics *statistics,
                               const struct pm_shader_profile *shader, struct pm_error *error);

/* The same for many clusters of one shader, at less cost. */
bool pm_statistics_add_profiles(struct pm_statistics *statistics,
                                const struct pm_shader_profile *shaders, size_t count,
                                struct pm_error *error);

/* Adds `from` to `into`. Fails, leaving *into as it was, when they are of different kinds or
 * spaces. */
bool pm_statistics_merge(struct pm_statistics *into, const struct pm_statistics *from,
                         struct pm_error *error);

/* NULL when the point was never in a batch. */
const struct pm_point_statistics *pm_statistics_find(const struct pm_statistics *statistics,
                                                     uint32_t point);

bool pm_statistics_is_at_most_once(const struct pm_statistics *statistics, uint32_t point);

/* Appends the encoding. */
bool pm_statistics_encode(const struct pm_statistics *statistics, struct pm_buffer *out,
                          struct pm_error *error);

/* Fills *statistics, which must be empty; the caller finishes it. Refuses what it does not know,
 * naming the byte, and anything but the one encoding of a statistics. */
bool pm_statistics_decode(const void *data, size_t size, struct pm_statistics *statistics,
                          struct pm_error *error);

/* The storage's merge function (pm_storage_merge): decodes both, adds, appends the encoding of the
 * sum. */
bool pm_statistics_merge_blobs(const void *old, size_t old_size, const void *added,
                               size_t added_size, struct pm_buffer *out, struct pm_error *error);
