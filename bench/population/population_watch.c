/*
 * The paper's section 6.2: how long until every point of Watch, its largest game, has been sampled?
 * There: N H(N) samples for all 250,909 points as one space, over the 60 (p = 0.001) or 277 (p =
 * 0.01) shaders that a window sampled, one point each; 50,000 players at 30 frames a second.
 */
#include "bench/population/population_watch.h"
#include "aggregator/aggregator.h"
#include "aggregator/statistics/estimate.h"
#include "aggregator/statistics/expectation.h"
#include "bench/common/work_folder.h"
#include "sampler/sampler.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define POINTS ((uint32_t)PM_WATCH_POINTS)
#define SHADERS 636u
#define WINDOW_FRAMES 1024u
#define FRAMES_A_SECOND 1.5e6 /* of all players */
#define WINDOWS_A_SECOND (FRAMES_A_SECOND / WINDOW_FRAMES)
#define PAPER_WINDOWS 54406.0
#define PAPER_SECONDS 37.54 /* of about 55,000 windows */
#define NEVER_WRITTEN 4     /* one candidate in so many is never written */
#define SESSION_WINDOWS 5   /* windows of a session of 30 minutes at q = 0.0001 */
#define BATCH_MOST 8
#define GIVE_UP 20000000u /* windows */

static const double steps[] = {0.5, 0.9, 0.99, 1};
enum { STEPS = sizeof(steps) / sizeof(*steps) };

/* ---- the paper's assumptions ---- */

/* Windows until all points have a sample when each gives so many, drawn from all points. */
static double collect(uint32_t samples_a_window, struct pm_random *random, uint8_t *seen)
{
    uint32_t missing = POINTS;
    uint64_t samples = 0;
    for (uint32_t i = 0; i < POINTS; i++)
        seen[i] = 0;
    while (missing > 0) {
        const uint32_t point = pm_random_below(random, POINTS);
        missing -= !seen[point];
        seen[point] = 1;
        samples++;
    }
    return (double)samples / samples_a_window;
}

static bool check_paper(uint64_t trials, uint64_t seed, struct pm_error *error, bool *right)
{
    static const struct {
        double p;
        uint32_t shaders;
    } rows[] = {{0.001, 60}, {0.01, 277}};
    struct pm_random random;
    uint8_t *seen = malloc(POINTS);
    if (!seen)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    pm_random_init(&random, seed);
    printf(
        "Under the paper's assumptions (b = 1, all %u points one space, as many samples a window "
        "as it sampled shaders, windows always on, %.1f million frames a second in all; the "
        "paper: 54,406 and 11,785 windows, 37.54 s for 55,000):\n\n"
        "| p | samples a window | expected windows | measured (%" PRIu64 " trials) | seconds |\n"
        "| --- | --- | --- | --- | --- |\n",
        POINTS, FRAMES_A_SECOND / 1e6, trials);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const double expected = pm_expected_samples(POINTS, 1) / rows[i].shaders;
        double windows = 0;
        for (uint64_t trial = 0; trial < trials; trial++)
            windows += collect(rows[i].shaders, &random, seen) / (double)trials;
        printf("| %g | %u | %.0f | %.0f | %.2f |\n", rows[i].p, rows[i].shaders, expected, windows,
               windows / WINDOWS_A_SECOND);
        *right = *right && fabs(windows / expected - 1) < 0.1;
        if (i == 0)
            *right = *right && fabs(expected / PAPER_WINDOWS - 1) < 0.001 &&
                     fabs(windows / WINDOWS_A_SECOND / PAPER_SECONDS - 1) < 0.1;
    }
    free(seen);
    return true;
}

/* ---- a game of the same size ---- */

struct shader {
    uint32_t space;
    double calls; /* a window */
    struct pm_statistics statistics;
    uint8_t *sampled, *covered; /* a byte a point */
    uint32_t left;              /* points that are not covered */
};

struct watch {
    struct shader shaders[SHADERS];
    uint32_t space;                         /* points of all shaders */
    const struct pm_aggregator *aggregator; /* for its rule */
    struct pm_random random;
    uint64_t sampled, covered, windows;
    double calls;             /* of all shaders a window */
    double sampled_at[STEPS]; /* windows */
    /* Of one shader of one upload: all points, those that were measured, and the counts of these.
     */
    struct pm_point_counts counts[POINTS];
    uint32_t touched[POINTS];
    size_t touched_count;
    struct pm_point_counts points[POINTS];
};

static double normal(struct pm_random *random)
{
    const double u = 1 - pm_random_unit(random), v = pm_random_unit(random);
    return sqrt(-2 * log(u)) * cos(2 * acos(-1) * v);
}

/* How many shaders a window samples when calls fall off as rank^-slope from `most` a frame. */
static double distinct(double most, double slope, double p)
{
    double count = 0;
    for (uint32_t rank = 1; rank <= SHADERS; rank++)
        count += 1 - exp(-most * WINDOW_FRAMES * pow(rank, -slope) * p);
    return count;
}

