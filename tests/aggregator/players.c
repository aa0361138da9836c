#include "tests/aggregator/players.h"

#include "profile/variant_point.h"
#include <math.h>
#include <stdlib.h>

enum { PAIRS = 16 /* of calls */, MOST_CHOICES = 64 };
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

/* What a player may measure: each recipe, and pairs. Recipes that the race does not speak of are
 * asked for as any other. */
struct choices {
    uint32_t points[MOST_CHOICES], count;
    double logs[MOST_CHOICES], shares[MOST_CHOICES];
    bool taken[MOST_CHOICES];
};

static void add_choice(struct choices *choices, uint32_t point, double log, double share)
{
    const uint32_t i = choices->count++;
    choices->points[i] = point;
    choices->logs[i] = log;
    choices->shares[i] = share;
}

/* A pair takes what both its recipes take, and what is so of that pair. */
static double log_of_pair(const struct truth *truth, const struct pm_variant_id *id)
{
    return truth->logs[id->first.number - 1] + truth->logs[id->second.number - 1] + truth->together;
}

static void find_choices(struct choices *choices, const struct truth *truth,
                         const struct pm_race *race)
{
    *choices = (struct choices){0};
    for (uint32_t i = 0; i < PLAYERS_VARIANTS; i++) {
        const struct pm_race_variant *variant =
            race ? pm_race_find_variant(race, players_point(i)) : NULL;
        add_choice(choices, players_point(i), truth->logs[i],
                   variant ? variant->share : 1.0 / PLAYERS_VARIANTS);
    }
    for (size_t i = 0;
         race && truth->pairs && i < race->variant_count && choices->count < MOST_CHOICES; i++) {
        const struct pm_race_variant *variant = &race->variants[i];
        struct pm_variant_id id;
        if (pm_variant_id_of(variant->point, &id) && id.second.number != 0 &&
            id.first.number <= PLAYERS_VARIANTS && id.second.number <= PLAYERS_VARIANTS)
            add_choice(choices, variant->point, log_of_pair(truth, &id), variant->share);
    }
}

/* By the shares, one that was not drawn before. */
static void draw(struct place *place, struct choices *choices)
{
    double all = 0;
    uint32_t last = 0;
    for (uint32_t i = 0; i < choices->count; i++)
        all += choices->taken[i] ? 0 : choices->shares[i];
    double at = all * pm_random_unit(&place->random);
    for (uint32_t i = 0; i < choices->count; i++) {
        if (choices->taken[i])
            continue;
        last = i;
        if ((at -= choices->shares[i]) < 0)
            break;
    }
    choices->taken[last] = true;
}

static int compare_points(const void *a, const void *b)
{
    const struct pm_point_counts *left = a, *right = b;
    return (left->point > right->point) - (left->point < right->point);
}

struct pm_shader_profile players_measure(struct place *place, uint64_t shader,
                                         const struct truth *truth, const struct pm_race *race)
{
    struct pm_point_counts points[PLAYERS_TRIED];
    struct choices choices;
    size_t count = 0;
    find_choices(&choices, truth, race);
    for (int i = 0; i < PLAYERS_TRIED; i++)
        draw(place, &choices);
    for (uint32_t i = 0; i < choices.count; i++) {
        const double noise = hypot(NOISE, APART) * normal(&place->random);
        if (choices.taken[i])
            points[count++] = pm_variant_counts(choices.points[i], PAIRS, choices.logs[i] + noise);
    }
    qsort(points, count, sizeof *points, compare_points);
    return players_profile(place, shader, points, count);
}

struct pm_shader_profile players_lie(struct place *place, uint64_t shader)
{
    const struct pm_point_counts points[] = {pm_variant_counts(players_point(5), UINT32_MAX, -1),
                                             pm_variant_counts(players_point(9), UINT32_MAX, -1)};
    return players_profile(place, shader, points, 2);
}
