/*
 * How many samples until every point of a shader has one (the paper's Table 2 and section 6.2):
 * expected against measured, with the real shader sampler.
 *
 *   coverage [--trials N]
 *   coverage --windows [--trials N] [--shape BLOCKS,CANDIDATES,CALLS]... [--session WINDOWS]
 *
 * The first prints, in Markdown, for shaders of N points and batches of b: the expectation when
 * every sample is a batch of its own (the paper's clients: N·H(N) at b = 1; in general by the
 * Markov chain over the number of points still missing, whose steps are hypergeometric); what was
 * measured when every sample comes from a session of its own, so that batches are drawn anew; and
 * what was measured when one session goes on, whose batches are a split of the points (DESIGN, PGO
 * database). Ends with 0 when the first measurement is within 3 % of the expectation and the second
 * never above ceil(N / b) by more than one cycle.
 *
 * The second prints how many windows of 1,024 frames at p = 0.01 it takes until every zero
 * candidate of a shader with so many blocks, candidates and calls a frame has a sample, when
 * sessions of so many windows follow each other, block and zero batches share their calls, and a
 * session makes the variant of a batch when it first wants it, for the next call that finds none,
 * and at most 256: as the layer does.
 * Beside it the same with the deficit of all windows before steering each session, and what the
 * expectation above makes of the samples that a client without any of this would give to
 * candidates. Ends with 0 when steering never costs more than 3 %.
 */
#include "aggregator/statistics/expectation.h"
#include "sampler/sampler.h"
#include "tools/common/tool.h"
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MOST = 1024, SHAPES_MOST = 32, VARIANTS_MOST = 256, WINDOW_FRAMES = 1024 };

static const double api_probability = 0.01;

/* Samples until covered. anew: every sample is the first of a session; else one session goes on. 0:
 * out of memory. */
static uint32_t measure(uint32_t n, uint32_t b, uint64_t seed, bool anew)
{
    uint8_t seen[POINTS_MOST] = {0};
    uint32_t missing = n, samples = 0;
    struct pm_shader_sampler *sampler = NULL;
    while (missing > 0) {
        if (sampler == NULL || anew) {
            pm_shader_sampler_destroy(sampler);
            sampler = pm_shader_sampler_create(&(struct pm_sampler_space){n, b, NULL}, 1,
                                               seed * 0x9e3779b97f4a7c15u + samples);
            if (sampler == NULL)
                return 0;
        }
        uint32_t size;
        const uint32_t *batch =
            pm_shader_sampler_batch(sampler, pm_shader_sampler_next(sampler), &size);
        for (uint32_t i = 0; i < size; i++) {
            missing -= !seen[batch[i]];
            seen[batch[i]] = 1;
        }
        samples++;
    }
    pm_shader_sampler_destroy(sampler);
    return samples;
}

/* ---- windows ---- */

struct shape {
    uint32_t blocks, candidates, calls; /* calls a frame */
};

enum { BLOCKS, CANDIDATES, KINDS };

/* Which points no window has a sample of, by kind. */
struct missing {
    uint8_t bits[KINDS][POINTS_MOST / 8];
    uint32_t candidates;
};

static void take(struct missing *missing, uint32_t kind, uint32_t point)
{
    uint8_t *byte = &missing->bits[kind][point / 8];
    const uint8_t bit = (uint8_t)(1u << point % 8);
    missing->candidates -= kind == CANDIDATES && (*byte & bit) != 0;
    *byte &= (uint8_t)~bit;
}

/* The variants that a session has made. */
struct variants {
    bool made[KINDS * POINTS_MOST];
    uint32_t count, fresh; /* fresh: 1 + a batch that no call has used; 0: none */
};

/* One window of a session: each call is sampled with probability p. */
static void run_window(const struct shape *shape, struct pm_shader_sampler *sampler,
                       struct variants *variants, struct pm_random *random, struct missing *missing)
{
    const uint64_t calls = (uint64_t)WINDOW_FRAMES * shape->calls;
    for (uint64_t at = pm_geometric(random, api_probability); at <= calls;
         at += pm_geometric(random, api_probability)) {
        uint32_t batch = pm_shader_sampler_next(sampler), size;
        if (!variants->made[batch]) {
            const uint32_t fresh = variants->fresh, wanted = batch;
            variants->made[wanted] = variants->count < VARIANTS_MOST;
            variants->count += variants->made[wanted];
            variants->fresh = variants->made[wanted] ? wanted + 1 : 0;
            if (fresh == 0)
                continue;
            batch = fresh - 1;
        }
        const uint32_t *points = pm_shader_sampler_batch(sampler, batch, &size);
        for (uint32_t i = 0; i < size; i++)
            take(missing, pm_shader_sampler_space(sampler, batch), points[i]);
    }
}

/* Windows until every candidate has a sample. 0: out of memory. */
static uint32_t windows_until_covered(const struct shape *shape, uint32_t b, uint32_t session,
                                      bool steered, uint64_t seed)
{
    struct missing missing = {.candidates = shape->candidates};
    struct pm_random random;
    uint32_t windows = 0;
    memset(missing.bits, 0xff, sizeof(missing.bits));
    pm_random_init(&random, seed);
    while (missing.candidates > 0) {
        const struct missing before = missing; /* what the session knows */
        const struct pm_sampler_space spaces[KINDS] = {
            [BLOCKS] = {shape->blocks, b, steered ? before.bits[BLOCKS] : NULL},
            [CANDIDATES] = {shape->candidates, b, steered ? before.bits[CANDIDATES] : NULL}};
        struct pm_shader_sampler *sampler =
            pm_shader_sampler_create(spaces, KINDS, pm_random_next(&random));
        if (!sampler)
            return 0;
        struct variants variants = {.count = 0};
        for (uint32_t i = 0; i < session && missing.candidates > 0; i++, windows++)
            run_window(shape, sampler, &variants, &random, &missing);
        pm_shader_sampler_destroy(sampler);
    }
    return windows;
}