/* The slope and the top at which a window samples 60 shaders at p = 0.001 and 277 at p = 0.01. */
static void fit_hotness(double *most, double *slope)
{
    double low_slope = 0.5, high_slope = 3;
    for (int i = 0; i < 60; i++) {
        double low = 1e-6, high = 1e6;
        *slope = (low_slope + high_slope) / 2;
        for (int j = 0; j < 100; j++) {
            *most = sqrt(low * high);
            *(distinct(*most, *slope, 0.001) < 60 ? &low : &high) = *most;
        }
        *(distinct(*most, *slope, 0.01) > 277 ? &low_slope : &high_slope) = *slope;
    }
}

/* Sizes are log-normal and add up to the game's points; which shader is hot has nothing to do with
 * its size. */
static bool make_game(struct watch *watch, double *most, double *slope, struct pm_error *error)
{
    double sizes[SHADERS], all = 0;
    uint32_t left = watch->space;
    fit_hotness(most, slope);
    for (uint32_t i = 0; i < SHADERS; i++)
        all += sizes[i] = exp(0.8 * normal(&watch->random));
    for (uint32_t i = 0; i < SHADERS; i++) {
        struct shader *shader = &watch->shaders[i];
        const uint32_t space = (uint32_t)(sizes[i] / all * watch->space);
        shader->space = i + 1 == SHADERS ? left : space > 0 ? space : 1;
        left -= shader->space;
        shader->left = shader->space;
        shader->calls = WINDOW_FRAMES * *most * pow(i + 1, -*slope);
        watch->calls += shader->calls;
        shader->sampled = calloc(shader->space, 1);
        shader->covered = calloc(shader->space, 1);
        pm_statistics_init(&shader->statistics);
        if (!shader->sampled || !shader->covered)
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    }
    return true;
}

static void forget_game(struct watch *watch)
{
    for (uint32_t i = 0; i < SHADERS; i++) {
        free(watch->shaders[i].sampled);
        free(watch->shaders[i].covered);
        pm_statistics_finish(&watch->shaders[i].statistics);
    }
}

