#include "aggregator/aggregator.h"
#include "bench/common/work_folder.h"
#include "bench/population/population_intervals.h"
#include "bench/population/population_share.h"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY 86400
#define FIRST_DAY 20000
#define TRIALS_A_FILE 250u /* of the storage, which would else grow without end */
#define SESSIONS_MOST 4096u

enum { MEAN, RATIO, ESTIMATES };

/* One estimate of one point over all trials. */
struct tally {
    uint64_t judged, covered;               /* at the end */
    uint64_t stopped, covered_when_stopped; /* when its deficit ended */
    double half_width;                      /* summed */
};

struct simulation {
    const struct pm_population_options *options;
    struct pm_work_folder folder;
    char path[PATH_MAX]; /* of the storage */
    struct pm_aggregator *aggregator;
    int64_t now;
    struct pm_random random;
    struct pm_game_truth truth[PM_GAME_POINTS];
    struct tally tallies[PM_GAME_POINTS][ESTIMATES];
    uint64_t clusters, deficit_ended; /* summed over trials */
};

static int64_t simulation_clock(void *user)
{
    return ((const struct simulation *)user)->now;
}

static void remove_storage(const struct simulation *simulation)
{
    static const char *const companions[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof(companions) / sizeof(*companions); i++) {
        char path[PATH_MAX + 8];
        snprintf(path, sizeof(path), "%s%s", simulation->path, companions[i]);
        remove(path);
    }
}

static bool reopen(struct simulation *simulation, struct pm_error *error)
{
    const struct pm_aggregator_info info = {.half_life_days = simulation->options->half_life,
                                            .retention_days = PM_RETENTION_DAYS,
                                            .token_clusters = PM_TOKEN_CLUSTERS,
                                            .min_tokens = PM_MIN_TOKENS,
                                            .clock = simulation_clock,
                                            .clock_user = simulation};
    pm_aggregator_destroy(simulation->aggregator);
    remove_storage(simulation);
    simulation->aggregator = pm_aggregator_open(simulation->path, &info, error);
    return simulation->aggregator != NULL;
}

/* ---- one trial ---- */

struct upload {
    struct pm_profile profile;
    struct pm_shader_profile shader;
    struct pm_point_counts points[PM_GAME_POINTS];
    struct pm_ingest_source source;
};

static void fill(struct simulation *simulation, const char *game, struct upload *upload)
{
    uint32_t client;
    upload->shader = (struct pm_shader_profile){.key.bytes = {1},
                                                .environment.subgroup_size = 32,
                                                .kind = PM_KIND_BLOCK,
                                                .space = PM_GAME_POINTS,
                                                .at_most_once = pm_game_at_most_once(),
                                                .points = upload->points};
    upload->shader.point_count =
        pm_game_play(&simulation->options->game, &simulation->random, upload->points, &client);
    upload->profile = (struct pm_profile){.game = game,
                                          .scene = "",
                                          .layer_version = "population",
                                          .shaders = &upload->shader,
                                          .shader_count = 1};
    for (size_t i = 0; i < PM_UPLOAD_ID_BYTES; i++)
        upload->profile.upload_id[i] = (uint8_t)pm_random_below(&simulation->random, 256);
    memset(&upload->source, 0, sizeof(upload->source));
    memcpy(upload->source.digest, &client, sizeof(client));
}

static bool play_day(struct simulation *simulation, const char *game, struct upload *uploads,
                     struct pm_error *error)
{
    const struct pm_profile *profiles[SESSIONS_MOST];
    const struct pm_ingest_source *sources[SESSIONS_MOST];
    static struct pm_ingest_outcome outcomes[SESSIONS_MOST];
    const uint32_t sessions = simulation->options->sessions;
    for (uint32_t i = 0; i < sessions; i++) {
        fill(simulation, game, &uploads[i]);
        profiles[i] = &uploads[i].profile;
        sources[i] = &uploads[i].source;
    }
    if (!pm_aggregator_ingest_from(simulation->aggregator, profiles, sources, sessions, outcomes,
                                   error))
        return false;
    for (uint32_t i = 0; i < sessions; i++) {
        if (outcomes[i].result != PM_INGEST_STORED) {
            *error = outcomes[i].reason;
            return false;
        }
    }
    return true;
}

