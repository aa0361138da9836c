#include "tests/shader_rewrite/differential/adversary_constants.h"

#include "base/random.h"
#include "tests/shader_rewrite/constants/constant_subject.h"

#include <stdlib.h>

#include "tests/cmocka_includes.h"

enum { ALL, SOME, OTHERS, ZEROES };
const char *const adversary_constant_ways[ADVERSARY_CONSTANT_WAYS] = {
    [ALL] = "all words known",
    [SOME] = "some words known",
    [OTHERS] = "words known to be something else",
    [ZEROES] = "some words known, and zeroes",
};

/* Returns how many words are known. */
static uint32_t choose(uint32_t way, struct pm_random *random, const struct pm_words *canonical,
                       const uint32_t *values, struct pm_constant_known *known)
{
    struct pm_constant_points words = constant_subject_words(canonical);
    uint32_t count = 0;
    for (uint32_t i = 0; i < words.count; i++) {
        const struct pm_constant_point *point = &words.points[i];
        const bool guarded = point->source == PM_CONSTANT_UNIFORM;
        assert_true(point->offset / 4 < RANDOM_SHADER_PUSH);
        uint32_t bits = values[point->offset / 4];
        if ((way == OTHERS && !guarded) ||
            ((way == SOME || way == ZEROES) && pm_random_below(random, 3) == 0))
            continue;
        if (way == OTHERS)
            bits = bits ? 0 : 0x3f800000;
        /* All descriptors are there, whatever path is taken. */
        known[count++] = (struct pm_constant_known){*point, bits, guarded};
    }
    pm_constant_points_finish(&words);
    return count;
}

static bool specialize(const struct pm_words *canonical, struct pm_random *random, bool quad,
                       struct pm_specialize_constants_info *info,
                       struct pm_specialized_constants *out, struct pm_error *error)
{
    struct pm_zero_points zeros;
    if (!pm_zero_candidates(canonical->data, canonical->count, &zeros, error))
        return false;
    double *zero = calloc(zeros.count + 1, sizeof(*zero));
    assert_non_null(zero);
    for (uint32_t i = 0; i < zeros.count; i++)
        zero[i] = pm_random_below(random, 2);
    const struct pm_zero_profile profile = {.zero = zero, .candidate_count = zeros.count};
    const struct pm_specialize_zero_info zeroes = {
        .profile = &profile, .zeros = &zeros, .subgroup_quad = quad, .take_all = true};
    info->zero = &zeroes;
    const bool ok = pm_specialize_constants(canonical->data, canonical->count, info, out, error);
    free(zero);
    pm_zero_points_finish(&zeros);
    return ok;
}

bool adversary_constants(uint32_t way, uint64_t seed, const struct pm_words *canonical,
                         const uint32_t *values, bool never, bool quad,
                         const struct pm_target *target, const struct pm_driver *driver,
                         struct pm_specialized_constants *out, struct pm_error *error)
{
    struct pm_constant_known known[RANDOM_SHADER_PUSH];
    struct pm_random random;
    pm_random_init(&random, seed * ADVERSARY_CONSTANT_WAYS + way);
    *out = (struct pm_specialized_constants){0};
    const uint32_t count = choose(way, &random, canonical, values, known);
    if (!count)
        return true;
    struct pm_specialize_constants_info info = {.known = known,
                                                .known_count = count,
                                                .float_zero = never ? PM_FLOAT_ZERO_NEVER
                                                                    : PM_FLOAT_ZERO_SHADER,
                                                .target = *target,
                                                .driver = driver,
                                                .take_all = true};
    return way == ZEROES
               ? specialize(canonical, &random, quad, &info, out, error)
               : pm_specialize_constants(canonical->data, canonical->count, &info, out, error);
}
