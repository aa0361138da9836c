/*
 * How many samples until every point of a shader has one (the paper's Table 2 and section 6.2):
 * expected against measured, with the real shader sampler.
 *
 *   coverage [--trials N]
 *
 * Prints, in Markdown, for shaders of N points and batches of b: the expectation when every sample
 * is a batch of its own (the paper's clients: N·H(N) at b = 1; in general by the Markov chain over
 * the number of points still missing, whose steps are hypergeometric); what was measured when every
 * sample comes from a session of its own, so that batches are drawn anew; and what was measured
 * when one session goes on, whose batches are a split of the points (DESIGN, PGO database). Ends
 * with 0 when the first measurement is within 3 % of the expectation and the second never above
 * ceil(N / b) by more than one cycle.
 */
#include "sampler/sampler.h"
#include "tools/tool.h"
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { POINTS_MOST = 1024 };

static double log_choose(double n, double k)
{
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1);
}

/* Expected samples of b distinct points of n, with replacement between samples, until none is
 * missing. */
static double expected(uint32_t n, uint32_t b)
{
    static double left[POINTS_MOST + 1]; /* by the number of points missing */
    left[0] = 0;
    for (uint32_t missing = 1; missing <= n; missing++) {
        double sum = 1, none = 0;
        for (uint32_t fresh = 0; fresh <= b && fresh <= missing; fresh++) {
            if (b - fresh > n - missing)
                continue;
            double p = exp(log_choose(missing, fresh) + log_choose(n - missing, b - fresh) -
                           log_choose(n, b));
            if (fresh == 0)
                none = p;
            else
                sum += p * left[missing - fresh];
        }
        left[missing] = sum / (1 - none);
    }
    return left[n];
}

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
            sampler = pm_shader_sampler_create(&(struct pm_sampler_space){n, NULL}, 1, b,
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

int main(int argc, char **argv)
{
    static const struct option known[] = {{"trials", 1, 0, 't'}, {0}};
    static const uint32_t sizes[] = {16, 19, 32, 128, 276}, batches[] = {1, 2, 8};
    uint64_t trials = 2000;
    int option;
    bool good = true;
    while ((option = getopt_long(argc, argv, "", known, NULL)) != -1)
        good = good && option == 't' && pm_tool_number(optarg, 1000000, &trials) && trials > 0;
    if (!good || optind < argc) {
        fprintf(stderr, "usage: coverage [--trials N]\n");
        return 2;
    }
    printf("| points | b | expected | measured, a session a sample | measured, one session |\n"
           "| --- | --- | --- | --- | --- |\n");
    int status = 0;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        for (size_t j = 0; j < sizeof(batches) / sizeof(batches[0]); j++) {
            uint32_t n = sizes[i], b = batches[j], most = 0;
            double anew = 0, split = 0, expectation = expected(n, b);
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
                status = 1;
        }
    }
    return status;
}
