/*
 * The statistics of one shader for one day (DESIGN, Contracts: Estimates): per point and measure,
 * over the clusters with x > 0, a histogram of r = y / x, and sums by how large x and r are: in
 * each such cell n, Σx, Σy, Σr, Σr² and the squares of the sizes. So whoever reads them can still
 * weigh down what few clusters claim to be much larger than all others. This is all that the
 * aggregator keeps of an upload; estimate.h turns it into means with intervals.
 *
 * Every sum is an integer of a width that cannot overflow (wide.h), r and r² being rounded once, to
 * multiples of 2^-32, and x for its square to eight significant bits, before they are summed. So
 * merging is exactly commutative and associative, and equal statistics have equal bytes.
 *
 * Layout of the encoding, version 2 (varint: LEB128, shortest form; wide: one byte with the number
 * of bytes that follow, at most 24, then these, least significant first, the last one not 0): 4
 * bytes "PMst", 1 byte version, 1 byte kind, varint space, varint 1 and (space + 7) / 8 bytes
 * bitmap of the points that run at most once per invocation, or varint 0 when there are none, wide
 * entry lanes, varint number of points, and per point, ascending: varint (index minus the one
 * before minus 1; the first: index), varint calls, varint sessions, and per measure of the kind:
 * varint number of cells and, when there are any, per cell, ascending: varint (class minus the one
 * before minus 1; the first: class), varint 4 n + form, wide Σx, in form 0 wide Σy, when n > 1
 * varint squares and in form 0 wide Σr Σr²; then 4 bytes with a bit for each histogram bin that is
 * not 0, least significant first, and a varint for each of these. Form 1: every y is 0; form 2:
 * every y is x; form 0: any other.
 *
 * Version 3 is version 2 with what zero profiles may say between bitmap and entry lanes, and is
 * written only where some did, so that all else stays as it was: varint sessions that said how many
 * values are left out, varint mask of the bits that all of these had set, varint mask of those that
 * some had set and some had not, and for each of the latter, the lowest first, a varint of how many
 * had it set.
 *
 * Version 4 is version 2 with the second measure of timings, the spread, and is written only where
 * some said theirs; in the others timings have one measure.
 *
 * Version 1, which had no cells (per measure varint n and, when n > 0, wide Σx Σy Σx² Σxy Σy² Σr
 * Σr² and the histogram), is read as two cells: as many clusters of one size as its Σx and Σx²
 * weigh, (Σx)² / Σx², and the others with x = 1.
 *
 * Thread safety: a struct belongs to one thread at a time; the functions keep no state.
 */
#pragma once

#include "aggregator/statistics/majority.h"
#include "aggregator/statistics/wide.h"
#include "base/buffer.h"
#include "base/error.h"
#include "profile/database.h"

#define PM_STATISTICS_VERSION 4u

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
#define PM_HISTOGRAM_ONE 11   /* the bin of exactly 1: those above it hold r > 1 */
#define PM_HISTOGRAM_EDGES 11 /* of the bins above 1; the last one has none */

/* The upper edges of the bins above 1, in halves. */
extern const uint32_t pm_histogram_half_edges[PM_HISTOGRAM_EDGES];

/* Sizes: x from 4^size to below 4^(size + 1). Heights: 0: r is at most PM_RATIO_USUAL; h: above
 * PM_RATIO_USUAL 4^(h - 1) and at most 4 times as much. */
#define PM_CELL_SIZES 32u
#define PM_CELL_HEIGHTS 15u
#define PM_CELL_CLASSES (PM_CELL_SIZES * PM_CELL_HEIGHTS)
#define PM_RATIO_USUAL 16u

struct pm_measure_counts {
    uint64_t n; /* clusters with x > 0 */
    uint64_t histogram[PM_HISTOGRAM_BINS];
};

struct pm_point_statistics {
    uint32_t point;
    uint64_t calls;    /* sampled draws or dispatches; timing: timed pairs */
    uint64_t sessions; /* clusters in which the shader was entered with this point in the batch */
    struct pm_measure_counts measures[PM_MEASURES]; /* those that its kind has not are empty */
};

