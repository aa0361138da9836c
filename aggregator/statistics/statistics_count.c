/* Uploads become statistics: see pm_statistics_add_profiles. */
#include "aggregator/statistics/statistics_private.h"

#include <stdlib.h>
#include <string.h>

static bool bit(const uint8_t *bitmap, uint32_t index)
{
    return bitmap && (bitmap[index / 8] >> (index % 8) & 1) != 0;
}

/* ---- a shader's entry lanes and bitmap ---- */

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

_Static_assert(PM_LEFT_OUT_BITS <= PM_MAJORITY_BITS, "every number of left out values counts");

/* ---- clusters ---- */

/* Statistics that points are added to in order, and where the cells of the last one are. */
struct counting {
    struct pm_statistics *one;
    size_t allocated;  /* cells */
    size_t first_cell; /* of the last point */
    /* Per class of its cells: where among these, plus 1. */
    uint16_t cells[PM_MEASURES][PM_CELL_CLASSES];
};

/* NULL: out of memory. */
static struct pm_cell *find_cell(struct counting *counting, uint32_t point, unsigned measure,
                                 unsigned class)
{
    struct pm_statistics *one = counting->one;
    uint16_t *at = &counting->cells[measure][class];
    if (*at > 0)
        return &one->cells[counting->first_cell + *at - 1];
    if (one->cell_count == counting->allocated) {
        const size_t allocated = counting->allocated ? counting->allocated * 2 : 64;
        struct pm_cell *cells = realloc(one->cells, allocated * sizeof(*cells));
        if (!cells)
            return NULL;
        one->cells = cells;
        counting->allocated = allocated;
    }
    struct pm_cell *cell = &one->cells[one->cell_count++];
    *cell = (struct pm_cell){.key = pm_cell_key(point, measure, class)};
    *at = (uint16_t)(one->cell_count - counting->first_cell);
    return cell;
}

static bool add_pair(struct counting *counting, unsigned measure, uint64_t y, uint64_t x)
{
    struct pm_point_statistics *point = &counting->one->points[counting->one->count - 1];
    if (x == 0)
        return true;
    const uint64_t r = pm_cluster_ratio(y, x);
    struct pm_cell *cell = find_cell(counting, point->point, measure, pm_cell_class(x, r));
    if (!cell)
        return false;
    pm_cell_add(cell, y, x, r);
    point->measures[measure].n++;
    point->measures[measure].histogram[pm_histogram_bin(y, x)]++;
    return true;
}

/* Adds one cluster's counts to the last point. */
static bool count_point(struct counting *counting, const struct pm_point_counts *from)
{
    struct pm_point_statistics *out = &counting->one->points[counting->one->count - 1];
    const uint64_t *counts = from->counts;
    out->calls += from->calls;
    out->sessions += from->entry_lanes != 0;
    switch (counting->one->kind) {
    case PM_KIND_BLOCK:
    case PM_KIND_TURNS:
        return add_pair(counting, PM_MEASURE_FREQUENCY, counts[PM_BLOCK_LANES],
                        from->entry_lanes) &&
               add_pair(counting, PM_MEASURE_UNIFORM, counts[PM_BLOCK_UNIFORM_LANES],
                        pm_point_lanes_known(from)) &&
               add_pair(counting, PM_MEASURE_SUBGROUPS, counts[PM_BLOCK_SUBGROUPS],
                        from->entry_subgroups);
    case PM_KIND_ZERO:
        return add_pair(counting, PM_MEASURE_ZERO, counts[PM_ZERO_ZERO_WRITES],
                        counts[PM_ZERO_WRITES]) &&
               add_pair(counting, PM_MEASURE_WRITES, counts[PM_ZERO_WRITES], from->entry_subgroups);
    case PM_KIND_CONSTANT:
        return add_pair(counting, PM_MEASURE_SAME, counts[PM_CONSTANT_SAME],
                        counts[PM_CONSTANT_LOADS]) &&
               add_pair(counting, PM_MEASURE_SAME_ZERO, counts[PM_CONSTANT_ZERO],
                        counts[PM_CONSTANT_LOADS]) &&
               add_pair(counting, PM_MEASURE_LOADS, counts[PM_CONSTANT_LOADS],
                        from->entry_subgroups);
    case PM_KIND_VARIANT:
        return add_pair(counting, PM_MEASURE_SAID, counts[PM_VARIANT_SAID],
                        counts[PM_VARIANT_MOST]);
    case PM_KIND_TIMING:
        break;
    }
    /* A spread of 0 is none that was said: clients before did not. */
    return add_pair(counting, PM_MEASURE_TIME, counts[PM_TIMING_VARIANT],
                    counts[PM_TIMING_ORIGINAL]) &&
           (counts[PM_TIMING_SPREAD] == 0 ||
            add_pair(counting, PM_MEASURE_SPREAD, counts[PM_TIMING_SPREAD],
                     counts[PM_TIMING_ORIGINAL]));
}

/* Sorts the last point's cells, which are few, and forgets where they were. */
static void end_point(struct counting *counting)
{
    struct pm_cell *cells = counting->one->cells + counting->first_cell;
    const size_t count = counting->one->cell_count - counting->first_cell;
    for (size_t i = 0; i < count; i++)
        counting->cells[pm_cell_measure(cells[i].key)][pm_cell_class_of(cells[i].key)] = 0;
    for (size_t i = 1; i < count; i++) {
        const struct pm_cell cell = cells[i];
        size_t at = i;
        for (; at > 0 && cells[at - 1].key > cell.key; at--)
            cells[at] = cells[at - 1];
        cells[at] = cell;
    }
    counting->first_cell = counting->one->cell_count;
}

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
    struct counting counting = {.one = one};
    size_t different = 0;
    for (size_t i = 0; i < count; i++)
        different += i == 0 || refs[i].point != refs[i - 1].point;
    one->points = calloc(different + 1, sizeof(*one->points));
    if (!one->points)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || refs[i].point != refs[i - 1].point)
            one->points[one->count++].point = refs[i].point;
        if (!count_point(&counting, refs[i].counts))
            return false;
        if (i + 1 == count || refs[i].point != refs[i + 1].point)
            end_point(&counting);
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
        if (shaders[i].candidates != 0)
            pm_majority_say(&one.left_out, shaders[i].candidates - one.space);
        pm_statistics_intersect(&one, shaders[i].at_most_once);
    }
    sorted = done ? sort_refs(refs, refs + points, points, one.space) : NULL;
    done = sorted && count_refs(&one, sorted, points);
    free(refs);
    done = done ? pm_statistics_merge(statistics, &one, error)
                : pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu points", points);
    pm_statistics_finish(&one);
    return done;
}

bool pm_statistics_add_profile(struct pm_statistics *statistics,
                               const struct pm_shader_profile *shader, struct pm_error *error)
{
    return pm_statistics_add_profiles(statistics, shader, 1, error);
}
