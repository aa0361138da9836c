#include "tests/shader_rewrite/differential/adversary.h"

#include "base/random.h"

#include <math.h>
#include <stdlib.h>

#include "tests/cmocka_includes.h"

const struct adversary_way adversary_ways[ADVERSARY_WAYS] = {
    {"never zero", ADVERSARY_ZERO, PM_FLOAT_ZERO_SHADER, .take_all = true},
    {"always zero, all", ADVERSARY_ONE, PM_FLOAT_ZERO_SHADER, .take_all = true},
    {"at random, all", ADVERSARY_RANDOM, PM_FLOAT_ZERO_SHADER, .take_all = true},
    {"at random, many", ADVERSARY_RANDOM, PM_FLOAT_ZERO_SHADER, .take_all = true,
     .most_transforms = 12, .weights = true},
    {"always zero, never permitted", ADVERSARY_ONE, PM_FLOAT_ZERO_NEVER, .take_all = true},
    {"at random, allowed, no quads", ADVERSARY_RANDOM, PM_FLOAT_ZERO_ALLOW, .take_all = true,
     .no_quad = true},
    {"always zero", ADVERSARY_ONE, PM_FLOAT_ZERO_SHADER, .weights = true},
    {"at random", ADVERSARY_RANDOM, PM_FLOAT_ZERO_SHADER, .weights = true},
    {"absurd", ADVERSARY_ABSURD, PM_FLOAT_ZERO_SHADER, .weights = true},
};

static double number(struct pm_random *random, enum adversary_profile profile)
{
    static const double absurd[] = {NAN, INFINITY, -INFINITY, -1, 2, 1e300, -0.0, 1};
    switch (profile) {
    case ADVERSARY_ZERO:
        return 0;
    case ADVERSARY_ONE:
        return 1;
    case ADVERSARY_ABSURD:
        return absurd[pm_random_below(random, sizeof(absurd) / sizeof(absurd[0]))];
    default:
        return pm_random_below(random, 3) ? pm_random_unit(random) : pm_random_below(random, 2);
    }
}

static double *numbers(struct pm_random *random, enum adversary_profile profile, uint32_t count)
{
    double *list = calloc(count + 1, sizeof(*list));
    assert_non_null(list);
    for (uint32_t i = 0; i < count; i++)
        list[i] = number(random, profile);
    return list;
}

struct pm_zero_beyond adversary_beyond(uint64_t seed)
{
    return (struct pm_zero_beyond){
        .fit_regions = seed / 2 % 2, .hoist_across = seed / 4 % 2, .pairs = seed / 8 % 2};
}

bool adversary_specialize(const struct adversary_way *way, uint64_t seed,
                          const struct pm_zero_beyond *beyond, const struct pm_words *canonical,
                          bool never, bool quad, const struct pm_target *target,
                          const struct pm_driver *driver, struct pm_specialized *out,
                          struct pm_error *error)
{
    struct pm_zero_points zeros;
    struct pm_block_points blocks;
    struct pm_random random;
    if (!pm_zero_candidates(canonical->data, canonical->count, &zeros, error))
        return false;
    if (!pm_points_blocks(canonical->data, canonical->count, &blocks, error)) {
        pm_zero_points_finish(&zeros);
        return false;
    }
    pm_random_init(&random, seed * ADVERSARY_WAYS + (uint64_t)(way - adversary_ways));
    double *zero = numbers(&random, way->profile, zeros.count);
    double *writes = numbers(&random, way->profile, zeros.count);
    double *weights = numbers(&random, way->profile, blocks.count);
    const struct pm_zero_profile profile = {.zero = zero,
                                            .writes = way->weights ? writes : NULL,
                                            .candidate_count = zeros.count,
                                            .blocks = way->weights ? weights : NULL,
                                            .block_count = blocks.count};
    const struct pm_specialize_zero_info info = {.profile = &profile,
                                                 .all_candidates = true,
                                                 .float_zero =
                                                     never ? PM_FLOAT_ZERO_NEVER : way->float_zero,
                                                 .subgroup_quad = quad && !way->no_quad,
                                                 .target = *target,
                                                 .driver = driver,
                                                 .most_transforms = way->most_transforms,
                                                 .beyond = *beyond,
                                                 .take_all = way->take_all};
    bool ok = pm_specialize_zero(canonical->data, canonical->count, &info, out, error);
    free(zero);
    free(writes);
    free(weights);
    pm_zero_points_finish(&zeros);
    pm_block_points_finish(&blocks);
    return ok;
}
