/*
 * A game that is patched: on one day, how often the values of a shader are zero becomes another.
 * Players differ (log-normal odds), and the same ones come on every day, each as one cluster; a
 * player's sessions vary a little. The truth is that of the day, over all players that there could
 * be. Statistics, ageing and estimates are the service's, with tokens.
 */
#include "bench/population/population_shift.h"

#include "aggregator/statistics/estimate.h"
#include "aggregator/statistics/series.h"
#include "bench/population/population_draw.h"
#include "bench/population/population_share.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    SPACE = 8,
    BEFORE = 21, /* days */
    AFTER = 10,
    FOLLOWED = 4, /* the day, from 1, on which estimates have followed at the latest */
    DAYS = BEFORE + AFTER,
    FIRST_DAY = 20000,
    WRITES = 4096,
    DRAWS = 100000,
    PLAYERS_MOST = 1000,
};
#define OWN 0.5 /* sigma of a player's odds */
#define FALSE_MOST 0.05

struct row {
    unsigned players;
    double from, to; /* odds of half of the values; the others stay at `from` */
    bool follows;    /* large enough for so many players */
};

static const struct row rows[] = {
    {30, 0.5, 0.5, false},    {100, 0.5, 0.5, false}, {400, 0.5, 0.5, false},
    {100, 0.01, 0.01, false}, {30, 0.1, 4, true},     {100, 0.1, 0.5, true},
    {100, 4, 0.1, true},      {400, 0.5, 0.8, true},  {1000, 0.05, 0.15, true},
};

struct tally {
    uint64_t games, anew_early, anew;                /* before the patch; by the day FOLLOWED */
    uint64_t held_before, before, held_after, after; /* intervals, and how many hold the truth */
    double error[AFTER + 1];                         /* mean of |estimate - truth|, of each day */
    double error_aged;                               /* on the last day, by ageing alone */
};

struct played {
    const struct pm_population_options *options;
    struct pm_random random;
    struct pm_buffer bytes;
    struct pm_series_blob blobs[DAYS];
    double own[PLAYERS_MOST];
    double truth[2]; /* before, after */
};

static double truth_of(double odds, struct pm_random *random)
{
    double sum = 0;
    for (unsigned i = 0; i < DRAWS; i++) {
        const double own = odds * exp(OWN * pm_population_normal(random));
        sum += own / (1 + own);
    }
    return sum / DRAWS;
}

static bool play_day(struct played *played, const struct row *row, unsigned day,
                     struct pm_error *error)
{
    struct pm_statistics statistics;
    struct pm_buffer encoded;
    bool done = true;
    pm_statistics_init(&statistics);
    pm_buffer_init(&encoded, (size_t)64 << 20);
    for (unsigned i = 0; done && i < row->players; i++) {
        struct pm_point_counts points[SPACE];
        for (uint32_t j = 0; j < SPACE; j++) {
            const double odds =
                (day >= BEFORE && j % 2 == 0 ? row->to : row->from) * played->own[i];
            const double noise = 0.1 * (pm_random_unit(&played->random) - 0.5);
            const double share = fmin(fmax(odds / (1 + odds) * (1 + noise), 0), 1);
            points[j] = (struct pm_point_counts){.point = j,
                                                 .calls = 4,
                                                 .entry_lanes = WRITES,
                                                 .entry_subgroups = WRITES,
                                                 .counts = {WRITES, (uint64_t)(WRITES * share)}};
        }
        const struct pm_shader_profile shader = {
            .kind = PM_KIND_ZERO, .space = SPACE, .points = points, .point_count = SPACE};
        done = pm_statistics_add_profile(&statistics, &shader, error);
    }
    done = done && pm_statistics_encode(&statistics, &encoded, error);
    const size_t at = played->bytes.size;
    done = done && (pm_buffer_append(&played->bytes, encoded.data, encoded.size) ||
                    pm_fail(error, PM_ERROR_MEMORY, "out of memory"));
    played->blobs[day] =
        (struct pm_series_blob){FIRST_DAY + day, 0, (const void *)(uintptr_t)at, encoded.size};
    pm_statistics_finish(&statistics);
    pm_buffer_finish(&encoded);
    return done;
}

static void judge(struct played *played, const struct pm_series *series, unsigned day,
                  struct tally *tally)
{
    for (uint32_t i = 0; i < SPACE; i++) {
        struct pm_point_estimate found;
        const bool after = day >= BEFORE;
        const double truth = played->truth[after && i % 2 == 0];
        pm_estimate_aged_point(&series->aged, &series->aged.points[i], &found);
        const struct pm_ratio *zero = &found.measures[PM_MEASURE_ZERO];
        const bool held = zero->mean_low <= truth && truth <= zero->mean_high;
        if (after && i % 2 == 0)
            tally->error[day - BEFORE + 1] += fabs(zero->mean - truth);
        if (day + 1 == BEFORE) {
            tally->before++;
            tally->held_before += held;
        } else if (day >= BEFORE + FOLLOWED - 1) {
            tally->after++;
            tally->held_after += held;
        }
    }
}