static bool holds(const struct pm_ratio *found, unsigned estimate,
                  const struct pm_game_truth *truth)
{
    /* What is summed is rounded to 2^-32, and truth is a quotient of long doubles. */
    const double slack = 1e-9;
    return estimate == MEAN
               ? found->mean_low <= truth->mean + slack && truth->mean <= found->mean_high + slack
               : found->ratio_low <= truth->ratio + slack &&
                     truth->ratio <= found->ratio_high + slack;
}

static void judge(struct simulation *simulation, const struct pm_shader_estimates *shader,
                  bool *stopped, bool last)
{
    for (uint32_t i = 0; i < PM_GAME_POINTS; i++) {
        const struct pm_ratio *found = &shader->points[i].measures[PM_MEASURE_FREQUENCY];
        const bool known = !shader->deficit || (shader->deficit[i / 8] >> (i % 8) & 1) == 0;
        for (unsigned j = 0; j < ESTIMATES; j++) {
            struct tally *tally = &simulation->tallies[i][j];
            const bool covered = holds(found, j, &simulation->truth[i]);
            if (known && !stopped[i]) {
                tally->stopped++;
                tally->covered_when_stopped += covered;
            }
            if (!last)
                continue;
            tally->judged++;
            tally->covered += covered;
            tally->half_width += (j == MEAN ? found->mean_high - found->mean_low
                                            : found->ratio_high - found->ratio_low) /
                                 2;
        }
        stopped[i] = stopped[i] || known;
        if (last)
            simulation->clusters += found->clusters;
    }
}

static bool run_trial(struct simulation *simulation, uint64_t trial, struct upload *uploads,
                      struct pm_error *error)
{
    const struct pm_population_options *options = simulation->options;
    bool stopped[PM_GAME_POINTS] = {false};
    char game[32];
    snprintf(game, sizeof(game), "trial %llu", (unsigned long long)trial);
    for (uint32_t day = 0; day < options->days; day++) {
        struct pm_database database;
        simulation->now = ((int64_t)FIRST_DAY + (int64_t)day * options->spacing) * DAY;
        struct pm_arena *arena = pm_arena_create(0);
        const bool done =
            (arena || pm_fail(error, PM_ERROR_MEMORY, "out of memory")) &&
            play_day(simulation, game, uploads, error) &&
            pm_aggregator_estimates(simulation->aggregator, game, NULL, arena, &database, error) &&
            (database.shader_count == 1 ||
             pm_fail(error, PM_ERROR_STATE, "%zu shaders", database.shader_count));
        if (done)
            judge(simulation, &database.shaders[0], stopped, day + 1 == options->days);
        pm_arena_destroy(arena);
        if (!done)
            return false;
    }
    return true;
}

/* ---- the table ---- */

/* Is no share less than what is asked for, as far as so many trials can tell? Of all intervals; of
 * those that were published, where most trials publish: where few do, these are the ones that were
 * narrow by chance, and of them it is asked that they are few enough, so that no more trials
 * publish what is wrong than may. */
static bool is_right(const struct tally *tally, double least)
{
    const uint64_t wrong = tally->stopped - tally->covered_when_stopped;
    double low, high;
    pm_population_share(tally->covered, tally->judged, &low, &high);
    bool right = high >= least;
    pm_population_share(wrong, tally->judged, &low, &high);
    right = right && low <= 1 - least;
    if (2 * tally->stopped > tally->judged) {
        pm_population_share(tally->covered_when_stopped, tally->stopped, &low, &high);
        right = right && high >= least;
    }
    return right;
}

