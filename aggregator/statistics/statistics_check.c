/* What no profile can hold: see pm_statistics_check_profile. */
#include "aggregator/statistics/statistics.h"

#include <inttypes.h>
#include <stdlib.h>

static bool bit(const uint8_t *bitmap, uint32_t index)
{
    return bitmap && (bitmap[index / 8] >> (index % 8) & 1) != 0;
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
    const uint64_t known = pm_point_lanes_known(point);
    if (known != 0 && counts[PM_BLOCK_SUBGROUPS] == 0)
        return pm_fail(error, PM_ERROR_INPUT,
                       "point %" PRIu32 ": subgroups: 0, and yet it has lanes", point->point);
    const char *bound = point->lanes_alone == 0 ? "lanes" : "lanes that were not counted alone";
    return check_at_most(point, counts[PM_BLOCK_UNIFORM_LANES], "uniform_lanes", known, bound,
                         error) &&
           check_at_most(point, counts[PM_BLOCK_SUBGROUPS], "subgroups", known, bound, error);
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
    if (point->counts[PM_TIMING_SPREAD] != 0 && point->counts[PM_TIMING_ORIGINAL] == 0)
        return pm_fail(error, PM_ERROR_INPUT,
                       "point %" PRIu32 ": original_ns: 0, and yet it has a spread", point->point);
    return true;
}

/* Of a part of a session zeros may be above the most frequent value's loads, of a whole not: but
 * parts get lost. */
static bool check_constant(const struct pm_point_counts *point, struct pm_error *error)
{
    const uint64_t *counts = point->counts;
    return check_at_most(point, counts[PM_CONSTANT_SAME], "same", counts[PM_CONSTANT_LOADS],
                         "loads", error) &&
           check_at_most(point, counts[PM_CONSTANT_ZERO], "zero", counts[PM_CONSTANT_LOADS],
                         "loads", error);
}

static bool check_variant(const struct pm_point_counts *point, struct pm_error *error)
{
    return check_at_most(point, point->counts[PM_VARIANT_SAID], "said",
                         point->counts[PM_VARIANT_MOST], "most", error);
}

/* Lanes may be counted alone, of what counts entries. */
static bool check_alone(const struct pm_shader_profile *shader, const struct pm_point_counts *point,
                        struct pm_error *error)
{
    if (!pm_kind_counts_entries(shader->kind))
        return check_at_most(point, point->lanes_alone, "lanes_alone", 0, "what the kind may have",
                             error);
    if (point->entry_lanes == 0 && point->counts[PM_BLOCK_LANES] != 0)
        return pm_fail(error, PM_ERROR_INPUT,
                       "point %" PRIu32 ": entry_lanes: 0, and yet it has lanes", point->point);
    return check_at_most(point, point->lanes_alone, "lanes_alone", point->counts[PM_BLOCK_LANES],
                         "lanes", error);
}

/* Not 0 where some of the counts are of subgroups, which then have entered. */
static uint64_t subgroup_counts(const struct pm_shader_profile *shader,
                                const struct pm_point_counts *point)
{
    const uint64_t *counts = point->counts;
    const bool entries = pm_kind_counts_entries(shader->kind);
    const uint64_t first = entries ? pm_point_lanes_known(point) : point->entry_lanes | counts[0];
    return first | counts[1] | counts[2];
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
    if (!check_alone(shader, point, error))
        return false;
    if (point->entry_subgroups == 0 && subgroup_counts(shader, point) != 0)
        return pm_fail(error, PM_ERROR_INPUT,
                       "point %" PRIu32 ": entry_subgroups: 0, and yet it has counts",
                       point->point);
    if (pm_kind_counts_entries(shader->kind))
        return check_block(shader, point, error);
    if (shader->kind == PM_KIND_CONSTANT)
        return check_constant(point, error);
    if (shader->kind == PM_KIND_TIMING)
        return check_timing(point, error);
    if (counts[2] != 0)
        return pm_fail(error, PM_ERROR_INPUT, "point %" PRIu32 ": the unused count is not 0",
                       point->point);
    return shader->kind == PM_KIND_ZERO ? check_zero(shader, point, error)
                                        : check_variant(point, error);
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
    if ((shader->kind == PM_KIND_CONSTANT || shader->kind == PM_KIND_VARIANT) &&
        shader->at_most_once)
        return pm_fail(error, PM_ERROR_INPUT, "at_most_once: is there, of a %s profile",
                       pm_kind_name(shader->kind));
    if (shader->space == 0 || shader->space > PM_STATISTICS_MAX_SPACE)
        return pm_fail(error, PM_ERROR_INPUT, "space: %" PRIu32 " is not from 1 to %u",
                       shader->space, PM_STATISTICS_MAX_SPACE);
    if (shader->point_count > shader->space)
        return pm_fail(error, PM_ERROR_INPUT, "points: %zu of them in a space of %" PRIu32,
                       shader->point_count, shader->space);
    const char *wrong = pm_candidates_wrong(shader->candidates, shader->kind, shader->space);
    if (wrong)
        return pm_fail(error, PM_ERROR_INPUT, "%s", wrong);
    for (size_t i = 0; i < shader->point_count; i++) {
        if (!check_counts(shader, &shader->points[i], error))
            return false;
    }
    return check_repeats(shader, error);
}
