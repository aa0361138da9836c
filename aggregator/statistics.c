#include "aggregator/statistics.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void pm_statistics_init(struct pm_statistics *statistics)
{
    memset(statistics, 0, sizeof(*statistics));
}

void pm_statistics_finish(struct pm_statistics *statistics)
{
    free(statistics->at_most_once);
    free(statistics->points);
    pm_statistics_init(statistics);
}

const struct pm_point_statistics *pm_statistics_find(const struct pm_statistics *statistics,
                                                     uint32_t point)
{
    size_t low = 0, high = statistics->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (statistics->points[middle].point < point)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == statistics->count || statistics->points[low].point != point)
        return NULL;
    return &statistics->points[low];
}

static bool bit(const uint8_t *bitmap, uint32_t index)
{
    return bitmap && (bitmap[index / 8] >> (index % 8) & 1) != 0;
}

bool pm_statistics_is_at_most_once(const struct pm_statistics *statistics, uint32_t point)
{
    return point < statistics->space && bit(statistics->at_most_once, point);
}

/* ---- one cluster ---- */

static unsigned histogram_bin(uint64_t y, uint64_t x)
{
    /* Upper edges of the bins above 1, in halves. */
    static const uint32_t edges[] = {3, 4, 6, 8, 12, 16, 32, 64, 128, 512, 8192};
    if (y == 0)
        return 0;
    if (y < x)
        return 1 + (unsigned)(y < UINT64_C(1) << 60 ? y * 10 / x : (pm_uint128)y * 10 / x);
    if (y == x)
        return PM_HISTOGRAM_ONE;
    unsigned i = 0;
    while (i < sizeof(edges) / sizeof(*edges) && (pm_uint128)y * 2 > (pm_uint128)x * edges[i])
        i++;
    return PM_HISTOGRAM_ONE + 1 + i;
}

/* y / x in units of 2^-32, to nearest. */
static uint64_t ratio(uint64_t y, uint64_t x)
{
    if (y < UINT64_C(1) << 31 && x < UINT64_C(1) << 63) /* nearly always; 128 bits take long */
        return ((y << PM_STATISTICS_RATIO_BITS) + x / 2) / x;
    const pm_uint128 r = (((pm_uint128)y << PM_STATISTICS_RATIO_BITS) + x / 2) / x;
    return r > UINT64_MAX ? UINT64_MAX : (uint64_t)r;
}

static void add_pair(struct pm_measure_sums *sums, uint64_t y, uint64_t x)
{
    if (x == 0)
        return;
    const uint64_t r = ratio(y, x);
    sums->n++;
    pm_wide_add_128(&sums->x, x);
    pm_wide_add_128(&sums->y, y);
    pm_wide_add_128(&sums->xx, (pm_uint128)x * x);
    pm_wide_add_128(&sums->xy, (pm_uint128)x * y);
    pm_wide_add_128(&sums->yy, (pm_uint128)y * y);
    pm_wide_add_128(&sums->r, r);
    pm_wide_add_128(&sums->rr, (pm_uint128)r * r);
    sums->histogram[histogram_bin(y, x)]++;
}

static bool check_at_most(const struct pm_point_counts *point, uint64_t value, const char *name,
                          uint64_t bound, const char *bound_name, struct pm_error *error)
{
    if (value <= bound)
        return true;
    return pm_fail(error, PM_ERROR_INPUT,
                   "point %" PRIu32 ": %s: %" PRIu64 " is above %s, %" PRIu64, point->point, name,
                   value, bound_name, bound);
}

static bool check_block(const struct pm_shader_profile *shader, const struct pm_point_counts *point,
                        struct pm_error *error)
{
    const uint64_t *counts = point->counts;
    if (bit(shader->at_most_once, point->point) &&
        !check_at_most(point, counts[PM_BLOCK_LANES], "lanes of a block that runs at most once",
                       point->entry_lanes, "entry_lanes", error))
        return false;
    if (counts[PM_BLOCK_LANES] != 0 && counts[PM_BLOCK_SUBGROUPS] == 0)
        return pm_fail(error, PM_ERROR_INPUT,
                       "point %" PRIu32 ": subgroups: 0, and yet it has lanes", point->point);
    return check_at_most(point, counts[PM_BLOCK_UNIFORM_LANES], "uniform_lanes",
                         counts[PM_BLOCK_LANES], "lanes", error) &&
           check_at_most(point, counts[PM_BLOCK_SUBGROUPS], "subgroups", counts[PM_BLOCK_LANES],
                         "lanes", error);
}