static uint32_t batches_of(uint32_t points, uint32_t b)
{
    return (points + b - 1) / b;
}

static bool print_windows(const struct shape *shape, uint32_t b, uint32_t session, uint64_t trials)
{
    const uint32_t size = b < shape->candidates ? b : shape->candidates;
    const double batches = batches_of(shape->blocks, b) + batches_of(shape->candidates, b);
    const double samples = (double)WINDOW_FRAMES * shape->calls * api_probability *
                           batches_of(shape->candidates, b) / batches;
    const double expectation = pm_expected_samples(shape->candidates, size);
    double plain = 0, steered = 0;
    for (uint64_t trial = 1; trial <= trials; trial++) {
        plain += windows_until_covered(shape, b, session, false, trial);
        steered += windows_until_covered(shape, b, session, true, trial);
    }
    plain /= (double)trials;
    steered /= (double)trials;
    printf("| %u | %u | %u | %u | %.1f | %.1f | %.1f | %.1f |\n", shape->blocks, shape->candidates,
           shape->calls, b, expectation, expectation / samples, plain, steered);
    return steered <= 1.03 * plain;
}

static bool read_shape(const char *text, struct shape *shape)
{
    int end = 0;
    return sscanf(text, "%" SCNu32 ",%" SCNu32 ",%" SCNu32 "%n", &shape->blocks, &shape->candidates,
                  &shape->calls, &end) == 3 &&
           text[end] == '\0' && shape->blocks < POINTS_MOST && shape->candidates > 0 &&
           shape->candidates < POINTS_MOST && shape->calls > 0;
}

static bool compare_windows(const struct shape *shapes, size_t count, uint32_t session,
                            uint64_t trials)
{
    static const uint32_t batches[] = {1, 8, 128};
    bool good = true;
    printf("| blocks | candidates | calls a frame | b | expected samples | windows for them | "
           "windows | windows, steered |\n"
           "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < sizeof(batches) / sizeof(batches[0]); j++)
            good = print_windows(&shapes[i], batches[j], session, trials) && good;
    }
    return good;
}

/* ---- samples ---- */

static bool compare_samples(uint64_t trials)
{
    static const uint32_t sizes[] = {16, 19, 32, 128, 276}, batches[] = {1, 2, 8};
    bool good = true;
    printf("| points | b | expected | measured, a session a sample | measured, one session |\n"
           "| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        for (size_t j = 0; j < sizeof(batches) / sizeof(batches[0]); j++) {
            uint32_t n = sizes[i], b = batches[j], most = 0;
            double anew = 0, split = 0, expectation = pm_expected_samples(n, b);
            for (uint64_t trial = 1; trial <= trials; trial++) {
                uint32_t one = measure(n, b, trial, false);
                anew += measure(n, b, trial, true);
                split += one;
                most = one > most ? one : most;
            }
            anew /= (double)trials;
            split /= (double)trials;
            printf("| %u | %u | %.1f | %.1f | %.1f |\n", n, b, expectation, anew, split);
            bool whole = n % b == 0; /* else a session's last batch is smaller than the formula's */
            if ((whole && fabs(anew / expectation - 1) > 0.03) || most > 2 * ((n + b - 1) / b))
                good = false;
        }
    }
    return good;
}

int main(int argc, char **argv)
{
    static const struct option known[] = {{"trials", 1, 0, 't'},
                                          {"windows", 0, 0, 'w'},
                                          {"shape", 1, 0, 's'},
                                          {"session", 1, 0, 'n'},
                                          {0}};
    /* Where no shape is given: the largest shader of the paper's Table 2, called once a frame (a
     * full-screen pass) and often, and a small one. */
    struct shape shapes[SHAPES_MOST] = {{19, 276, 1}, {19, 276, 50}, {4, 32, 1}};
    size_t shape_count = 0;
    uint64_t trials = 2000, session = 19; /* an hour at 60 frames a second and the default q */
    int option;
    bool good = true, windows = false;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
        if (option == 't')
            good = good && pm_tool_number(optarg, 1000000, &trials) && trials > 0;
        else if (option == 'n')
            good = good && pm_tool_number(optarg, 1000000, &session) && session > 0;
        else if (option == 's')
            good = good && shape_count < SHAPES_MOST && read_shape(optarg, &shapes[shape_count++]);
        else if (option == 'w')
            windows = true;
        else
            good = false;
    }
    if (!good || optind < argc || (!windows && shape_count > 0)) {
        fprintf(stderr, "usage: coverage [--trials N]\n"
                        "       coverage --windows [--trials N] [--shape "
                        "BLOCKS,CANDIDATES,CALLS]... [--session WINDOWS]\n");
        return 2;
    }
    if (windows)
        good = compare_windows(shapes, shape_count ? shape_count : 3, (uint32_t)session, trials);
    else
        good = compare_samples(trials);
    return good ? 0 : 1;
}
