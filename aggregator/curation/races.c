#include "aggregator/curation/races.h"

#include "profile/variant_point.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALPHA_LOST 0.05 /* shared among a race's variants */
/* Of an encoding, at most; and what all may take. */
enum { RACE_BYTES = 128, VARIANT_BYTES = 24 };
#define ROOM (PM_RACES_BYTES - 4096)

/* Those of which most speak first. */
static int compare_arms(const void *a, const void *b)
{
    const struct pm_gathered_arm *left = a, *right = b;
    const double x = pm_race_clusters(left), y = pm_race_clusters(right);
    return x > y ? -1 : x < y ? 1 : (left->point > right->point) - (left->point < right->point);
}

static int compare_points(const void *a, const void *b)
{
    const struct pm_gathered_arm *left = a, *right = b;
    return (left->point > right->point) - (left->point < right->point);
}

static int compare_variants(const void *a, const void *b)
{
    const struct pm_race_variant *left = a, *right = b;
    return (left->point > right->point) - (left->point < right->point);
}

/* Those that are taken first where they are alike. */
static int compare_ranks(const void *a, const void *b)
{
    struct pm_variant_id left = {0}, right = {0};
    pm_variant_id_of(((const struct pm_gathered_arm *)a)->point, &left);
    pm_variant_id_of(((const struct pm_gathered_arm *)b)->point, &right);
    const uint32_t x = pm_variant_rank(&left), y = pm_variant_rank(&right);
    return (x > y) - (x < y);
}

/* A race while it is judged: its arms beside their variants. */
struct judging {
    struct pm_gathered_arm gathered[PM_RACE_ARMS + PM_RACE_PAIRS];
    struct pm_race_arm arms[PM_RACE_ARMS + PM_RACE_PAIRS];
    size_t count;
    struct pm_race_result result;
};

static void take_part(struct judging *judging, struct pm_gathered_race *race, uint32_t least)
{
    qsort(race->arms, race->count, sizeof(*race->arms), compare_arms);
    judging->count = 0;
    for (size_t i = 0; i < race->count && judging->count < PM_RACE_ARMS; i++) {
        if (pm_race_most_of_day(&race->arms[i]) >= least)
            judging->gathered[judging->count++] = race->arms[i];
    }
    qsort(race->arms, race->count, sizeof(*race->arms), compare_points);
}

static size_t index_of(const struct judging *judging, uint32_t point)
{
    for (size_t i = 0; i < judging->count; i++)
        if (judging->gathered[i].point == point)
            return i;
    return PM_RACE_NONE;
}

/* In the order of their ranks: recipes before pairs, so that a pair is nominated only where it is
 * faster than what it is made of. winner: the point that has won before; 0: none has. */
static bool judge(struct judging *judging, uint32_t winner, struct pm_error *error)
{
    qsort(judging->gathered, judging->count, sizeof(*judging->gathered), compare_ranks);
    for (size_t i = 0; i < judging->count; i++)
        judging->arms[i] =
            (struct pm_race_arm){.choosing = pm_race_independent(&judging->gathered[i].halves[0]),
                                 .held_out = pm_race_independent(&judging->gathered[i].halves[1])};
    const size_t standing = winner != 0 ? index_of(judging, winner) : PM_RACE_NONE;
    return pm_race_judge(judging->arms, judging->count, standing, &judging->result, error);
}

/* The fastest recipe but for the winner and those that were taken before. SIZE_MAX: there is none
 * that seems to gain anything. */
static size_t next_best(const struct judging *judging, size_t count, const bool *taken)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        struct pm_variant_id id;
        const double mean = pm_anytime_mean(&judging->arms[i].choosing);
        if (!taken[i] && mean < 0 && pm_variant_id_of(judging->gathered[i].point, &id) &&
            id.second.number == 0 && id.first.number != PM_VARIANT_CANONICAL &&
            (best == SIZE_MAX || mean < pm_anytime_mean(&judging->arms[best].choosing)))
            best = i;
    }
    return best;
}