/* A block that runs at most once per invocation may be entered by several parts of one subgroup,
 * but not by more than it has lanes. */
static bool check_zero(const struct pm_shader_profile *shader, const struct pm_point_counts *point,
                       struct pm_error *error)
{
    return (!bit(shader->at_most_once, point->point) ||
            check_at_most(point, point->counts[PM_ZERO_WRITES],
                          "writes of a value that is written at most once", point->entry_lanes,
                          "entry_lanes", error)) &&
           check_at_most(point, point->counts[PM_ZERO_ZERO_WRITES], "zero_writes",
                         point->counts[PM_ZERO_WRITES], "writes", error);
}

static bool check_timing(const struct pm_point_counts *point, struct pm_error *error)
{
    if (point->entry_subgroups != point->entry_lanes)
        return pm_fail(error, PM_ERROR_INPUT,
                       "point %" PRIu32 ": entry_subgroups: is not entry_lanes", point->point);
    if (point->counts[PM_TIMING_VARIANT] != 0 && point->counts[PM_TIMING_ORIGINAL] == 0)
        return pm_fail(error, PM_ERROR_INPUT,
                       "point %" PRIu32 ": original_ns: 0, and yet the variant took time",
                       point->point);
    return true;
}

static bool check_counts(const struct pm_shader_profile *shader,
                         const struct pm_point_counts *point, struct pm_error *error)
{
    const uint64_t *counts = point->counts;
    if (point->point >= shader->space)
        return pm_fail(error, PM_ERROR_INPUT, "point %" PRIu32 ": is outside the space of %" PRIu32,
                       point->point, shader->space);
    if (!check_at_most(point, point->entry_subgroups, "entry_subgroups", point->entry_lanes,
                       "entry_lanes", error))
        return false;
    if (point->entry_subgroups == 0 &&
        (point->entry_lanes | counts[0] | counts[1] | counts[2]) != 0)
        return pm_fail(error, PM_ERROR_INPUT,
                       "point %" PRIu32 ": entry_subgroups: 0, and yet it has counts",
                       point->point);
    if (shader->kind == PM_KIND_BLOCK)
        return check_block(shader, point, error);
    if (counts[2] != 0)
        return pm_fail(error, PM_ERROR_INPUT, "point %" PRIu32 ": the unused count is not 0",
                       point->point);
    return shader->kind == PM_KIND_ZERO ? check_zero(shader, point, error)
                                        : check_timing(point, error);
}

/* Adds one cluster's counts to a point, which is all 0 when it is new. */
static void count_point(enum pm_kind kind, const struct pm_point_counts *from,
                        struct pm_point_statistics *out)
{
    out->point = from->point;
    out->calls += from->calls;
    out->sessions += from->entry_lanes != 0;
    if (kind == PM_KIND_BLOCK) {
        add_pair(&out->measures[PM_MEASURE_FREQUENCY], from->counts[PM_BLOCK_LANES],
                 from->entry_lanes);
        add_pair(&out->measures[PM_MEASURE_UNIFORM], from->counts[PM_BLOCK_UNIFORM_LANES],
                 from->counts[PM_BLOCK_LANES]);
        add_pair(&out->measures[PM_MEASURE_SUBGROUPS], from->counts[PM_BLOCK_SUBGROUPS],
                 from->entry_subgroups);
    } else if (kind == PM_KIND_ZERO) {
        add_pair(&out->measures[PM_MEASURE_ZERO], from->counts[PM_ZERO_ZERO_WRITES],
                 from->counts[PM_ZERO_WRITES]);
        add_pair(&out->measures[PM_MEASURE_WRITES], from->counts[PM_ZERO_WRITES],
                 from->entry_subgroups);
    } else {
        add_pair(&out->measures[PM_MEASURE_TIME], from->counts[PM_TIMING_VARIANT],
                 from->counts[PM_TIMING_ORIGINAL]);
    }
}

static int compare_points(const void *a, const void *b)
{
    const struct pm_point_statistics *left = a, *right = b;
    return left->point < right->point ? -1 : left->point > right->point;
}

/* By calls and entry counters: equal for the points of one batch. */
static int compare_batches(const void *a, const void *b)
{
    const struct pm_point_counts *left = *(const struct pm_point_counts *const *)a;
    const struct pm_point_counts *right = *(const struct pm_point_counts *const *)b;
    if (left->entry_lanes != right->entry_lanes)
        return left->entry_lanes < right->entry_lanes ? -1 : 1;
    if (left->entry_subgroups != right->entry_subgroups)
        return left->entry_subgroups < right->entry_subgroups ? -1 : 1;
    return left->calls < right->calls ? -1 : left->calls > right->calls;
}

