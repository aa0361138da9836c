/*
 * Shaders of several zero candidates, or of blocks that run as often, published when the intervals
 * of all of them are narrow. Values are hardly ever zero (7 of 10), nearly always (2 of 10), or
 * anything; for one of four a player sees zeros always or never, for the others nearly as often as
 * all. Sizes are log-normal. Each upload is a new player's and has all points. Looked at every
 * --look uploads, as in `population published`; every shader goes on until it is published by
 * either rule.
 */
#include "bench/population/population_joint.h"

#include "aggregator/curation/joint.h"
#include "aggregator/statistics/estimate.h"
#include "bench/population/population_draw.h"
#include "bench/population/population_share.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64, WRITES = 4096, APART = 0, TOGETHER = 1, RULES = 2 };

#define UNIFORM                                                                                    \
    0.5 /* of the lanes of a block, on average; a player's is half of it to one and a half */

enum { SPACES = 4 };
static const uint32_t spaces[SPACES] = {1, 4, 16, MOST};

/* The service's (create.c). */
static const struct pm_coverage_rules service_rules = {
    .half_width_absolute = 0.05, .half_width_relative = 0.10, .sessions_for_never = 20};

struct tally {
    uint64_t published[RULES], uploads[RULES];
    uint64_t intervals[RULES], held[RULES]; /* of all points */
    uint64_t whole[RULES];                  /* shaders of which every interval holds */
};

struct shader {
    uint32_t space;
    enum pm_kind kind; /* zeros, or blocks that run as often as values are zero */
    double share[MOST];
    bool split[MOST];
};

/* What a player sees of a point. */
static double draw_share(const struct shader *shader, uint32_t point, struct pm_random *random)
{
    const double p = shader->share[point], rest = fmin(p, 1 - p);
    if (shader->split[point])
        return pm_random_unit(random) < p;
    return p + 0.5 * rest * (2 * pm_random_unit(random) - 1);
}

/* A whole number that is this on average. */
static uint64_t round_by_lot(double value, struct pm_random *random)
{
    return (uint64_t)(value + pm_random_unit(random));
}