/* What is known once so many days are there. */
static bool look(struct played *played, unsigned days, uint32_t half_life, struct tally *tally,
                 uint32_t *since, struct pm_error *error)
{
    struct pm_series_blob blobs[DAYS];
    struct pm_series plain, all;
    size_t bad;
    pm_series_init(&plain);
    pm_series_init(&all);
    plain.aged.strangers = true;
    for (unsigned i = 0; i < days; i++) {
        blobs[i] = played->blobs[i];
        blobs[i].data = played->bytes.data + (uintptr_t)blobs[i].data;
    }
    const bool done = pm_series_read(blobs, days, half_life, &plain, &all, since, &bad, error);
    if (done)
        judge(played, &plain, days - 1, tally);
    pm_series_finish(&plain);
    pm_series_finish(&all);
    return done;
}

/* By ageing alone, on the last day. */
static bool look_without(struct played *played, uint32_t half_life, struct tally *tally,
                         struct pm_error *error)
{
    struct pm_aged aged;
    bool done = true;
    pm_aged_init(&aged);
    for (unsigned i = 0; done && i < DAYS; i++) {
        struct pm_statistics statistics;
        const struct pm_series_blob *blob = &played->blobs[i];
        pm_statistics_init(&statistics);
        done = pm_statistics_decode(played->bytes.data + (uintptr_t)blob->data, blob->size,
                                    &statistics, error) &&
               pm_aged_add(&aged, &statistics, blob->day, half_life, error);
        pm_statistics_finish(&statistics);
    }
    for (uint32_t i = 0; done && i < SPACE; i += 2) {
        struct pm_point_estimate found;
        pm_estimate_aged_point(&aged, &aged.points[i], &found);
        tally->error_aged += fabs(found.measures[PM_MEASURE_ZERO].mean - played->truth[1]);
    }
    pm_aged_finish(&aged);
    return done;
}

static bool play(struct played *played, const struct row *row, struct tally *tally,
                 struct pm_error *error)
{
    const uint32_t half_life = played->options->half_life;
    uint32_t since = 0;
    bool done = true, followed = false, early = false;
    played->bytes.size = 0;
    for (unsigned i = 0; i < row->players; i++)
        played->own[i] = exp(OWN * pm_population_normal(&played->random));
    for (unsigned day = 0; done && day < DAYS; day++) {
        done = play_day(played, row, day, error);
        if (!done || day + 1 < BEFORE)
            continue;
        done = look(played, day + 1, half_life, tally, &since, error);
        early = early || (day + 1 == BEFORE && since != 0);
        followed = followed || (day + 1 == BEFORE + FOLLOWED && since == FIRST_DAY + BEFORE);
    }
    tally->games++;
    tally->anew_early += early;
    tally->anew += followed;
    return done && look_without(played, half_life, tally, error);
}

/* Intervals of one game are of the same players: as sure as so many games are. */
static bool print_held(uint64_t held, uint64_t intervals, uint64_t games, double least)
{
    const uint64_t hits = (uint64_t)llround((double)held / (double)intervals * (double)games);
    double low, high;
    pm_population_share(hits, games, &low, &high);
    printf(" | %.2f (%.2f–%.2f)", 100.0 * (double)held / (double)intervals, 100 * low, 100 * high);
    return high >= least;
}

static bool print_row(const struct row *row, const struct played *played, const struct tally *tally)
{
    const double points = (double)tally->games * SPACE / 2, least = played->options->least;
    double low, high;
    pm_population_share(tally->anew_early, tally->games, &low, &high);
    bool right = low <= FALSE_MOST;
    printf("| %u | %.3f | %.3f | %.1f | %.1f", row->players, played->truth[0], played->truth[1],
           100.0 * (double)tally->anew_early / (double)tally->games,
           100.0 * (double)tally->anew / (double)tally->games);
    static const unsigned shown[] = {1, 2, 3, 5, 10};
    for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++)
        printf(" | %.3f", tally->error[shown[i]] / points);
    printf(" | %.3f", tally->error_aged / points);
    right = print_held(tally->held_before, tally->before, tally->games, least) && right;
    right = print_held(tally->held_after, tally->after, tally->games, least) && right;
    pm_population_share(tally->anew, tally->games, &low, &high);
    right = right && (!row->follows || high >= least);
    printf(" |%s\n", right ? "" : " !");
    fflush(stdout);
    return right;
}

bool pm_population_shift(const struct pm_population_options *options, bool *right,
                         struct pm_error *error)
{
    struct played played = {.options = options};
    bool done = true;
    pm_buffer_init(&played.bytes, (size_t)256 << 20);
    printf("%" PRIu64 " games in each row (seed %" PRIu64 "), half-life %u days. The same players "
           "come on %d days; then half of %d values become zero as often as `to` says, for %d days."
           "\n\n| players a day | from | to | began anew before, %% | with the patch, by its day "
           "%d, %% | off on day 1 | 2 | 3 | 5 | 10 | 10, by ageing alone | held before, %% | held "
           "from day %d on, %% |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
           options->trials, options->seed, options->half_life, BEFORE, SPACE, AFTER, FOLLOWED,
           FOLLOWED);
    *right = true;
    for (size_t i = 0; done && i < sizeof(rows) / sizeof(*rows); i++) {
        struct tally tally = {0};
        struct pm_random random;
        pm_random_init(&random, 7);
        played.truth[0] = truth_of(rows[i].from, &random);
        played.truth[1] = truth_of(rows[i].to, &random);
        pm_random_init(&played.random, options->seed + i);
        for (uint64_t j = 0; done && j < options->trials; j++)
            done = play(&played, &rows[i], &tally, error);
        if (done)
            *right = print_row(&rows[i], &played, &tally) && *right;
    }
    pm_buffer_finish(&played.bytes);
    return done;
}
