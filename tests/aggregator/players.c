#include "tests/aggregator/players.h"

#include "profile/variant_point.h"
#include <math.h>
#include <stdlib.h>

enum { PAIRS = 16 };
#define NOISE 0.02 /* of what a player's day says of a variant */
#define APART 0.01 /* how much players' truths differ */

struct pm_environment players_environment(void)
{
    return (struct pm_environment){32, 0x10de, 0x2330, 4, 550};
}

uint32_t players_point(uint32_t variant)
{
    /* Of the version that is known today. */
    for (uint32_t version = 1; version <= PM_VARIANT_VERSIONS; version++) {
        const struct pm_variant_id id = {.first = {variant + 1, version}};
        uint32_t point = 0;
        if (pm_variant_point(&id, &point) && pm_variant_is_known(point))
            return point;
    }
    abort();
}

struct pm_shader_profile players_profile(struct place *place, uint64_t shader,
                                         const struct pm_point_counts *points, size_t count)
{
    struct pm_shader_profile profile =
        block_shader(place->arena, shader, PM_VARIANT_SPACE, points, count);
    profile.kind = PM_KIND_VARIANT;
    profile.environment = players_environment();
    return profile;
}

static double normal(struct pm_random *random)
{
    const double u = 1 - pm_random_unit(random), angle = 6.283185307179586 * pm_random_unit(random);
    return sqrt(-2 * log(u)) * cos(angle);
}

/* By the shares, without what was drawn before; what the race does not speak of is asked for as any
 * other. */
static uint32_t draw(struct place *place, const struct pm_race *race, const bool *taken)
{
    double shares[PLAYERS_VARIANTS], all = 0;
    uint32_t last = 0;
    for (uint32_t i = 0; i < PLAYERS_VARIANTS; i++) {
        const struct pm_race_variant *variant =
            race ? pm_race_find_variant(race, players_point(i)) : NULL;
        shares[i] = taken[i] ? 0 : variant ? variant->share : 1.0 / PLAYERS_VARIANTS;
        all += shares[i];
    }
    double at = all * pm_random_unit(&place->random);
    for (uint32_t i = 0; i < PLAYERS_VARIANTS; i++) {
        if (taken[i])
            continue;
        last = i;
        if ((at -= shares[i]) < 0)
            break;
    }
    return last;
}

struct pm_shader_profile players_measure(struct place *place, uint64_t shader,
                                         const struct truth *truth, const struct pm_race *race)
{
    struct pm_point_counts points[PLAYERS_TRIED];
    bool taken[PLAYERS_VARIANTS] = {false};
    size_t count = 0;
    for (int i = 0; i < PLAYERS_TRIED; i++)
        taken[draw(place, race, taken)] = true;
    for (uint32_t i = 0; i < PLAYERS_VARIANTS; i++) {
        const double noise = hypot(NOISE, APART) * normal(&place->random);
        if (taken[i])
            points[count++] = pm_variant_counts(players_point(i), PAIRS, truth->logs[i] + noise);
    }
    return players_profile(place, shader, points, count);
}

struct pm_shader_profile players_lie(struct place *place, uint64_t shader)
{
    const struct pm_point_counts points[] = {pm_variant_counts(players_point(5), UINT32_MAX, -1),
                                             pm_variant_counts(players_point(9), UINT32_MAX, -1)};
    return players_profile(place, shader, points, 2);
}