/* Pairs of the winner that nobody measured yet. */
static void add_pairs(struct judging *judging)
{
    const size_t winner = judging->result.winner, count = judging->count;
    struct pm_variant_id first, second;
    bool taken[PM_RACE_ARMS + PM_RACE_PAIRS] = {false};
    if (winner == PM_RACE_NONE || !pm_variant_id_of(judging->gathered[winner].point, &first) ||
        first.second.number != 0 || first.first.number == PM_VARIANT_CANONICAL)
        return;
    taken[winner] = true;
    for (unsigned i = 0; i < PM_RACE_PAIRS; i++) {
        const size_t best = next_best(judging, count, taken);
        uint32_t point;
        if (best == SIZE_MAX)
            return;
        taken[best] = true;
        if (!pm_variant_id_of(judging->gathered[best].point, &second))
            continue;
        const bool size = pm_variant_subgroup_size(&first.first) != 0; /* it comes last */
        const struct pm_variant_id pair = {size ? second.first : first.first,
                                           size ? first.first : second.first};
        if (pm_variant_point(&pair, &point) && pm_variant_is_known(point) &&
            index_of(judging, point) == PM_RACE_NONE &&
            judging->count < sizeof(judging->arms) / sizeof(*judging->arms))
            judging->gathered[judging->count++] = (struct pm_gathered_arm){.point = point};
    }
}

/* Slower for sure than the original, or than the winner. Nothing is chosen by it, so all clusters
 * count. */
static bool has_lost(const struct judging *judging, size_t i)
{
    struct pm_anytime all = judging->arms[i].choosing;
    pm_anytime_merge(&all, &judging->arms[i].held_out);
    const double alpha = ALPHA_LOST / (double)judging->count;
    const double low = pm_anytime_interval(&all, alpha).low;
    const bool won = judging->result.winner != PM_RACE_NONE;
    return !(won && judging->result.winner == i) &&
           (low > 0 || (won && low > judging->result.gain.high));
}

static bool fill_race(const struct judging *judging, const struct pm_gathered_race *from,
                      struct pm_arena *arena, struct pm_race *race, struct pm_error *error)
{
    struct pm_race_variant *variants =
        pm_arena_zalloc(arena, judging->count + 1, sizeof(*variants));
    const struct pm_race_result *result = &judging->result;
    if (!variants)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a race of variants");
    *race = (struct pm_race){.key = from->key,
                             .environment = from->environment,
                             .variants = variants,
                             .variant_count = judging->count};
    for (size_t i = 0; i < judging->count; i++) {
        struct pm_anytime all = judging->arms[i].choosing;
        pm_anytime_merge(&all, &judging->arms[i].held_out);
        variants[i] = (struct pm_race_variant){
            .point = judging->gathered[i].point,
            .share = fmax(0, fmin(judging->arms[i].share, 1)),
            .log_time = pm_anytime_mean(&all),
            .clusters = (uint32_t)fmin(pm_race_clusters(&judging->gathered[i]), UINT32_MAX),
            .lost = has_lost(judging, i)};
    }
    qsort(variants, judging->count, sizeof(*variants), compare_variants);
    if (result->winner != PM_RACE_NONE) {
        race->winner = judging->gathered[result->winner].point;
        race->mean = result->mean;
        race->low = result->gain.low;
        race->high = result->gain.high;
    }
    return true;
}

/* Of the pairs there is nothing but what is believed before anything is known. That says how often
 * each is to be measured, and takes nothing from a winner. */
static bool judge_with_pairs(struct judging *judging, struct pm_error *error)
{
    const struct pm_race_result result = judging->result;
    const uint32_t winner = judging->gathered[result.winner].point;
    if (!judge(judging, winner, error))
        return false;
    judging->result = result;
    judging->result.winner = index_of(judging, winner);
    return true;
}

