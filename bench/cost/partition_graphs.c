/*
 * How good partitions of operations are, and how long they take to find, in time of the processor
 * (docs/partition.md).
 *
 *   partition_graphs quality [GRAPHS]   random graphs of up to 24 operations: how far Mio, RDS_h,
 *                                       RDS and what goes beyond Mio are from the best partition
 *   partition_graphs time [MOST]        larger and larger graphs, up to MOST operations:
 * milliseconds, and the exponent of a fit
 *
 * Tables in Markdown, on standard output.
 */
#include "base/clock.h"
#include "shader_rewrite/partition/schedule/beyond.h"
#include "shader_rewrite/partition/schedule/exact.h"
#include "shader_rewrite/partition/schedule/mio.h"
#include "shader_rewrite/partition/schedule/rds.h"
#include "tests/shader_rewrite/partition/random_operations.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum method { MIO, IN_ORDER, CRITICAL, SUCCESSORS, BEYOND, RDS_H, RDS, EXACT, METHODS };
static const char *const names[METHODS] = {
    [MIO] = "Mio",
    [IN_ORDER] = "Mio without a ready list",
    [CRITICAL] = "by critical path",
    [SUCCESSORS] = "by most successors",
    [BEYOND] = "beyond Mio",
    [RDS_H] = "RDS_h",
    [RDS] = "RDS",
    [EXACT] = "the best that computes nothing again",
};

static bool partition(enum method method, const struct pm_operations *graph,
                      const struct pm_pass_limits *limits, struct pm_plan *plan,
                      struct pm_error *error)
{
    struct pm_mio_options options = {
        .order = method == CRITICAL     ? PM_ORDER_CRITICAL_PATH
                 : method == SUCCESSORS ? PM_ORDER_MOST_SUCCESSORS
                                        : PM_ORDER_SETHI_ULLMAN,
        .in_order = method == IN_ORDER,
    };
    if (method == EXACT)
        return pm_exact(graph, limits, plan, error);
    if (method >= RDS_H)
        return pm_rds(graph, limits, method == RDS, plan, error);
    return method == BEYOND ? pm_beyond(graph, limits, plan, error)
                            : pm_mio(graph, limits, &options, plan, error);
}

/* ---- quality ---- */

struct quality {
    uint32_t made, best; /* graphs that it can partition; of these with the fewest passes */
    double passes, operations, spilled; /* sums of what it takes more */
};

static void add_quality(struct quality *q, const struct pm_plan_cost *cost,
                        const struct pm_plan_cost *best)
{
    q->made++;
    q->best += cost->passes == best->passes;
    q->passes += (double)cost->passes - best->passes;
    q->operations += (double)(cost->alu + cost->reads) - (double)(best->alu + best->reads);
    q->spilled += 4 * ((double)cost->spilled_components - (double)best->spilled_components);
}

/* Few enough operations a pass that every graph needs several. One output is what RDS can use. */
static int quality(uint32_t graphs, uint32_t outputs)
{
    struct quality qualities[METHODS] = {0};
    const struct pm_pass_limits limits = {.alu = 6,
                                          .texture = PM_NO_LIMIT,
                                          .temporaries = 32,
                                          .varyings = PM_NO_LIMIT,
                                          .constants = PM_NO_LIMIT,
                                          .textures = PM_NO_LIMIT,
                                          .outputs = outputs};
    uint32_t with = 0;
    for (uint64_t seed = 0; seed < graphs; seed++) {
        struct pm_random random;
        struct pm_operations graph;
        struct pm_plan best_plan = {0};
        struct pm_plan_cost best, cost;
        struct pm_error error;
        pm_random_init(&random, seed);
        pm_random_operations(&random,
                             &(struct pm_random_operations){
                                 .count = 8 + pm_random_below(&random, 17), .components = 4},
                             &graph);
        bool known = pm_exact_again(&graph, &limits, &best_plan, &error) &&
                     pm_plan_check(&graph, &limits, &best_plan, &best, NULL, &error);
        with += known;
        for (int m = 0; m < METHODS && known; m++) {
            struct pm_plan plan = {0};
            if (partition((enum method)m, &graph, &limits, &plan, &error) &&
                pm_plan_check(&graph, &limits, &plan, &cost, NULL, &error))
                add_quality(&qualities[m], &cost, &best);
            pm_plan_finish(&plan);
        }
        pm_plan_finish(&best_plan);
        pm_operations_finish(&graph);
    }
    printf(
        "%u graphs of 8 to 24 operations, 6 operations and %u outputs a pass; of %u the best "
        "partition is known.\n\n"
        "| method | graphs | as few passes as the best | passes more | operations and reads more "
        "| bytes spilled more |\n| --- | --- | --- | --- | --- | --- |\n",
        graphs, outputs, with);
    for (int m = 0; m < METHODS; m++) {
        const struct quality *q = &qualities[m];
        if (q->made)
            printf("| %s | %u | %.1f %% | %+.3f | %+.2f | %+.1f |\n", names[m], q->made,
                   100.0 * q->best / q->made, q->passes / q->made, q->operations / q->made,
                   q->spilled / q->made);
    }
    puts("");
    return 0;
}