static bool print_table(const struct simulation *simulation)
{
    bool right = true;
    printf("| point | truth: mean, ratio | mean covered, %% | ratio covered, %% | half-widths | "
           "deficit ended, %% of trials | mean covered then, %% | ratio covered then, %% |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (uint32_t i = 0; i < PM_GAME_POINTS; i++) {
        const struct tally *mean = &simulation->tallies[i][MEAN];
        const struct tally *ratio = &simulation->tallies[i][RATIO];
        const double judged = (double)mean->judged;
        printf("| %s%s | %.4g, %.4g", pm_game_point_name(i),
               pm_game_point_is_bounded(i) ? "" : " (unbounded)", simulation->truth[i].mean,
               simulation->truth[i].ratio);
        pm_population_print_share(mean->covered, mean->judged);
        pm_population_print_share(ratio->covered, ratio->judged);
        printf(" | %.4f, %.4f | %.1f", mean->half_width / judged, ratio->half_width / judged,
               100 * (double)mean->stopped / judged);
        pm_population_print_share(mean->covered_when_stopped, mean->stopped);
        pm_population_print_share(ratio->covered_when_stopped, ratio->stopped);
        printf(" |\n");
        for (unsigned j = 0; j < ESTIMATES; j++)
            right = right && is_right(&simulation->tallies[i][j], simulation->options->least);
    }
    return right;
}

static void print_assumptions(const struct simulation *simulation)
{
    const struct pm_population_options *options = simulation->options;
    const struct pm_game_setup *game = &options->game;
    printf(
        "%llu trials (seed %llu), each a game of its own: %u clients to draw from, uploads on %u "
        "days, %u days apart, %u a day; half-life %u days. A session: %g windows of %u frames on "
        "average, %g calls of the shader a frame, p = %g, b = %u of %u points, its batches split "
        "anew; a cluster has x > 0 for a point in %.1f of a trial's %u sessions. Clients differ "
        "in resolution (log-normal, sigma 0.5) and settings, calls in size (a quarter are full "
        "screens); sessions are independent, but for those of the same client. The truth is that "
        "of %llu sessions.\n\n",
        (unsigned long long)options->trials, (unsigned long long)options->seed, game->clients,
        options->days, options->spacing, options->sessions, options->half_life, game->windows,
        game->window_frames, game->calls, game->api_probability, game->batch, PM_GAME_POINTS,
        (double)simulation->clusters / (double)options->trials / PM_GAME_POINTS,
        options->days * options->sessions, (unsigned long long)options->truth);
}

static bool run(struct simulation *simulation, struct pm_error *error)
{
    const struct pm_population_options *options = simulation->options;
    struct upload *uploads = calloc(options->sessions, sizeof(*uploads));
    if (!uploads)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    bool done = true;
    for (uint64_t trial = 0; done && trial < options->trials; trial++) {
        done = (trial % TRIALS_A_FILE != 0 || reopen(simulation, error)) &&
               run_trial(simulation, trial, uploads, error);
    }
    pm_aggregator_destroy(simulation->aggregator);
    simulation->aggregator = NULL;
    free(uploads);
    return done;
}

bool pm_population_intervals(const struct pm_population_options *options, bool *right,
                             struct pm_error *error)
{
    struct simulation simulation = {.options = options};
    if (options->sessions > SESSIONS_MOST)
        return pm_fail(error, PM_ERROR_INPUT, "at most %u sessions a day", SESSIONS_MOST);
    if (!pm_work_folder_create(&simulation.folder, error))
        return false;
    if (options->storage)
        snprintf(simulation.path, sizeof(simulation.path), "%s", options->storage);
    else
        snprintf(simulation.path, sizeof(simulation.path), "%s/population", simulation.folder.path);
    pm_random_init(&simulation.random, options->seed);
    pm_game_find_truth(&options->game, options->truth, options->seed + 1, simulation.truth);
    const bool done = run(&simulation, error);
    remove_storage(&simulation);
    pm_work_folder_remove(&simulation.folder);
    if (!done)
        return false;
    print_assumptions(&simulation);
    *right = print_table(&simulation);
    return true;
}
