#include "aggregator/curation/races.h"

#include "profile/variant_point.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ALPHA_LOST 0.05 /* shared among a race's variants */

/* Clusters of one half, over all and by days, ascending. */
struct half {
    struct pm_anytime sums; /* of logarithms */
    struct of_day {
        uint32_t day;
        double n;
    } * days;
    size_t count, allocated;
};

struct gathered_arm {
    uint32_t point;
    struct half halves[2]; /* choosing, held out */
};

struct pm_gathered_race {
    struct pm_shader_key key;
    struct pm_environment environment;
    uint32_t vouched_day;
    struct gathered_arm *arms; /* ascending by point */
    size_t count, allocated;
};

void pm_race_gathering_finish(struct pm_race_gathering *gathering)
{
    for (size_t i = 0; i < gathering->count; i++) {
        struct pm_gathered_race *race = &gathering->races[i];
        for (size_t j = 0; j < race->count; j++) {
            free(race->arms[j].halves[0].days);
            free(race->arms[j].halves[1].days);
        }
        free(race->arms);
    }
    free(gathering->races);
    *gathering = (struct pm_race_gathering){0};
}

/* ---- gathering ---- */

/* Blobs of one race follow each other. NULL: out of memory. */
static struct pm_gathered_race *race_of(struct pm_race_gathering *gathering,
                                        const struct pm_storage_key *key)
{
    struct pm_gathered_race *last =
        gathering->count > 0 ? &gathering->races[gathering->count - 1] : NULL;
    if (last && pm_shader_key_equal(&last->key, &key->key) &&
        memcmp(&last->environment, &key->environment, sizeof(key->environment)) == 0)
        return last;
    if (gathering->count == gathering->allocated) {
        const size_t allocated = gathering->allocated ? gathering->allocated * 2 : 16;
        struct pm_gathered_race *races = reallocarray(gathering->races, allocated, sizeof(*races));
        if (!races)
            return NULL;
        gathering->races = races;
        gathering->allocated = allocated;
    }
    last = &gathering->races[gathering->count++];
    *last = (struct pm_gathered_race){.key = key->key, .environment = key->environment};
    return last;
}

/* NULL: out of memory. */
static struct gathered_arm *arm_of(struct pm_gathered_race *race, uint32_t point)
{
    size_t low = 0, high = race->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (race->arms[middle].point < point)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < race->count && race->arms[low].point == point)
        return &race->arms[low];
    if (race->count == race->allocated) {
        const size_t allocated = race->allocated ? race->allocated * 2 : 32;
        struct gathered_arm *arms = reallocarray(race->arms, allocated, sizeof(*arms));
        if (!arms)
            return NULL;
        race->arms = arms;
        race->allocated = allocated;
    }
    memmove(&race->arms[low + 1], &race->arms[low], (race->count - low) * sizeof(*race->arms));
    race->arms[low] = (struct gathered_arm){.point = point};
    race->count++;
    return &race->arms[low];
}

/* Days come in order. NULL: out of memory. */
static struct of_day *day_of(struct half *half, uint32_t day)
{
    if (half->count > 0 && half->days[half->count - 1].day == day)
        return &half->days[half->count - 1];
    if (half->count == half->allocated) {
        const size_t allocated = half->allocated ? half->allocated * 2 : 4;
        struct of_day *days = reallocarray(half->days, allocated, sizeof(*days));
        if (!days)
            return NULL;
        half->days = days;
        half->allocated = allocated;
    }
    half->days[half->count] = (struct of_day){.day = day};
    return &half->days[half->count++];
}

static bool add_cell(struct half *half, uint32_t day, const struct pm_cell *cell)
{
    const double n = (double)cell->n, unit = 2 * PM_VARIANT_CLIP;
    const double r = (double)ldexpl(pm_wide_value(&cell->r), -PM_STATISTICS_RATIO_BITS);
    const double rr = (double)ldexpl(pm_wide_value(&cell->rr), -PM_STATISTICS_RATIO_BITS);
    struct of_day *of_day = day_of(half, day);
    if (!of_day)
        return false;
    of_day->n += n;
    half->sums.count += n;
    half->sums.sum += unit * (r - n / 2);
    half->sums.squares += unit * unit * (rr - r + n / 4);
    return true;
}

bool pm_race_gather(struct pm_race_gathering *gathering, const struct pm_storage_key *key,
                    const struct pm_statistics *statistics, uint32_t vouched_day,
                    struct pm_error *error)
{
    struct pm_gathered_race *race = race_of(gathering, key);
    if (!race)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a race of variants");
    race->vouched_day = vouched_day;
    for (size_t i = 0; i < statistics->count; i++) {
        const uint32_t point = statistics->points[i].point;
        if (!pm_variant_is_known(point))
            continue;
        struct gathered_arm *arm = arm_of(race, point);
        size_t cells = 0;
        const struct pm_cell *cell =
            pm_statistics_cells(statistics, point, PM_MEASURE_SAID, &cells);
        bool done = arm != NULL;
        for (size_t j = 0; done && j < cells; j++)
            done =
                add_cell(&arm->halves[(key->flags & PM_PROFILE_HELD_OUT) != 0], key->day, &cell[j]);
        if (!done)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory for a race of variants");
    }
    return true;
}

/* ---- judging ---- */

static int compare_days(const void *a, const void *b)
{
    const struct of_day *left = a, *right = b;
    return left->n < right->n ? -1 : left->n > right->n;
}

/* As if of so many clusters as are independent, had the same players come on all days. Of two days
 * then no more players are the same than the smaller has, so that Σ n² over players is at most
 * Σ min(n of a day, n of another) over all pairs of days (Kish). */