static int compare(const void *a, const void *b)
{
    const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

/* Counts a call that measured these points. */
static void count_call(struct watch *watch, const uint32_t *points, uint32_t size)
{
    for (uint32_t i = 0; i < size; i++) {
        struct pm_point_counts *counts = &watch->counts[points[i]];
        if (counts->calls == 0)
            watch->touched[watch->touched_count++] = points[i];
        counts->point = points[i];
        counts->calls++;
        counts->entry_lanes += 3200;
        counts->entry_subgroups += 100;
        if (points[i] % NEVER_WRITTEN == 0)
            continue;
        counts->counts[PM_ZERO_WRITES] += 100;
        counts->counts[PM_ZERO_ZERO_WRITES] += pm_random_below(&watch->random, 101);
    }
}

/* The first batches of a session that wants few are so many different points, drawn from all: no
 * need to split the rest as well, which is what takes the time. */
static void count_few_calls(struct watch *watch, const struct shader *shader, uint32_t batch,
                            uint64_t calls)
{
    for (; calls > 0; calls--) {
        uint32_t points[BATCH_MOST], size = 0;
        while (size < batch) {
            const uint32_t point = pm_random_below(&watch->random, shader->space);
            bool fresh = watch->counts[point].calls == 0;
            for (uint32_t i = 0; i < size; i++)
                fresh = fresh && points[i] != point;
            if (fresh)
                points[size++] = point;
        }
        count_call(watch, points, size);
    }
}

static bool count_calls(struct watch *watch, const struct shader *shader, uint32_t batch,
                        uint64_t calls)
{
    struct pm_shader_sampler *sampler = pm_shader_sampler_create(
        &(struct pm_sampler_space){shader->space, batch, NULL}, 1, pm_random_next(&watch->random));
    for (uint64_t i = 0; sampler && i < calls; i++) {
        uint32_t size;
        const uint32_t *points =
            pm_shader_sampler_batch(sampler, pm_shader_sampler_next(sampler), &size);
        count_call(watch, points, size);
    }
    const bool done = sampler != NULL;
    pm_shader_sampler_destroy(sampler);
    return done;
}

/* What a session's calls of the shader measure: merged, ascending, in watch->points. */
static bool sample(struct watch *watch, const struct shader *shader, double p, uint32_t batch)
{
    struct pm_random *random = &watch->random;
    const double calls = shader->calls * SESSION_WINDOWS;
    uint64_t sampled = 0;
    watch->touched_count = 0;
    if (shader->left == 0)
        return true; /* nothing more can come of it */
    /* Calls come as a Poisson stream that is thinned by p: exponential gaps. */
    for (double at = -log(1 - pm_random_unit(random)) / p; at <= calls;
         at += -log(1 - pm_random_unit(random)) / p)
        sampled++;
    if (sampled * batch <= shader->space / 2)
        count_few_calls(watch, shader, batch, sampled);
    else if (!count_calls(watch, shader, batch, sampled))
        return false;
    qsort(watch->touched, watch->touched_count, sizeof(*watch->touched), compare);
    for (size_t i = 0; i < watch->touched_count; i++) {
        watch->points[i] = watch->counts[watch->touched[i]];
        watch->counts[watch->touched[i]] = (struct pm_point_counts){0};
    }
    return true;
}

static void mark_steps(struct watch *watch)
{
    for (unsigned i = 0; i < STEPS; i++) {
        const double wanted = steps[i] * watch->space;
        if (watch->sampled_at[i] == 0 && (double)watch->sampled >= wanted)
            watch->sampled_at[i] = (double)watch->windows;
    }
}

/* One session of one player, which is one upload. */
static bool play_session(struct watch *watch, double p, uint32_t batch, struct pm_error *error)
{
    for (uint32_t i = 0; i < SHADERS; i++) {
        struct shader *shader = &watch->shaders[i];
        if (!sample(watch, shader, p, batch))
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        const size_t count = watch->touched_count;
        if (count == 0)
            continue;
        const struct pm_shader_profile profile = {.kind = PM_KIND_ZERO,
                                                  .space = shader->space,
                                                  .points = watch->points,
                                                  .point_count = count};
        if (!pm_statistics_add_profile(&shader->statistics, &profile, error))
            return false;
        for (size_t j = 0; j < count; j++) {
            const uint32_t point = watch->points[j].point;
            struct pm_point_estimate estimate;
            watch->sampled += !shader->sampled[point];
            shader->sampled[point] = 1;
            if (shader->covered[point])
                continue;
            pm_estimate_point(&shader->statistics, pm_statistics_find(&shader->statistics, point),
                              &estimate);
            shader->covered[point] =
                pm_aggregator_is_covered(watch->aggregator, PM_KIND_ZERO, &estimate);
            watch->covered += shader->covered[point];
            shader->left -= shader->covered[point];
        }
    }
    watch->windows += SESSION_WINDOWS;
    mark_steps(watch);
    return true;
}

static void print_row(const struct watch *watch, double p, uint32_t batch)
{
    printf("| %g | %u | %.0f", p, batch, watch->calls * p);
    for (unsigned i = 0; i < STEPS; i++)
        printf(" | %.1f", watch->sampled_at[i] / WINDOWS_A_SECOND);
    printf(" | %" PRIu64 " | %.1f |\n", watch->windows,
           100 * (double)watch->covered / (double)watch->space);
    fflush(stdout);
}

static bool play(const struct pm_aggregator *aggregator, uint32_t space, double p, uint32_t batch,
                 uint64_t seed, struct pm_error *error)
{
    double most, slope;
    struct watch *watch = calloc(1, sizeof(*watch));
    if (!watch)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    watch->aggregator = aggregator;
    watch->space = space;
    pm_random_init(&watch->random, seed);
    bool done = make_game(watch, &most, &slope, error);
    while (done && watch->sampled < watch->space && watch->windows < GIVE_UP)
        done = play_session(watch, p, batch, error);
    if (done)
        print_row(watch, p, batch);
    forget_game(watch);
    free(watch);
    return done;
}

bool pm_population_watch(const struct pm_population_options *options, bool *right,
                         struct pm_error *error)
{
    static const struct {
        double p;
        uint32_t batch;
    } rows[] = {{0.01, 8}, {0.01, 1}, {0.001, 8}, {0.001, 1}};
    struct pm_work_folder folder;
    char path[128];
    double most, slope;
    const uint32_t space = options->points ? options->points : POINTS;
    *right = true;
    if (!check_paper(options->trials, options->seed, error, right))
        return false;
    if (!pm_work_folder_create(&folder, error))
        return false;
    snprintf(path, sizeof(path), "%s/rule", folder.path);
    struct pm_aggregator *aggregator =
        pm_aggregator_open(path, &(struct pm_aggregator_info){0}, error);
    fit_hotness(&most, &slope);
    printf(
        "\nA game of %u shaders and %u zero points, one in %u of which is never written; sizes "
        "log-normal (sigma 0.8), calls a frame %.1f times rank^-%.2f, so that a window samples 60 "
        "shaders at p = 0.001 and 277 at p = 0.01 as the paper's did, and every sampled call "
        "gives a sample; sessions of %u windows, one upload each, no deficit to steer them; real "
        "shader sampler, statistics and coverage rule (written once, or entered in 20 sessions). "
        "Seconds with windows always on; ten times as long at the paper's q = 0.1, eleven times "
        "with windows in 9 %% of the frames (q = 0.0001).\n\n"
        "| p | b | samples a window | 50 %% sampled | 90 %% | 99 %% | all | windows | covered by "
        "the "
        "rule then, %% |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        SHADERS, space, NEVER_WRITTEN, most, slope, SESSION_WINDOWS);
    bool done = aggregator != NULL;
    for (size_t i = 0; done && i < sizeof(rows) / sizeof(*rows) && i < options->rows; i++)
        done = play(aggregator, space, rows[i].p, rows[i].batch, options->seed + i, error);
    pm_aggregator_destroy(aggregator);
    pm_work_folder_remove(&folder);
    return done;
}