static bool sum_entry_lanes(const struct pm_shader_profile *shader, struct pm_wide *sum)
{
    const struct pm_point_counts *first = shader->points;
    size_t same = 1;
    while (same < shader->point_count &&
           compare_batches(&first, &(const struct pm_point_counts *){&first[same]}) == 0)
        same++;
    if (same >= shader->point_count) { /* one batch, as a session mostly has of a shader */
        if (shader->point_count > 0)
            pm_wide_add_128(sum, first->entry_lanes);
        return true;
    }
    const struct pm_point_counts **points = calloc(shader->point_count + 1, sizeof(const void *));
    if (!points)
        return false;
    for (size_t i = 0; i < shader->point_count; i++)
        points[i] = &shader->points[i];
    qsort(points, shader->point_count, sizeof(const void *), compare_batches);
    for (size_t i = 0; i < shader->point_count; i++) {
        if (i == 0 || compare_batches(&points[i - 1], &points[i]) != 0)
            pm_wide_add_128(sum, points[i]->entry_lanes);
    }
    free(points);
    return true;
}

static int compare_indices(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

static bool check_repeats(const struct pm_shader_profile *shader, struct pm_error *error)
{
    bool ascending = true;
    for (size_t i = 1; ascending && i < shader->point_count; i++)
        ascending = shader->points[i - 1].point < shader->points[i].point;
    if (ascending)
        return true;
    uint32_t *indices = malloc(shader->point_count * sizeof(*indices));
    if (!indices)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu points", shader->point_count);
    for (size_t i = 0; i < shader->point_count; i++)
        indices[i] = shader->points[i].point;
    qsort(indices, shader->point_count, sizeof(*indices), compare_indices);
    bool single = true;
    for (size_t i = 1; single && i < shader->point_count; i++) {
        if (indices[i - 1] == indices[i])
            single =
                pm_fail(error, PM_ERROR_INPUT, "point %" PRIu32 ": is there twice", indices[i]);
    }
    free(indices);
    return single;
}

bool pm_statistics_check_profile(const struct pm_shader_profile *shader, struct pm_error *error)
{
    if (pm_measure_count(shader->kind) == 0)
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "kind: %d is not known here",
                       (int)shader->kind);
    if (shader->kind == PM_KIND_TIMING && (shader->space != 1 || shader->at_most_once))
        return pm_fail(error, PM_ERROR_INPUT,
                       "space: %" PRIu32
                       "; a timing profile has one point, and nothing to say of it",
                       shader->space);
    if (shader->space == 0 || shader->space > PM_STATISTICS_MAX_SPACE)
        return pm_fail(error, PM_ERROR_INPUT, "space: %" PRIu32 " is not from 1 to %u",
                       shader->space, PM_STATISTICS_MAX_SPACE);
    if (shader->point_count > shader->space)
        return pm_fail(error, PM_ERROR_INPUT, "points: %zu of them in a space of %" PRIu32,
                       shader->point_count, shader->space);
    for (size_t i = 0; i < shader->point_count; i++) {
        if (!check_counts(shader, &shader->points[i], error))
            return false;
    }
    return check_repeats(shader, error);
}

/* A copy of the bitmap without bits beyond the space, NULL when nothing is left. */
static bool copy_bitmap(const struct pm_shader_profile *shader, uint8_t **out)
{
    bool any = false;
    *out = NULL;
    if (!shader->at_most_once)
        return true;
    uint8_t *bitmap = calloc(((size_t)shader->space + 7) / 8, 1);
    if (!bitmap)
        return false;
    for (uint32_t i = 0; i < shader->space; i++) {
        if (bit(shader->at_most_once, i)) {
            bitmap[i / 8] = (uint8_t)(bitmap[i / 8] | 1u << (i % 8));
            any = true;
        }
    }
    if (any)
        *out = bitmap;
    else
        free(bitmap);
    return true;
}

static bool count_shader(struct pm_statistics *one, const struct pm_shader_profile *shader,
                         struct pm_error *error)
{
    one->kind = shader->kind;
    one->space = shader->space;
    one->points = calloc(shader->point_count + 1, sizeof(*one->points));
    if (!one->points || !copy_bitmap(shader, &one->at_most_once) ||
        !sum_entry_lanes(shader, &one->entry_lanes))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu points", shader->point_count);
    for (size_t i = 0; i < shader->point_count; i++)
        count_point(shader->kind, &shader->points[i], &one->points[i]);
    one->count = shader->point_count;
    qsort(one->points, one->count, sizeof(*one->points), compare_points);
    return true;
}