/* The clusters of one point and measure that are of one class. */
struct pm_cell {
    uint64_t key;     /* pm_cell_key */
    uint64_t n;       /* never 0 */
    uint64_t squares; /* Σ of x's eight leading bits squared: x² in units of 16^(size - 3) */
    struct pm_wide x, y;
    struct pm_wide r, rr; /* in units of 2^-32 */
};

/* Orders cells by point, measure and class (height, then size). */
static inline uint64_t pm_cell_key(uint32_t point, unsigned measure, unsigned class)
{
    return (uint64_t)point << 16 | (uint64_t)measure << 12 | class;
}

/* The first of `count` structs of `stride` bytes, each beginning with its key and ascending by it,
 * whose key is not below this one; count: none. */
size_t pm_cell_lower_bound(const void *cells, size_t stride, size_t count, uint64_t key);

static inline uint32_t pm_cell_point(uint64_t key)
{
    return (uint32_t)(key >> 16);
}

static inline unsigned pm_cell_measure(uint64_t key)
{
    return key >> 12 & 15;
}

static inline unsigned pm_cell_class_of(uint64_t key)
{
    return key & 4095;
}

static inline unsigned pm_cell_size(uint64_t key)
{
    return pm_cell_class_of(key) % PM_CELL_SIZES;
}

static inline unsigned pm_cell_height(uint64_t key)
{
    return pm_cell_class_of(key) / PM_CELL_SIZES;
}

struct pm_statistics {
    enum pm_kind kind;
    uint32_t space;
    uint8_t *at_most_once; /* (space + 7) / 8 bytes: every upload said that the point runs at most
                              once */
    struct pm_majority left_out; /* zero: values that the sessions said are no points, as not worth
                                    measuring */
    struct pm_wide entry_lanes;  /* summed over batches, see pm_statistics_add_profile */
    struct pm_point_statistics
        *points; /* ascending by index; only those that were ever in a batch */
    size_t count;
    struct pm_cell *cells; /* of all points, ascending by key */
    size_t cell_count;
};

/* An empty one, which merges with anything; allocates nothing. */
void pm_statistics_init(struct pm_statistics *statistics);
void pm_statistics_finish(struct pm_statistics *statistics);

/* What pm_statistics_add_profile refuses: counts that cannot be. Allocates nothing but for points
 * out of order. */
bool pm_statistics_check_profile(const struct pm_shader_profile *shader, struct pm_error *error);

/* Adds one cluster: the merged counts of one session. Where lanes were counted alone, they count
 * for how often blocks run; the shares of whole subgroups and of subgroups are of the other lanes,
 * and have no cluster where there are none. PM_ERROR_INPUT when the counts cannot be (a point
 * outside its space or twice, more uniform lanes than lanes, lanes of unknown subgroups among those
 * of whole ones, an at-most-once point above its entry counter, counts without entry, time with a
 * variant and none without…); the message names the point and the field, and *statistics is as it
 * was. Entry lanes are summed once for each different pair of normalization counters, since the
 * points of one batch share theirs. */
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

/* The cells of one measure of a point; *count may be 0. */
const struct pm_cell *pm_statistics_cells(const struct pm_statistics *statistics, uint32_t point,
                                          unsigned measure, size_t *count);

bool pm_statistics_is_at_most_once(const struct pm_statistics *statistics, uint32_t point);

/* As in struct pm_shader_estimates; 0: not known. */
uint32_t pm_statistics_candidates(const struct pm_statistics *statistics);

/* Appends the encoding, of version 2, 3 or 4. */
bool pm_statistics_encode(const struct pm_statistics *statistics, struct pm_buffer *out,
                          struct pm_error *error);

/* Fills *statistics, which must be empty; the caller finishes it. Reads all versions. Refuses what
 * it does not know, naming the byte, and anything but the one encoding of a statistics. */
bool pm_statistics_decode(const void *data, size_t size, struct pm_statistics *statistics,
                          struct pm_error *error);

/* The storage's merge function (pm_storage_merge): decodes both, adds, appends the encoding of the
 * sum. */
bool pm_statistics_merge_blobs(const void *old, size_t old_size, const void *added,
                               size_t added_size, struct pm_buffer *out, struct pm_error *error);
