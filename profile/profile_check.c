#include "profile/profile_check.h"
#include "base/name.h"
#include "profile/variant_point.h"
#include "profile/wire.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const struct pm_profile_limits pm_profile_limits_default = {
    .compressed_bytes = (size_t)4 << 20,
    .decompressed_bytes = (size_t)32 << 20,
    .shaders = 1u << 16,
    .points_per_shader = 1u << 16,
    .space = 1u << 20,
    .name_bytes = PM_NAME_BYTES,
};

const char *pm_candidates_wrong(uint32_t candidates, enum pm_kind kind, uint32_t space)
{
    if (candidates == 0)
        return NULL;
    if (kind != PM_KIND_ZERO)
        return "field candidates is there, which only zero profiles may have";
    if (candidates < space)
        return "field candidates is below space";
    return (candidates - space) >> PM_LEFT_OUT_BITS == 0 ? NULL
                                                         : "field candidates is far above space";
}

static int compare_points(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Time and memory go by the number of points, not by the space, which costs an attacker nothing. */
static bool check_repeats(const struct pm_shader_profile *shader, size_t index,
                          struct pm_error *error)
{
    bool ascending = true;
    for (size_t i = 1; i < shader->point_count && ascending; i++)
        ascending = shader->points[i - 1].point < shader->points[i].point;
    if (ascending)
        return true;
    uint32_t *sorted = malloc(shader->point_count * sizeof(*sorted));
    if (!sorted)
        return pm_fail(error, PM_ERROR_MEMORY, "shader %zu: out of memory", index);
    for (size_t i = 0; i < shader->point_count; i++)
        sorted[i] = shader->points[i].point;
    qsort(sorted, shader->point_count, sizeof(*sorted), compare_points);
    bool single = true;
    for (size_t i = 1; i < shader->point_count && single; i++) {
        if (sorted[i - 1] == sorted[i])
            single = pm_fail(error, PM_ERROR_INPUT, "shader %zu: point %" PRIu32 " is repeated",
                             index, sorted[i]);
    }
    free(sorted);
    return single;
}

static bool is_at_most_once(const struct pm_shader_profile *shader, uint32_t point)
{
    return shader->at_most_once && (shader->at_most_once[point / 8] >> (point % 8) & 1);
}

/* The part of a session that a profile holds may have more zeros than loads of the most frequent
 * value: that is of the whole session. */
static const char *constant_wrong(const uint64_t *counts)
{
    if (counts[PM_CONSTANT_SAME] > counts[PM_CONSTANT_LOADS])
        return "field counts: loads of one value are above loads";
    return counts[PM_CONSTANT_ZERO] > counts[PM_CONSTANT_LOADS]
               ? "field counts: loads of zero are above loads"
               : NULL;
}

/* Sums of sessions saturate, so x is not held against the pairs. */
static const char *variant_wrong(const struct pm_point_counts *point)
{
    struct pm_variant_id id;
    if (!pm_variant_id_of(point->point, &id))
        return "no recipe makes such a variant";
    if (point->entry_subgroups != point->entry_lanes)
        return "field entry_subgroups is not entry_lanes, and it is a profile of variants";
    if (point->counts[PM_VARIANT_SAID] > point->counts[PM_VARIANT_MOST])
        return "field counts: the logarithm is above all that it can be";
    if (point->counts[PM_VARIANT_MOST] > 0 && point->entry_lanes == 0)
        return "field counts: a logarithm, but no timed pairs";
    return point->counts[2] != 0 ? "field counts: the unused one is not 0" : NULL;
}

/* Whole and other subgroups are of the lanes that were not counted alone. */
static const char *entries_wrong(const struct pm_shader_profile *shader,
                                 const struct pm_point_counts *point)
{
    const uint64_t *counts = point->counts;
    if (point->lanes_alone > counts[PM_BLOCK_LANES])
        return "field lanes_alone is above lanes";
    if (counts[PM_BLOCK_UNIFORM_LANES] > pm_point_lanes_known(point))
        return "field counts: uniform lanes are above lanes";
    if (counts[PM_BLOCK_SUBGROUPS] > pm_point_lanes_known(point))
        return "field counts: subgroups are above lanes";
    return is_at_most_once(shader, point->point) && counts[PM_BLOCK_LANES] > point->entry_lanes
               ? "field counts: lanes are above entry_lanes, but it runs at most once"
               : NULL;
}

static bool check_point(const struct pm_shader_profile *shader, size_t index,
                        const struct pm_point_counts *point, struct pm_error *error)
{
    const uint64_t *counts = point->counts;
    const char *what = NULL;
    if (point->point >= shader->space)
        return pm_fail(error, PM_ERROR_INPUT,
                       "shader %zu: point %" PRIu32 " is outside its space of %" PRIu32, index,
                       point->point, shader->space);
    if (point->entry_subgroups > point->entry_lanes)
        what = "field entry_subgroups is above entry_lanes";
    if (!pm_kind_counts_entries(shader->kind) && point->lanes_alone != 0)
        return pm_fail(error, PM_ERROR_INPUT,
                       "shader %zu: point %" PRIu32 ": field lanes_alone is there, and it is a %s "
                       "profile",
                       index, point->point, pm_kind_name(shader->kind));
    if (pm_kind_counts_entries(shader->kind)) {
        const char *wrong = entries_wrong(shader, point);
        what = wrong ? wrong : what;
    } else if (shader->kind == PM_KIND_ZERO) {
        if (counts[PM_ZERO_ZERO_WRITES] > counts[PM_ZERO_WRITES])
            what = "field counts: zero writes are above writes";
        else if (counts[2] != 0)
            what = "field counts: the unused one is not 0";
        else if (is_at_most_once(shader, point->point) &&
                 counts[PM_ZERO_WRITES] > point->entry_lanes)
            what = "field counts: writes are above entry_lanes, but it is written at most once";
    } else if (shader->kind == PM_KIND_CONSTANT) {
        what = what ? what : constant_wrong(counts);
    } else if (shader->kind == PM_KIND_VARIANT) {
        what = variant_wrong(point);
    } else {
        if (point->entry_subgroups != point->entry_lanes)
            what = "field entry_subgroups is not entry_lanes, and it is a timing profile";
        else if (counts[PM_TIMING_VARIANT] > 0 && counts[PM_TIMING_ORIGINAL] == 0)
            what = "field counts: time with the variant, but none with the original";
        else if (counts[PM_TIMING_ORIGINAL] > 0 && point->entry_lanes == 0)
            what = "field counts: time, but no timed pairs";
        else if (counts[PM_TIMING_SPREAD] > 0 && counts[PM_TIMING_ORIGINAL] == 0)
            what = "field counts: a spread, but no time with the original";
    }
    return !what || pm_fail(error, PM_ERROR_INPUT, "shader %zu: point %" PRIu32 ": %s", index,
                            point->point, what);
}

static bool check_shader(const struct pm_shader_profile *shader, size_t index,
                         const struct pm_profile_limits *limits, struct pm_error *error)
{
    const char *wrong = pm_identity_wrong(&shader->environment, shader->kind, shader->flags,
                                          shader->space, &shader->original);
    if (wrong)
        return pm_fail(error, PM_ERROR_INPUT, "shader %zu: %s", index, wrong);
    if (shader->space > limits->space)
        return pm_fail(error, PM_ERROR_LIMIT,
                       "shader %zu: field space is %" PRIu32 ", more than %zu", index,
                       shader->space, limits->space);
    if (shader->point_count > limits->points_per_shader)
        return pm_fail(error, PM_ERROR_LIMIT,
                       "shader %zu: field point has %zu elements, more than %zu", index,
                       shader->point_count, limits->points_per_shader);
    if ((wrong = pm_candidates_wrong(shader->candidates, shader->kind, shader->space)))
        return pm_fail(error, PM_ERROR_INPUT, "shader %zu: %s", index, wrong);
    if (shader->at_most_once &&
        (shader->kind == PM_KIND_TIMING || shader->kind == PM_KIND_CONSTANT ||
         shader->kind == PM_KIND_VARIANT))
        return pm_fail(error, PM_ERROR_INPUT,
                       "shader %zu: field at_most_once is there, and it is a %s profile", index,
                       pm_kind_name(shader->kind));
    if (shader->at_most_once && !pm_bitmap_is_tidy(shader->at_most_once, shader->space))
        return pm_fail(error, PM_ERROR_INPUT,
                       "shader %zu: field at_most_once has bits outside its space of %" PRIu32,
                       index, shader->space);
    for (size_t i = 0; i < shader->point_count; i++) {
        if (!check_point(shader, index, &shader->points[i], error))
            return false;
    }
    return check_repeats(shader, index, error);
}

bool pm_profile_check(const struct pm_profile *profile, const struct pm_profile_limits *limits,
                      struct pm_error *error)
{
    if (!pm_game_check(profile->game, "field game", limits->name_bytes, error) ||
        !pm_name_check(profile->scene, "field scene", limits->name_bytes, error) ||
        !pm_name_check(profile->layer_version, "field layer_version", limits->name_bytes, error))
        return false;
    for (size_t i = 0; i < PM_LEFT_ALONE_WHYS; i++) {
        if (profile->left_alone[i] > PM_LEFT_ALONE_MOST)
            return pm_fail(error, PM_ERROR_LIMIT,
                           "field left_alone: element %zu is %" PRIu32 ", more than %u", i,
                           profile->left_alone[i], PM_LEFT_ALONE_MOST);
    }
    if (profile->shader_count > limits->shaders)
        return pm_fail(error, PM_ERROR_LIMIT, "field shaders has %zu elements, more than %zu",
                       profile->shader_count, limits->shaders);
    for (size_t i = 0; i < profile->shader_count; i++) {
        if (!check_shader(&profile->shaders[i], i, limits, error))
            return false;
    }
    return true;
}