/* What both say runs at most once. */
static void intersect(struct pm_statistics *into, const uint8_t *bitmap)
{
    bool any = false;
    if (!into->at_most_once)
        return;
    for (size_t i = 0; bitmap && i < ((size_t)into->space + 7) / 8; i++) {
        into->at_most_once[i] &= bitmap[i];
        any = any || into->at_most_once[i] != 0;
    }
    if (!any) {
        free(into->at_most_once);
        into->at_most_once = NULL;
    }
}

/* Adds to points that are all there already, in place: what happens to nearly every upload. false:
 * they are not, or there is no memory; nothing was changed. */
static bool add_in_place(struct pm_statistics *statistics, const struct pm_shader_profile *shader)
{
    struct pm_wide entry_lanes = {0};
    if (statistics->kind != shader->kind || statistics->space != shader->space)
        return false;
    for (size_t i = 0; i < shader->point_count; i++) {
        if (!pm_statistics_find(statistics, shader->points[i].point))
            return false;
    }
    if (!sum_entry_lanes(shader, &entry_lanes))
        return false;
    for (size_t i = 0; i < shader->point_count; i++) {
        const struct pm_point_statistics *known =
            pm_statistics_find(statistics, shader->points[i].point);
        count_point(shader->kind, &shader->points[i],
                    &statistics->points[known - statistics->points]);
    }
    pm_wide_add(&statistics->entry_lanes, &entry_lanes);
    intersect(statistics, shader->at_most_once);
    return true;
}

bool pm_statistics_add_profile(struct pm_statistics *statistics,
                               const struct pm_shader_profile *shader, struct pm_error *error)
{
    if (!pm_statistics_check_profile(shader, error))
        return false;
    if (add_in_place(statistics, shader))
        return true;
    struct pm_statistics one;
    pm_statistics_init(&one);
    const bool done =
        count_shader(&one, shader, error) && pm_statistics_merge(statistics, &one, error);
    pm_statistics_finish(&one);
    return done;
}

/* ---- many clusters ---- */

struct point_ref {
    uint32_t point;
    const struct pm_point_counts *counts;
};

static int compare_refs(const void *a, const void *b)
{
    const struct point_ref *left = a, *right = b;
    return left->point < right->point ? -1 : left->point > right->point;
}

/* By point; sorted: room for as many. Counts where the space is not much larger than what is
 * there. NULL: out of memory; else one of both. */
static struct point_ref *sort_refs(struct point_ref *refs, struct point_ref *sorted, size_t count,
                                   uint32_t space)
{
    if (space > 4 * count + 256) {
        qsort(refs, count, sizeof(*refs), compare_refs);
        return refs;
    }
    size_t *starts = calloc((size_t)space + 1, sizeof(*starts));
    if (!starts)
        return NULL;
    for (size_t i = 0; i < count; i++)
        starts[refs[i].point + 1]++;
    for (uint32_t i = 0; i < space; i++)
        starts[i + 1] += starts[i];
    for (size_t i = 0; i < count; i++)
        sorted[starts[refs[i].point]++] = refs[i];
    free(starts);
    return sorted;
}

/* The points of the refs, which are sorted. */
static bool count_refs(struct pm_statistics *one, const struct point_ref *refs, size_t count)
{
    size_t different = 0;
    for (size_t i = 0; i < count; i++)
        different += i == 0 || refs[i].point != refs[i - 1].point;
    one->points = calloc(different + 1, sizeof(*one->points));
    if (!one->points)
        return false;
    for (size_t i = 0; i < count; i++) {
        one->count += i == 0 || refs[i].point != refs[i - 1].point;
        count_point(one->kind, refs[i].counts, &one->points[one->count - 1]);
    }
    return true;
}

static bool check_all(const struct pm_shader_profile *shaders, size_t count, size_t *points,
                      struct pm_error *error)
{
    *points = 0;
    for (size_t i = 0; i < count; i++) {
        if (!pm_statistics_check_profile(&shaders[i], error))
            return false;
        if (shaders[i].kind != shaders[0].kind || shaders[i].space != shaders[0].space)
            return pm_fail(error, PM_ERROR_INPUT, "space: profiles of different shaders");
        *points += shaders[i].point_count;
    }
    return true;
}

