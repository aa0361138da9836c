#include "aggregator/curation/race_gathering.h"

#include "profile/variant_point.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
static struct pm_gathered_arm *arm_of(struct pm_gathered_race *race, uint32_t point)
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
        struct pm_gathered_arm *arms = reallocarray(race->arms, allocated, sizeof(*arms));
        if (!arms)
            return NULL;
        race->arms = arms;
        race->allocated = allocated;
    }
    memmove(&race->arms[low + 1], &race->arms[low], (race->count - low) * sizeof(*race->arms));
    race->arms[low] = (struct pm_gathered_arm){.point = point};
    race->count++;
    return &race->arms[low];
}

/* Days come in order. NULL: out of memory. */
static struct pm_race_day *day_of(struct pm_race_half *half, uint32_t day)
{
    if (half->count > 0 && half->days[half->count - 1].day == day)
        return &half->days[half->count - 1];
    if (half->count == half->allocated) {
        const size_t allocated = half->allocated ? half->allocated * 2 : 4;
        struct pm_race_day *days = reallocarray(half->days, allocated, sizeof(*days));
        if (!days)
            return NULL;
        half->days = days;
        half->allocated = allocated;
    }
    half->days[half->count] = (struct pm_race_day){.day = day};
    return &half->days[half->count++];
}

static bool add_cell(struct pm_race_half *half, uint32_t day, const struct pm_cell *cell)
{
    const double n = (double)cell->n, unit = 2 * PM_VARIANT_CLIP;
    const double r = (double)ldexpl(pm_wide_value(&cell->r), -PM_STATISTICS_RATIO_BITS);
    const double rr = (double)ldexpl(pm_wide_value(&cell->rr), -PM_STATISTICS_RATIO_BITS);
    struct pm_race_day *of_day = day_of(half, day);
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
        struct pm_gathered_arm *arm = arm_of(race, point);
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

/* ---- what it comes to ---- */

static int compare_days(const void *a, const void *b)
{
    const struct pm_race_day *left = a, *right = b;
    return left->n < right->n ? -1 : left->n > right->n;
}

/* Of two days no more players are the same than the smaller has, so that Σ n² over players is at
 * most Σ min(n of a day, n of another) over all pairs of days. */
struct pm_anytime pm_race_independent(const struct pm_race_half *half)
{
    struct pm_race_day *sorted = calloc(half->count + 1, sizeof(*sorted));
    double squares = 0;
    if (!sorted)
        return (struct pm_anytime){0};
    if (half->count > 0)
        memcpy(sorted, half->days, half->count * sizeof(*sorted));
    qsort(sorted, half->count, sizeof(*sorted), compare_days);
    for (size_t i = 0; i < half->count; i++)
        squares += sorted[i].n * (2 * (double)(half->count - 1 - i) + 1);
    free(sorted);
    const double share = squares > 0 ? fmin(half->sums.count / squares, 1) : 0;
    return (struct pm_anytime){half->sums.count * share, half->sums.sum * share,
                               half->sums.squares * share};
}

double pm_race_most_of_day(const struct pm_gathered_arm *arm)
{
    const struct pm_race_half *a = &arm->halves[0], *b = &arm->halves[1];
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

double pm_race_clusters(const struct pm_gathered_arm *arm)
{
    return arm->halves[0].sums.count + arm->halves[1].sums.count;
}