static struct pm_anytime independent(struct half half)
{
    struct of_day *sorted = calloc(half.count + 1, sizeof(*sorted));
    double squares = 0;
    if (!sorted)
        return (struct pm_anytime){0};
    memcpy(sorted, half.days, half.count * sizeof(*sorted));
    qsort(sorted, half.count, sizeof(*sorted), compare_days);
    for (size_t i = 0; i < half.count; i++)
        squares += sorted[i].n * (2 * (double)(half.count - 1 - i) + 1);
    free(sorted);
    const double share = squares > 0 ? fmin(half.sums.count / squares, 1) : 0;
    return (struct pm_anytime){half.sums.count * share, half.sums.sum * share,
                               half.sums.squares * share};
}

/* Clusters of the day that has most, of both halves. */
static double most_of_day(const struct gathered_arm *arm)
{
    const struct half *a = &arm->halves[0], *b = &arm->halves[1];
    double most = 0;
    for (size_t i = 0, j = 0; i < a->count || j < b->count;) {
        const uint32_t left = i < a->count ? a->days[i].day : UINT32_MAX;
        const uint32_t right = j < b->count ? b->days[j].day : UINT32_MAX;
        double n = 0;
        if (left <= right)
            n += a->days[i++].n;
        if (right <= left)
            n += b->days[j++].n;
        most = fmax(most, n);
    }
    return most;
}

static double clusters_of(const struct gathered_arm *arm)
{
    return arm->halves[0].sums.count + arm->halves[1].sums.count;
}

/* Those of which most speak first. */
static int compare_arms(const void *a, const void *b)
{
    const struct gathered_arm *left = a, *right = b;
    const double x = clusters_of(left), y = clusters_of(right);
    return x > y ? -1 : x < y ? 1 : (left->point > right->point) - (left->point < right->point);
}

static int compare_points(const void *a, const void *b)
{
    const struct gathered_arm *left = a, *right = b;
    return (left->point > right->point) - (left->point < right->point);
}

/* A race while it is judged: its arms beside their variants. */
struct judging {
    struct gathered_arm gathered[PM_RACE_ARMS + PM_RACE_PAIRS];
    struct pm_race_arm arms[PM_RACE_ARMS + PM_RACE_PAIRS];
    size_t count;
    struct pm_race_result result;
};

static void take_part(struct judging *judging, struct pm_gathered_race *race, uint32_t least)
{
    qsort(race->arms, race->count, sizeof(*race->arms), compare_arms);
    judging->count = 0;
    for (size_t i = 0; i < race->count && judging->count < PM_RACE_ARMS; i++) {
        if (most_of_day(&race->arms[i]) >= least)
            judging->gathered[judging->count++] = race->arms[i];
    }
    qsort(race->arms, race->count, sizeof(*race->arms), compare_points);
}

/* In the order of their points: recipes before pairs, so that a pair is nominated only where it is
 * faster than what it is made of. */
static bool judge(struct judging *judging, struct pm_error *error)
{
    qsort(judging->gathered, judging->count, sizeof(*judging->gathered), compare_points);
    for (size_t i = 0; i < judging->count; i++)
        judging->arms[i] =
            (struct pm_race_arm){.choosing = independent(judging->gathered[i].halves[0]),
                                 .held_out = independent(judging->gathered[i].halves[1])};
    return pm_race_judge(judging->arms, judging->count, &judging->result, error);
}

static bool is_there(const struct judging *judging, uint32_t point)
{
    for (size_t i = 0; i < judging->count; i++) {
        if (judging->gathered[i].point == point)
            return true;
    }
    return false;
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
            id.second.number == 0 &&
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
        first.second.number != 0)
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
            !is_there(judging, point) &&
            judging->count < sizeof(judging->arms) / sizeof(*judging->arms))
            judging->gathered[judging->count++] = (struct gathered_arm){.point = point};
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
            .clusters = (uint32_t)fmin(clusters_of(&judging->gathered[i]), UINT32_MAX),
            .lost = has_lost(judging, i)};
    }
    if (result->winner != PM_RACE_NONE) {
        race->winner = judging->gathered[result->winner].point;
        race->mean = result->mean;
        race->low = result->gain.low;
        race->high = result->gain.high;
    }
    return true;
}

/* count 0: nothing may be said of it. */
static bool judge_race(struct judging *judging, struct pm_gathered_race *race, uint32_t least,
                       struct pm_error *error)
{
    take_part(judging, race, least);
    if (judging->count == 0)
        return true;
    if (!judge(judging, error))
        return false;
    const size_t before = judging->count;
    add_pairs(judging);
    return judging->count == before || judge(judging, error);
}

bool pm_races_judge(const struct pm_race_gathering *gathering, const struct pm_curator *curator,
                    struct pm_arena *arena, struct pm_races *races, const uint32_t **vouched_days,
                    struct pm_error *error)
{
    const uint32_t least = curator->min_tokens > 1 ? curator->min_tokens : 1;
    struct pm_race *list = pm_arena_zalloc(arena, gathering->count + 1, sizeof(*list));
    uint32_t *days = pm_arena_zalloc(arena, gathering->count + 1, sizeof(*days));
    struct judging *judging = malloc(sizeof(*judging));
    bool done = (list && days && judging) ||
                pm_fail(error, PM_ERROR_MEMORY, "out of memory for races of variants");
    size_t count = 0;
    for (size_t i = 0; done && i < gathering->count; i++) {
        struct pm_gathered_race *race = &gathering->races[i];
        if (least > 1 && race->vouched_day == 0)
            continue;
        done = judge_race(judging, race, least, error);
        if (!done || judging->count == 0)
            continue;
        done = fill_race(judging, race, arena, &list[count], error);
        days[count++] = race->vouched_day;
    }
    free(judging);
    races->races = list;
    races->race_count = count;
    *vouched_days = days;
    return done;
}
