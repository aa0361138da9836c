/*
 * Fixed-width intervals are sequential: a point is published as soon as its intervals are narrow,
 * and so those that are narrow by chance come first. What its readers get is therefore judged at
 * that moment, over all games, each going on until then. Uploads are drawn from a finite population
 * of sessions, of which the truth is known exactly, one kind of point at a time, and all weigh the
 * same; statistics, estimates and rule are the service's, which looks every few seconds.
 */
#include "aggregator/aggregator.h"
#include "aggregator/statistics/estimate.h"
#include "bench/common/work_folder.h"
#include "bench/population/population_published.h"
#include "bench/population/population_share.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Looks become rarer with what there is: one more than so many uploads would change little. */
#define LOOK_SHARE 100u
/* The share of the games that must publish: where few do, they are those with narrow intervals by
 * chance. */
#define ENOUGH 0.99
#define MEASURES PM_MEASURES

enum { MEAN, RATIO, ESTIMATES };

struct published {
    const struct pm_population_options *options;
    struct pm_work_folder folder;
    struct pm_aggregator *aggregator; /* its rule */
    struct pm_random random;
    /* Of the kind of point that is played now. */
    bool bounded;
    struct pm_point_counts *sessions; /* options->truth of them, calls 0: did not measure it */
    struct pm_point_counts *uploads;  /* between two looks, and their profiles */
    struct pm_shader_profile *profiles;
    uint32_t *until; /* uploads, of each game that published it */
    uint64_t games;  /* that did */
    double truth[MEASURES][ESTIMATES];
    uint64_t covered[MEASURES][ESTIMATES];
};

/* What a measure is the ratio of (DESIGN, Contracts: Estimates). */
static void pair_of(const struct pm_point_counts *counts, unsigned measure, double *y, double *x)
{
    const uint64_t *of = counts->counts;
    const uint64_t pairs[MEASURES][2] = {
        [PM_MEASURE_FREQUENCY] = {of[PM_BLOCK_LANES], counts->entry_lanes},
        [PM_MEASURE_UNIFORM] = {of[PM_BLOCK_UNIFORM_LANES], of[PM_BLOCK_LANES]},
        [PM_MEASURE_SUBGROUPS] = {of[PM_BLOCK_SUBGROUPS], counts->entry_subgroups}};
    *y = (double)pairs[measure][0];
    *x = (double)pairs[measure][1];
}

static void find_truth(struct published *published)
{
    for (unsigned measure = 0; measure < MEASURES; measure++) {
        double n = 0, r = 0, all_x = 0, all_y = 0, y, x;
        for (uint64_t i = 0; i < published->options->truth; i++) {
            pair_of(&published->sessions[i], measure, &y, &x);
            if (x == 0)
                continue;
            n++;
            r += y / x;
            all_x += x;
            all_y += y;
        }
        published->truth[measure][MEAN] = n > 0 ? r / n : 0;
        published->truth[measure][RATIO] = n > 0 ? all_y / all_x : 0;
    }
}

/* The same players and sessions for every kind of point. */
static void make_sessions(struct published *published, uint32_t point)
{
    struct pm_random random;
    pm_random_init(&random, published->options->seed + 1);
    for (uint64_t i = 0; i < published->options->truth; i++) {
        struct pm_point_counts points[PM_GAME_POINTS];
        uint32_t client;
        const uint32_t used = pm_game_play(&published->options->game, &random, points, &client);
        published->sessions[i] = (struct pm_point_counts){0};
        for (uint32_t j = 0; j < used; j++) {
            if (points[j].point == point)
                published->sessions[i] = points[j];
        }
        published->sessions[i].point = 0;
    }
}

static void judge(struct published *published, const struct pm_point_estimate *found,
                  uint32_t uploads)
{
    const double slack = 1e-9; /* what is summed is rounded to 2^-32 */
    published->until[published->games++] = uploads;
    for (unsigned i = 0; i < MEASURES; i++) {
        const struct pm_ratio *ratio = &found->measures[i];
        const double *truth = published->truth[i];
        published->covered[i][MEAN] +=
            ratio->mean_low <= truth[MEAN] + slack && truth[MEAN] <= ratio->mean_high + slack;
        published->covered[i][RATIO] +=
            ratio->ratio_low <= truth[RATIO] + slack && truth[RATIO] <= ratio->ratio_high + slack;
    }
}

/* Adds so many uploads. */
static bool send(struct published *published, uint32_t uploads, struct pm_statistics *statistics,
                 struct pm_error *error)
{
    static const uint8_t once = 1;
    uint32_t used = 0;
    for (uint32_t i = 0; i < uploads; i++) {
        const uint32_t session =
            pm_random_below(&published->random, (uint32_t)published->options->truth);
        if (published->sessions[session].calls == 0)
            continue;
        published->uploads[used] = published->sessions[session];
        published->profiles[used] =
            (struct pm_shader_profile){.kind = PM_KIND_BLOCK,
                                       .space = 1,
                                       .at_most_once = published->bounded ? &once : NULL,
                                       .points = &published->uploads[used],
                                       .point_count = 1};
        used++;
    }
    return pm_statistics_add_profiles(statistics, published->profiles, used, error);
}

static uint32_t next_look(const struct pm_population_options *options, uint32_t uploads)
{
    const uint32_t share = uploads / LOOK_SHARE;
    return share > options->look ? share : options->look;
}