bool pm_statistics_add_profiles(struct pm_statistics *statistics,
                                const struct pm_shader_profile *shaders, size_t count,
                                struct pm_error *error)
{
    size_t points, at = 0;
    if (count == 0)
        return true;
    if (!check_all(shaders, count, &points, error))
        return false;
    struct point_ref *refs = calloc(2 * points + 1, sizeof(*refs)), *sorted = NULL;
    struct pm_statistics one;
    pm_statistics_init(&one);
    one.kind = shaders[0].kind;
    one.space = shaders[0].space;
    bool done = refs && copy_bitmap(&shaders[0], &one.at_most_once);
    for (size_t i = 0; done && i < count; i++) {
        for (size_t j = 0; j < shaders[i].point_count; j++)
            refs[at++] = (struct point_ref){shaders[i].points[j].point, &shaders[i].points[j]};
        done = sum_entry_lanes(&shaders[i], &one.entry_lanes);
        intersect(&one, shaders[i].at_most_once);
    }
    sorted = done ? sort_refs(refs, refs + points, points, one.space) : NULL;
    done = sorted && count_refs(&one, sorted, points);
    free(refs);
    done = done ? pm_statistics_merge(statistics, &one, error)
                : pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu points", points);
    pm_statistics_finish(&one);
    return done;
}

/* ---- merging ---- */

static void add_sums(struct pm_measure_sums *into, const struct pm_measure_sums *from)
{
    into->n += from->n;
    pm_wide_add(&into->x, &from->x);
    pm_wide_add(&into->y, &from->y);
    pm_wide_add(&into->xx, &from->xx);
    pm_wide_add(&into->xy, &from->xy);
    pm_wide_add(&into->yy, &from->yy);
    pm_wide_add(&into->r, &from->r);
    pm_wide_add(&into->rr, &from->rr);
    for (unsigned i = 0; i < PM_HISTOGRAM_BINS; i++)
        into->histogram[i] += from->histogram[i];
}

static void add_point(struct pm_point_statistics *into, const struct pm_point_statistics *from)
{
    into->calls += from->calls;
    into->sessions += from->sessions;
    for (unsigned i = 0; i < PM_MEASURES; i++) {
        if (from->measures[i].n > 0)
            add_sums(&into->measures[i], &from->measures[i]);
    }
}

/* How many points of `from` are not in `into`. */
static size_t count_new(const struct pm_statistics *into, const struct pm_statistics *from)
{
    size_t fresh = 0, i = 0;
    for (size_t j = 0; j < from->count; j++) {
        while (i < into->count && into->points[i].point < from->points[j].point)
            i++;
        fresh += i == into->count || into->points[i].point != from->points[j].point;
    }
    return fresh;
}

/* Merges the sorted points of `from` into those of `into`, from the back, so that it works in
 * place. A point that stays where it is is not touched: mostly all do. */
static void merge_points(struct pm_statistics *into, const struct pm_statistics *from, size_t fresh)
{
    struct pm_point_statistics *points = into->points;
    size_t i = into->count, j = from->count, out = into->count + fresh;
    into->count = out;
    while (j > 0) {
        const struct pm_point_statistics *added = &from->points[j - 1];
        out--;
        if (i == 0 || points[i - 1].point < added->point) {
            points[out] = *added;
            j--;
            continue;
        }
        i--;
        if (out != i)
            points[out] = points[i];
        if (points[out].point == added->point) {
            add_point(&points[out], added);
            j--;
        }
    }
}

bool pm_statistics_merge(struct pm_statistics *into, const struct pm_statistics *from,
                         struct pm_error *error)
{
    if (from->space == 0)
        return true;
    if (into->space != 0 && into->kind != from->kind)
        return pm_fail(error, PM_ERROR_INPUT, "kind: %d does not agree with the %d known before",
                       (int)from->kind, (int)into->kind);
    if (into->space != 0 && into->space != from->space)
        return pm_fail(error, PM_ERROR_INPUT,
                       "space: %" PRIu32 " does not agree with the %" PRIu32 " known before",
                       from->space, into->space);

    const size_t fresh = count_new(into, from);
    if (fresh > 0) {
        struct pm_point_statistics *points =
            realloc(into->points, (into->count + fresh) * sizeof(*points));
        if (!points)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu points",
                           into->count + fresh);
        into->points = points;
    }
    if (into->space == 0 && from->at_most_once) {
        const size_t bytes = ((size_t)from->space + 7) / 8;
        into->at_most_once = malloc(bytes);
        if (!into->at_most_once)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu bytes", bytes);
        memcpy(into->at_most_once, from->at_most_once, bytes);
    }
    into->kind = from->kind;
    into->space = from->space;
    intersect(into, from->at_most_once);
    pm_wide_add(&into->entry_lanes, &from->entry_lanes);
    merge_points(into, from, fresh);
    return true;
}