/* count 0: nothing may be said of it. winner: as judge's. */
static bool judge_race(struct judging *judging, struct pm_gathered_race *race, uint32_t least,
                       uint32_t winner, struct pm_error *error)
{
    take_part(judging, race, least);
    if (judging->count == 0)
        return true;
    if (!judge(judging, winner, error))
        return false;
    const size_t before = judging->count;
    add_pairs(judging);
    return judging->count == before || judge_with_pairs(judging, error);
}

/* ---- all of a game ---- */

struct judged_race {
    struct pm_race race;
    uint32_t vouched_day;
    uint32_t clusters; /* of the variant that has most */
};

static int compare_clusters(const void *a, const void *b)
{
    const struct judged_race *left = a, *right = b;
    return left->clusters != right->clusters ? (left->clusters > right->clusters ? -1 : 1)
                                             : pm_race_compare(&left->race, &right->race);
}

static int compare_races(const void *a, const void *b)
{
    return pm_race_compare(&((const struct judged_race *)a)->race,
                           &((const struct judged_race *)b)->race);
}

/* Those that there is room for, the races that most take part in first; then in their order. */
static size_t bound(struct judged_race *judged, size_t count)
{
    size_t bytes = 0, kept = 0;
    if (count > 1)
        qsort(judged, count, sizeof(*judged), compare_clusters);
    while (kept < count &&
           (bytes += RACE_BYTES + VARIANT_BYTES * judged[kept].race.variant_count) <= ROOM)
        kept++;
    if (kept > 1)
        qsort(judged, kept, sizeof(*judged), compare_races);
    return kept;
}

static uint32_t most_clusters(const struct pm_race *race)
{
    uint32_t most = 0;
    for (size_t i = 0; i < race->variant_count; i++)
        most = race->variants[i].clusters > most ? race->variants[i].clusters : most;
    return most;
}

/* The list, of which *count are filled; malloc'ed. NULL: see *error. */
static struct judged_race *judge_all(const struct pm_race_gathering *gathering, uint32_t least,
                                     const struct pm_races *before, struct pm_arena *arena,
                                     size_t *count, struct pm_error *error)
{
    struct judged_race *list = calloc(gathering->count + 1, sizeof(*list));
    struct judging *judging = malloc(sizeof(*judging));
    bool done =
        (list && judging) || pm_fail(error, PM_ERROR_MEMORY, "out of memory for races of variants");
    *count = 0;
    for (size_t i = 0; done && i < gathering->count; i++) {
        struct pm_gathered_race *race = &gathering->races[i];
        struct judged_race *judged = &list[*count];
        if (least > 1 && race->vouched_day == 0)
            continue;
        const struct pm_race *old = pm_races_find(before, &race->key, &race->environment);
        done = judge_race(judging, race, least, old ? old->winner : 0, error);
        if (!done || judging->count == 0)
            continue;
        done = fill_race(judging, race, arena, &judged->race, error);
        judged->vouched_day = race->vouched_day;
        judged->clusters = most_clusters(&judged->race);
        ++*count;
    }
    free(judging);
    if (done)
        return list;
    free(list);
    return NULL;
}

bool pm_races_judge(const struct pm_race_gathering *gathering, const struct pm_curator *curator,
                    const struct pm_races *before, struct pm_arena *arena, struct pm_races *races,
                    const uint32_t **vouched_days, struct pm_error *error)
{
    size_t count;
    struct judged_race *judged = judge_all(
        gathering, curator->min_tokens > 1 ? curator->min_tokens : 1, before, arena, &count, error);
    if (!judged)
        return false;
    count = bound(judged, count);
    struct pm_race *list = pm_arena_zalloc(arena, count + 1, sizeof(*list));
    uint32_t *days = pm_arena_zalloc(arena, count + 1, sizeof(*days));
    for (size_t i = 0; list && days && i < count; i++) {
        list[i] = judged[i].race;
        days[i] = judged[i].vouched_day;
    }
    free(judged);
    races->races = list;
    races->race_count = count;
    *vouched_days = days;
    return (list && days) || pm_fail(error, PM_ERROR_MEMORY, "out of memory for races of variants");
}
