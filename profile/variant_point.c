#include "profile/variant_point.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* By number, from 1; a test holds them against the recipes. */
static const struct {
    const char *name;
    uint32_t version;
} recipes[] = {
    {NULL, 0},
    {"canonical", 1},
    {"schedule-late", 1},
    {"schedule-pressure", 1},
    {"schedule-breadth", 1},
    {"schedule-critical", 1},
    {"schedule-loads", 1},
    {"unroll-full", 5},
    {"unroll-long", 5},
    {"unroll-twice", 4},
    {"unroll-four", 4},
    {"unroll-three", 4},
    {"ask-unroll", 4},
    {"ask-no-unroll", 3},
    {"scalarize", 2},
    {"unroll-scalars", 5},
    {"hoist", 1},
    {"hoist-common", 1},
    {"one-return", 2},
    {"if-convert", 1},
    {"ask-flatten", 1},
    {"ask-flatten-small", 1},
    {"ask-branch", 1},
    {"ask-branch-large", 1},
    {"whole-loads", 2},
    {"small-loads", 2},
    {"sink-loads", 3},
    {"repeat-loads", 1},
    {"strength", 3},
    {"late-scalars", 2},
    {"hoist-late", 1},
    {"repeat-late", 1},
    {"vote-branches", 1},
    {"blocks-flatten", 1},
    {"blocks-sink", 1},
    {"blocks-version", 1},
    {"blocks-unroll", 2},
    {"blocks-peel", 2},
    {"blocks-layout", 2},
    {"blocks-all", 3},
    {"scalar-pressure", 2},
    {"scalar-breadth", 2},
    {"scalar-critical", 2},
    {"scalar-loads", 2},
    {"hoist-pressure", 1},
    {"repeat-pressure", 1},
    /* The canonical module, or what the first recipe made, with a required subgroup size. */
    [PM_VARIANT_SUBGROUP] = {"subgroup-1", 1},
    {"subgroup-2", 1},
    {"subgroup-4", 1},
    {"subgroup-8", 1},
    {"subgroup-16", 1},
    {"subgroup-32", 1},
    {"subgroup-64", 1},
    {"subgroup-128", 1},
};

enum { RECIPES = sizeof(recipes) / sizeof(*recipes) };

enum { NUMBER_BITS = 6, VERSION_BITS = 4, RECIPE_BITS = NUMBER_BITS + VERSION_BITS };
_Static_assert(PM_VARIANT_SPACE == UINT32_C(1) << 2 * RECIPE_BITS, "a point is two recipes");
_Static_assert(PM_VARIANT_NUMBERS == (1 << NUMBER_BITS) - 1 &&
                   PM_VARIANT_VERSIONS == (1 << VERSION_BITS) - 1,
               "every recipe has its bits");

static bool is_recipe(const struct pm_variant_recipe *recipe)
{
    return recipe->number >= 1 && recipe->number <= PM_VARIANT_NUMBERS && recipe->version >= 1 &&
           recipe->version <= PM_VARIANT_VERSIONS;
}

static bool is_none(const struct pm_variant_recipe *recipe)
{
    return recipe->number == 0 && recipe->version == 0;
}

bool pm_variant_point(const struct pm_variant_id *id, uint32_t *point)
{
    if (!is_recipe(&id->first) || (!is_none(&id->second) && !is_recipe(&id->second)))
        return false;
    *point = id->first.number | id->first.version << NUMBER_BITS |
             (id->second.number | id->second.version << NUMBER_BITS) << RECIPE_BITS;
    return true;
}

static struct pm_variant_recipe recipe_of(uint32_t bits)
{
    return (struct pm_variant_recipe){bits & PM_VARIANT_NUMBERS,
                                      bits >> NUMBER_BITS & PM_VARIANT_VERSIONS};
}

bool pm_variant_id_of(uint32_t point, struct pm_variant_id *id)
{
    if (point >= PM_VARIANT_SPACE)
        return false;
    *id = (struct pm_variant_id){recipe_of(point), recipe_of(point >> RECIPE_BITS)};
    return is_recipe(&id->first) && (is_none(&id->second) || is_recipe(&id->second));
}

const char *pm_variant_recipe_name(uint32_t number)
{
    return number < RECIPES ? recipes[number].name : NULL;
}

struct pm_variant_recipe pm_variant_subgroup(uint32_t size)
{
    for (uint32_t number = PM_VARIANT_SUBGROUP; number < RECIPES; number++)
        if (size == UINT32_C(1) << (number - PM_VARIANT_SUBGROUP))
            return (struct pm_variant_recipe){number, recipes[number].version};
    return (struct pm_variant_recipe){0};
}

uint32_t pm_variant_rank(const struct pm_variant_id *id)
{
    return id->second.number == 0 ? id->first.number
                                  : id->first.number << NUMBER_BITS | id->second.number;
}

static bool is_known(const struct pm_variant_recipe *recipe)
{
    return recipe->number > 0 && recipe->number < RECIPES && recipes[recipe->number].name &&
           recipes[recipe->number].version == recipe->version;
}

uint32_t pm_variant_subgroup_size(const struct pm_variant_recipe *recipe)
{
    return recipe->number >= PM_VARIANT_SUBGROUP && is_known(recipe)
               ? UINT32_C(1) << (recipe->number - PM_VARIANT_SUBGROUP)
               : 0;
}

bool pm_variant_is_known(uint32_t point)
{
    struct pm_variant_id id;
    return pm_variant_id_of(point, &id) && is_known(&id.first) &&
           (is_none(&id.second) ||
            (is_known(&id.second) && pm_variant_subgroup_size(&id.first) == 0));
}

/* Appends a recipe's name. */
static size_t name_recipe(const struct pm_variant_recipe *recipe, char *to, size_t room)
{
    const char *known = pm_variant_recipe_name(recipe->number);
    int size =
        known ? snprintf(to, room, "%s", known) : snprintf(to, room, "#%" PRIu32, recipe->number);
    if (!(known && is_known(recipe)) && size > 0 && (size_t)size < room)
        size += snprintf(to + size, room - (size_t)size, "@%" PRIu32, recipe->version);
    return size > 0 && (size_t)size < room ? (size_t)size : 0;
}

void pm_variant_point_name(uint32_t point, char name[PM_VARIANT_POINT_NAME])
{
    struct pm_variant_id id;
    if (!pm_variant_id_of(point, &id)) {
        snprintf(name, PM_VARIANT_POINT_NAME, "none");
        return;
    }
    size_t at = name_recipe(&id.first, name, PM_VARIANT_POINT_NAME);
    if (id.second.number == 0)
        return;
    name[at++] = '+';
    name_recipe(&id.second, name + at, PM_VARIANT_POINT_NAME - at);
}

struct pm_point_counts pm_variant_counts(uint32_t point, uint32_t pairs, double mean)
{
    const double clipped = fmax(-PM_VARIANT_CLIP, fmin(mean, PM_VARIANT_CLIP));
    const uint64_t x = PM_VARIANT_UNIT * pairs;
    const double y = (double)x * (0.5 + clipped / (2 * PM_VARIANT_CLIP));
    return (struct pm_point_counts){
        .point = point,
        .calls = pairs,
        .entry_lanes = pairs,
        .entry_subgroups = pairs,
        .counts = {[PM_VARIANT_MOST] = x, [PM_VARIANT_SAID] = (uint64_t)llround(y)},
    };
}
