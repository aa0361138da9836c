/*
 * What A-Z testing measured, as profiles say it (PM_KIND_VARIANT): which variant a point is, and
 * its time over the original's.
 *
 * A variant is a recipe by its number and version, or two, one after the other
 * (shader_rewrite/variants/recipes.c; numbers are its order, from 1, so that they stay). A required
 * subgroup size counts as one that comes last. A version that is raised makes another point: what
 * was measured before says nothing of it. The space is the same for all shaders, so that nobody
 * need agree on it.
 *
 * A cluster says one logarithm of a variant, at most PM_VARIANT_CLIP either way: x is
 * PM_VARIANT_UNIT a pair of timed calls, y its share that the logarithm is between the bounds. So
 * sums of x and y are a mean over pairs, and y is never above x.
 *
 * Thread safety: no state.
 */
#pragma once

#include "profile/profile.h"

#define PM_VARIANT_SPACE (UINT32_C(1) << 20)
#define PM_VARIANT_UNIT UINT64_C(65536)
#define PM_VARIANT_CLIP 0.125

struct pm_variant_recipe {
    uint32_t number, version; /* from 1, to PM_VARIANT_NUMBERS and PM_VARIANT_VERSIONS */
};
enum { PM_VARIANT_NUMBERS = 63, PM_VARIANT_VERSIONS = 15 };

/* The recipe that changes nothing but what is canonical: it is no half of a pair. */
enum { PM_VARIANT_CANONICAL = 1 };
/* From here on, numbers are required subgroup sizes: 1, 2, 4 up to 128. */
enum { PM_VARIANT_SUBGROUP = 56 };
/* number 0: it is no such size. */
struct pm_variant_recipe pm_variant_subgroup(uint32_t size);
/* 0: it is a recipe's, or nothing's. */
uint32_t pm_variant_subgroup_size(const struct pm_variant_recipe *recipe);

struct pm_variant_id {
    struct pm_variant_recipe first, second; /* second: run over what the first made; 0: none */
};

/* false: no point can say it. */
bool pm_variant_point(const struct pm_variant_id *id, uint32_t *point);
/* false: the point is no variant. */
bool pm_variant_id_of(uint32_t point, struct pm_variant_id *id);

/* The order in which variants are taken that are about as fast (base/alike.h), above 0: those of
 * one recipe before those of two, and recipes as they are numbered, so that the canonical module
 * comes first and what requires a subgroup size last. No two of one build's are the same. */
uint32_t pm_variant_rank(const struct pm_variant_id *id);

/* Whether this build has such recipes: others are made up, or of a newer client. */
bool pm_variant_is_known(uint32_t point);

/* "hoist", "hoist+strength"; with "@2" behind a name whose version is another than this build's,
 * and
 * "#40@1" for a number that is not known here. One word. */
enum { PM_VARIANT_POINT_NAME = 80 };
void pm_variant_point_name(uint32_t point, char name[PM_VARIANT_POINT_NAME]);
/* The name of a recipe's number; NULL: it is not known here. */
const char *pm_variant_recipe_name(uint32_t number);

/* What so many pairs, at least one, say, whose mean this is: of logarithms of the time with the
 * variant over that without. */
struct pm_point_counts pm_variant_counts(uint32_t point, uint32_t pairs, double mean);
/* The logarithm that a share y / x of a cluster says. */
static inline double pm_variant_log(double share)
{
    return (share - 0.5) * 2 * PM_VARIANT_CLIP;
}