/* One game, until the point is published. */
static bool play(struct published *published, struct pm_error *error)
{
    const struct pm_population_options *options = published->options;
    struct pm_statistics statistics;
    bool known = false, done = true;
    pm_statistics_init(&statistics);
    for (uint32_t uploads = 0; done && !known && uploads < options->most;) {
        const uint32_t more = next_look(options, uploads);
        uploads += more;
        done = send(published, more, &statistics, error);
        if (!done || statistics.count == 0)
            continue;
        struct pm_point_estimate found;
        pm_estimate_point(&statistics, &statistics.points[0], &found);
        known = pm_aggregator_is_covered(published->aggregator, PM_KIND_BLOCK, &found) &&
                pm_aggregator_is_well_known(published->aggregator, PM_KIND_BLOCK, &found);
        if (known)
            judge(published, &found, uploads);
    }
    pm_statistics_finish(&statistics);
    return done;
}

/* ---- the table ---- */

static int compare(const void *a, const void *b)
{
    const uint32_t *left = a, *right = b;
    return *left < *right ? -1 : *left > *right;
}

static void print_uploads(const struct published *published)
{
    const uint64_t games = published->games;
    double sum = 0;
    if (games == 0) {
        printf(" | – | –");
        return;
    }
    qsort(published->until, games, sizeof(*published->until), compare);
    for (uint64_t i = 0; i < games; i++)
        sum += published->until[i];
    printf(" | %.0f | %" PRIu32 "–%" PRIu32, sum / (double)games, published->until[games / 20],
           published->until[games - 1 - games / 20]);
}

static bool print_row(const struct published *published, uint32_t point)
{
    const uint64_t trials = published->options->trials;
    uint64_t others = published->games; /* the least that one of the others is covered */
    bool right = ENOUGH * (double)trials <= (double)published->games;
    printf("| %s%s | %.4g, %.4g | %.1f", pm_game_point_name(point),
           published->bounded ? "" : " (unbounded)", published->truth[PM_MEASURE_FREQUENCY][MEAN],
           published->truth[PM_MEASURE_FREQUENCY][RATIO],
           100 * (double)published->games / (double)trials);
    print_uploads(published);
    for (unsigned i = 0; i < MEASURES; i++) {
        for (unsigned j = 0; j < ESTIMATES; j++) {
            const uint64_t covered = published->covered[i][j];
            double low, high;
            pm_population_share(covered, published->games, &low, &high);
            right = right && high >= published->options->least;
            if (i == PM_MEASURE_FREQUENCY)
                pm_population_print_share(covered, published->games);
            else if (covered < others)
                others = covered;
        }
    }
    pm_population_print_share(others, published->games);
    printf(" |%s\n", right ? "" : " !");
    fflush(stdout);
    return right;
}

static void print_head(const struct pm_population_options *options)
{
    const struct pm_game_setup *game = &options->game;
    printf("%" PRIu64 " games (seed %" PRIu64 ") for each kind of point. Each goes on until the "
           "point is published, at most %" PRIu32 " uploads; looked at every %" PRIu32
           " uploads, above %" PRIu32 " every %.0f %% more. Uploads are drawn from %" PRIu64
           " sessions of %u clients, which are the truth. A session: %g windows of %u frames on "
           "average, %g calls of the shader a frame, p = %g, b = %u of %u points.\n\n"
           "| point | truth: mean, ratio | published, %% | uploads until then | 5 %%–95 %% of the "
           "games | mean covered then, %% | ratio covered then, %% | least of uniform lanes and "
           "subgroups, %% |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- |\n",
           options->trials, options->seed, options->most, options->look, options->look * LOOK_SHARE,
           100.0 / LOOK_SHARE, options->truth, game->clients, game->windows, game->window_frames,
           game->calls, game->api_probability, game->batch, PM_GAME_POINTS);
}

static bool play_row(struct published *published, uint32_t point, struct pm_error *error)
{
    published->bounded = pm_game_point_is_bounded(point);
    published->games = 0;
    memset(published->covered, 0, sizeof(published->covered));
    pm_random_init(&published->random, published->options->seed);
    make_sessions(published, point);
    find_truth(published);
    for (uint64_t i = 0; i < published->options->trials; i++) {
        if (!play(published, error))
            return false;
    }
    return true;
}

static bool prepare(struct published *published, struct pm_error *error)
{
    const struct pm_population_options *options = published->options;
    const size_t between = next_look(options, options->most);
    char path[128];
    published->sessions = calloc(options->truth, sizeof(*published->sessions));
    published->uploads = calloc(between, sizeof(*published->uploads));
    published->profiles = calloc(between, sizeof(*published->profiles));
    published->until = calloc(options->trials, sizeof(*published->until));
    if (!published->sessions || !published->uploads || !published->profiles || !published->until)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    snprintf(path, sizeof(path), "%s/rule", published->folder.path);
    published->aggregator = pm_aggregator_open(path, &(struct pm_aggregator_info){0}, error);
    return published->aggregator != NULL;
}

bool pm_population_published(const struct pm_population_options *options, bool *right,
                             struct pm_error *error)
{
    struct published published = {.options = options};
    if (!pm_work_folder_create(&published.folder, error))
        return false;
    bool done = prepare(&published, error);
    *right = true;
    if (done)
        print_head(options);
    for (uint32_t i = 0; done && i < PM_GAME_POINTS; i++) {
        if (options->point != PM_GAME_POINTS && options->point != i)
            continue;
        done = play_row(&published, i, error);
        *right = done && print_row(&published, i) && *right;
    }
    pm_aggregator_destroy(published.aggregator);
    pm_work_folder_remove(&published.folder);
    free(published.sessions);
    free(published.uploads);
    free(published.profiles);
    free(published.until);
    return done;
}
