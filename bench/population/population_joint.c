/*
 * Shaders of several zero candidates, published when the intervals of all of them are narrow.
 * Values are hardly ever zero (7 of 10), nearly always (2 of 10), or anything; for one of four a
 * player sees zeros always or never, for the others nearly as often as all. Sizes are log-normal.
 * Each upload is a new player's and has all points. Looked at every --look uploads, as in
 * `population published`; every shader goes on until it is published by either rule.
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

static const uint32_t spaces[] = {1, 4, 16, MOST};

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
    double share[MOST];
    bool split[MOST];
};

static bool upload(const struct shader *shader, struct pm_random *random,
                   struct pm_statistics *statistics, struct pm_error *error)
{
    struct pm_point_counts points[MOST];
    const double size = WRITES * exp(0.5 * pm_population_normal(random));
    for (uint32_t i = 0; i < shader->space; i++) {
        const double p = shader->share[i], rest = fmin(p, 1 - p);
        const double share = shader->split[i] ? pm_random_unit(random) < p
                                              : p + 0.5 * rest * (2 * pm_random_unit(random) - 1);
        const uint64_t writes = (uint64_t)fmax(size, 1);
        const double zeros = (double)writes * share;
        points[i] = (struct pm_point_counts){
            .point = i,
            .calls = 4,
            .entry_lanes = writes,
            .entry_subgroups = writes,
            .counts = {writes, (uint64_t)(zeros + pm_random_unit(random))}};
        if (points[i].counts[1] > writes)
            points[i].counts[1] = writes;
    }
    const struct pm_shader_profile profile = {.kind = PM_KIND_ZERO,
                                              .space = shader->space,
                                              .points = points,
                                              .point_count = shader->space};
    return pm_statistics_add_profile(statistics, &profile, error);
}

static void judge(const struct shader *shader, const struct pm_point_estimate *points,
                  unsigned rule, uint32_t uploads, struct tally *tally)
{
    bool whole = true;
    for (uint32_t i = 0; i < shader->space; i++) {
        const struct pm_ratio *zero = &points[i].measures[PM_MEASURE_ZERO];
        const double truth = shader->share[i];
        const bool mean = zero->mean_low <= truth && truth <= zero->mean_high;
        const bool ratio = zero->ratio_low <= truth && truth <= zero->ratio_high;
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
        known = known && pm_is_covered(&service_rules, PM_KIND_ZERO, &points[i]) &&
                pm_is_well_known(&service_rules, PM_KIND_ZERO, &points[i]);
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

static bool play(const struct pm_population_options *options, uint32_t space,
                 struct pm_random *random, struct tally *tally, struct pm_error *error)
{
    struct shader shader = {.space = space};
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
    for (size_t i = 0; done && i < sizeof(spaces) / sizeof(*spaces); i++) {
        struct tally tally = {0};
        struct pm_random random;
        double low, high;
        pm_random_init(&random, options->seed);
        for (uint64_t j = 0; done && j < options->trials; j++)
            done = play(options, spaces[i], &random, &tally, error);
        if (!done || tally.published[TOGETHER] == 0) {
            *right = false;
            continue;
        }
        pm_population_share(tally.whole[TOGETHER], tally.published[TOGETHER], &low, &high);
        const bool good =
            high >= options->least && tally.published[TOGETHER] * 100 >= options->trials * 99;
        printf("| %" PRIu32, spaces[i]);
        print_rule(&tally, APART);
        print_rule(&tally, TOGETHER);
        printf(" |%s\n", good ? "" : " !");
        fflush(stdout);
        *right = *right && good;
    }
    return done;
}