/* ---- time ---- */

enum { REPETITIONS = 5, SIZES = 16 };

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The median of several runs, in milliseconds; negative: it cannot. */
static double time_of(enum method method, const struct pm_operations *graph,
                      const struct pm_pass_limits *limits)
{
    double times[REPETITIONS];
    for (int r = 0; r < REPETITIONS; r++) {
        struct pm_plan plan = {0};
        struct pm_error error;
        int64_t start = pm_used_by_thread();
        bool ok = partition(method, graph, limits, &plan, &error);
        times[r] = (double)(pm_used_by_thread() - start) / 1e6;
        pm_plan_finish(&plan);
        if (!ok)
            return -1;
    }
    qsort(times, REPETITIONS, sizeof(*times), by_value);
    return times[REPETITIONS / 2];
}

/* The slope of logarithms, by least squares. */
static double exponent(const double *sizes, const double *times, uint32_t count)
{
    double sx = 0, sy = 0, sxx = 0, sxy = 0;
    for (uint32_t i = 0; i < count; i++) {
        double x = log(sizes[i]), y = log(times[i]);
        sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    return (count * sxy - sx * sy) / (count * sxx - sx * sx);
}

static int time_all(uint32_t most)
{
    static const enum method methods[] = {MIO, IN_ORDER, BEYOND, RDS_H};
    enum { COLUMNS = sizeof(methods) / sizeof(methods[0]), RDS_MOST = 20000 };
    const struct pm_pass_limits *limits = pm_pass_limits_preset("radeon9800-64");
    /* RDS_h's regions grow as a pass allows, so here they may: it is what is quadratic. */
    const struct pm_pass_limits large = {PM_NO_LIMIT, PM_NO_LIMIT, PM_NO_LIMIT, PM_NO_LIMIT,
                                         PM_NO_LIMIT, PM_NO_LIMIT, 4,           true};
    double sizes[COLUMNS + 1][SIZES], times[COLUMNS + 1][SIZES];
    uint32_t counts[COLUMNS + 1] = {0};
    printf("| operations |");
    for (uint32_t c = 0; c < COLUMNS; c++)
        printf(" %s |", names[methods[c]]);
    printf(" RDS_h, one pass may hold all |\n| --- | --- | --- | --- | --- | --- |\n");
    static const uint32_t steps[] = {1000,  2000,   5000,   10000,  20000,
                                     50000, 100000, 200000, 500000, 1000000};
    for (uint32_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && steps[i] <= most; i++) {
        const uint32_t n = steps[i];
        struct pm_random random;
        struct pm_operations graph;
        pm_random_init(&random, n);
        pm_random_operations(&random, &(struct pm_random_operations){.count = n, .components = 4},
                             &graph);
        printf("| %u |", n);
        for (uint32_t c = 0; c <= COLUMNS; c++) {
            enum method method = c < COLUMNS ? methods[c] : RDS_H;
            double ms = method == RDS_H && n > RDS_MOST
                            ? -1
                            : time_of(method, &graph, c < COLUMNS ? limits : &large);
            if (ms >= 0 && counts[c] < SIZES) {
                sizes[c][counts[c]] = n;
                times[c][counts[c]++] = ms;
            }
            if (ms >= 0)
                printf(" %.2f |", ms);
            else
                printf(" |");
            fflush(stdout);
        }
        puts("");
        pm_operations_finish(&graph);
    }
    printf("| exponent |");
    for (uint32_t c = 0; c <= COLUMNS; c++)
        printf(counts[c] > 1 ? " %.2f |" : " |", exponent(sizes[c], times[c], counts[c]));
    puts("");
    return 0;
}

int main(int argc, char **argv)
{
    uint32_t number = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 0;
    if (argc > 1 && !strcmp(argv[1], "quality")) {
        for (uint32_t outputs = 1; outputs <= 4; outputs += 3)
            quality(number ? number : 1000, outputs);
        return 0;
    }
    if (argc > 1 && !strcmp(argv[1], "time"))
        return time_all(number ? number : 1000000);
    fprintf(stderr, "usage: partition_graphs quality [GRAPHS] | time [MOST]\n");
    return 2;
}