static bool upload(const struct shader *shader, struct pm_random *random,
                   struct pm_statistics *statistics, struct pm_error *error)
{
    static const uint8_t once[MOST / 8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    struct pm_point_counts points[MOST];
    const uint64_t size = (uint64_t)fmax(WRITES * exp(0.5 * pm_population_normal(random)), 64);
    for (uint32_t i = 0; i < shader->space; i++) {
        const double share = draw_share(shader, i, random);
        const uint64_t part =
            (uint64_t)fmin((double)round_by_lot((double)size * share, random), (double)size);
        points[i] = (struct pm_point_counts){
            .point = i, .calls = 4, .entry_lanes = size, .entry_subgroups = size};
        if (shader->kind == PM_KIND_ZERO) {
            points[i].counts[PM_ZERO_WRITES] = size;
            points[i].counts[PM_ZERO_ZERO_WRITES] = part;
        } else {
            points[i].counts[PM_BLOCK_LANES] = part;
            points[i].counts[PM_BLOCK_UNIFORM_LANES] =
                round_by_lot((double)part * UNIFORM * (0.5 + pm_random_unit(random)), random);
            points[i].counts[PM_BLOCK_SUBGROUPS] = part;
        }
    }
    const struct pm_shader_profile profile = {.kind = shader->kind,
                                              .space = shader->space,
                                              .at_most_once =
                                                  shader->kind == PM_KIND_BLOCK ? once : NULL,
                                              .points = points,
                                              .point_count = shader->space};
    return pm_statistics_add_profile(statistics, &profile, error);
}

/* Of a measure of the point; -1: nothing is asked of it. */
static double truth_of(const struct shader *shader, uint32_t point, unsigned measure)
{
    if (shader->kind == PM_KIND_ZERO)
        return measure == PM_MEASURE_ZERO ? shader->share[point] : -1;
    return measure == PM_MEASURE_UNIFORM ? UNIFORM : shader->share[point];
}

static void judge(const struct shader *shader, const struct pm_point_estimate *points,
                  unsigned rule, uint32_t uploads, struct tally *tally)
{
    bool whole = true;
    for (size_t i = 0; i < (size_t)shader->space * pm_measure_count(shader->kind); i++) {
        const uint32_t point = (uint32_t)(i / pm_measure_count(shader->kind));
        const unsigned measure = (unsigned)(i % pm_measure_count(shader->kind));
        const struct pm_ratio *found = &points[point].measures[measure];
        const double truth = truth_of(shader, point, measure);
        if (truth < 0 || found->clusters == 0)
            continue;
        const bool mean = found->mean_low <= truth && truth <= found->mean_high;
        const bool ratio = found->ratio_low <= truth && truth <= found->ratio_high;
        tally->intervals[rule] += 2;
        tally->held[rule] += (uint64_t)mean + ratio;
        whole = whole && mean && ratio;
    }
    tally->published[rule]++;
    tally->uploads[rule] += uploads;
    tally->whole[rule] += whole;
}

/* false: out of memory. */
static bool look(const struct shader *shader, const struct pm_statistics *statistics,
                 uint32_t uploads, bool published[RULES], struct tally *tally,
                 struct pm_error *error)
{
    struct pm_aged aged;
    struct pm_point_estimate points[MOST];
    uint8_t deficit[MOST / 8] = {0};
    uint32_t lacking = 0;
    bool known = true;
    pm_aged_init(&aged);
    bool done = pm_aged_add(&aged, statistics, 0, 0, error);
    for (uint32_t i = 0; done && i < shader->space; i++) {
        pm_estimate_aged_point(&aged, &aged.points[i], &points[i]);
        known = known && pm_is_covered(&service_rules, shader->kind, &points[i]) &&
                pm_is_well_known(&service_rules, shader->kind, &points[i]);
    }
    if (done && known && !published[APART]) {
        published[APART] = true;
        judge(shader, points, APART, uploads, tally);
    }
    if (done && known && !published[TOGETHER]) {
        done = pm_joint_find(&service_rules, &aged, points, deficit, &lacking, error);
        published[TOGETHER] = done && lacking == 0;
        if (published[TOGETHER])
            judge(shader, points, TOGETHER, uploads, tally);
    }
    pm_aged_finish(&aged);
    return done;
}

static bool play(const struct pm_population_options *options, enum pm_kind kind, uint32_t space,
                 struct pm_random *random, struct tally *tally, struct pm_error *error)
{
    struct shader shader = {.space = space, .kind = kind};
    bool published[RULES] = {false}, done = true;
    struct pm_statistics statistics;
    pm_population_values(random, space, shader.share, shader.split);
    pm_statistics_init(&statistics);
    for (uint32_t i = 1; done && !published[TOGETHER] && i <= options->most; i++) {
        done = upload(&shader, random, &statistics, error) &&
               (i % options->look != 0 || look(&shader, &statistics, i, published, tally, error));
    }
    pm_statistics_finish(&statistics);
    return done;
}

static void print_rule(const struct tally *tally, unsigned rule)
{
    printf(" | %.0f | %.2f", (double)tally->uploads[rule] / (double)tally->published[rule],
           100.0 * (double)tally->held[rule] / (double)tally->intervals[rule]);
    pm_population_print_share(tally->whole[rule], tally->published[rule]);
}

bool pm_population_joint(const struct pm_population_options *options, bool *right,
                         struct pm_error *error)
{
    bool done = true;
    printf("%" PRIu64 " shaders in each row (seed %" PRIu64 "), looked at every %" PRIu32
           " uploads.\n\n"
           "| points | each by itself: uploads | intervals that hold then, %% | shaders whose all "
           "do, %% | together: uploads | intervals, %% | shaders, %% |\n"
           "| --- | --- | --- | --- | --- | --- | --- |\n",
           options->trials, options->seed, options->look);
    *right = true;
    for (size_t i = 0; done && i < 2 * SPACES; i++) {
        struct tally tally = {0};
        struct pm_random random;
        double low, high;
        const enum pm_kind kind = i < SPACES ? PM_KIND_ZERO : PM_KIND_BLOCK;
        pm_random_init(&random, options->seed);
        for (uint64_t j = 0; done && j < options->trials; j++)
            done = play(options, kind, spaces[i % SPACES], &random, &tally, error);
        if (!done || tally.published[TOGETHER] == 0) {
            *right = false;
            continue;
        }
        pm_population_share(tally.whole[TOGETHER], tally.published[TOGETHER], &low, &high);
        const bool good =
            high >= options->least && tally.published[TOGETHER] * 100 >= options->trials * 99;
        printf("| %" PRIu32 " %s", spaces[i % SPACES], kind == PM_KIND_ZERO ? "zeros" : "blocks");
        print_rule(&tally, APART);
        print_rule(&tally, TOGETHER);
        printf(" |%s\n", good ? "" : " !");
        fflush(stdout);
        *right = *right && good;
    }
    return done;
}
