/* Contests on one machine, on times as noisy as a game's. */
#include "bench/population/population_contest.h"

#include "base/halving.h"
#include "bench/population/population_draw.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { VARIANTS = 24, GAINING = 5, SHADERS = 60, NONE = VARIANTS };
#define RARE 0.01  /* of the calls: something else runs meanwhile */
#define LONGER 10  /* these take so many times as long */
#define WORTH 0.01 /* what a trial asks for at least (layer/trial/verdict.c) */
#define NOISES                                                                                     \
    {                                                                                              \
        0.05, 0.1, 0.2                                                                             \
    } /* of one call's time: standard deviation of its logarithm */

struct field {
    const char *name;
    struct {
        uint32_t variant;
        double gain;
    } gains[GAINING]; /* those that gain; gain 0: no more of them */
    double processes; /* how much a variant differs from process to process */
    uint32_t shaders; /* drawn, as draw_truth says; 0: that one */
    /* Asked of them where there is least noise: the share of two runs that agree; at most. */
    double agree, given_up;
};

static const struct field fields[] = {
    {"4.8, 5 and 5 %; 2 %", {{3, 0.048}, {5, 0.05}, {8, 0.02}, {12, 0.05}}, 0, 0, 0.75, 0.01},
    {"the same, ±1 % by process", {{3, 0.048}, {5, 0.05}, {8, 0.02}, {12, 0.05}}, 0.01, 0, 0, 0.01},
    {"4.5 and 5 %", {{3, 0.045}, {5, 0.05}}, 0, 0, 0.6, 0.01},
    {"4 and 5 %", {{3, 0.04}, {5, 0.05}}, 0, 0, 0, 0.015},
    {"3 and 5 %", {{3, 0.03}, {5, 0.05}}, 0, 0, 0, 0.02},
    {"10 %", {{7, 0.1}}, 0, 0, 0.9, 0.01},
    {"5 %", {{7, 0.05}}, 0, 0, 0.7, 0.01},
    {"3 %", {{7, 0.03}}, 0, 0, 0, 0.02},
    {"none", {{0, 0}}, 0, 0, 0.99, 0},
    {"drawn", {{0, 0}}, 0, SHADERS, 0.7, 0.01},
    {"drawn, ±1 % by process", {{0, 0}}, 0.01, SHADERS, 0, 0.01},
};

/* One to five that are about as fast, by 2 to 10 %, 1 % to and fro; the others gain nothing, 0.3 %
 * to and fro. */
static void draw_truth(struct pm_random *random, double *truth)
{
    const double gain = 0.02 + 0.08 * pm_random_unit(random);
    for (uint32_t i = 0; i < VARIANTS; i++)
        truth[i] = 0.003 * pm_population_normal(random);
    for (uint32_t n = 1 + pm_random_below(random, GAINING); n > 0; n--)
        truth[pm_random_below(random, VARIANTS)] =
            log1p(-gain) + 0.01 * pm_population_normal(random);
}

/* Logarithms of the variants' times over the original's. */
static void find_truth(const struct field *field, struct pm_random *random, double *truth)
{
    for (uint32_t i = 0; i < VARIANTS; i++)
        truth[i] = 0;
    for (uint32_t i = 0; i < GAINING && field->gains[i].gain > 0; i++)
        truth[field->gains[i].variant] = log1p(-field->gains[i].gain);
    if (field->shaders > 0)
        draw_truth(random, truth);
}

/* The logarithm of a call's time. */
static double time_of(double noise, struct pm_random *random)
{
    const double longer = pm_random_unit(random) < RARE ? log(LONGER) : 0;
    return noise * pm_population_normal(random) + longer;
}

/* As trials measure: until enough pairs are there, or it is hopeless. */
static uint32_t measure(struct pm_halving *halving, uint32_t variant, uint32_t times, double truth,
                        double noise, struct pm_random *random)
{
    struct pm_anytime seen = halving->seen[variant], session = {0};
    uint32_t pairs = 0;
    while (pairs < times) {
        pm_anytime_add(&session, truth + time_of(noise, random) - time_of(noise, random));
        pairs++;
        if (pm_halving_is_hopeless(&session))
            break;
    }
    pm_anytime_merge(&seen, &session);
    pm_halving_take(halving, variant, &seen);
    return pairs;
}

/* What a contest comes to: the variant that is taken, or NONE: there is none, or its trial does not
 * find it faster by what that asks for. */
static uint32_t hold(const double *truth, double processes, double noise, struct pm_random *random,
                     uint32_t *pairs)
{
    struct pm_halving halving;
    double now[VARIANTS];
    uint32_t variant, times;
    for (uint32_t i = 0; i < VARIANTS; i++)
        now[i] = truth[i] + processes * pm_population_normal(random);
    pm_halving_init(&halving, VARIANTS);
    *pairs = 0;
    while (pm_halving_next(&halving, random, &variant, &times))
        *pairs += measure(&halving, variant, times, now[variant], noise, random);
    return pm_halving_winner(&halving, &variant) && now[variant] < log1p(-WORTH) ? variant : NONE;
}

/* Of all sets of so many runs the share in which all took the same. */
static double share_alike(const uint64_t *taken, uint64_t runs, uint32_t of)
{
    double alike = 0;
    for (uint32_t i = 0; i <= NONE; i++) {
        double share = 1;
        for (uint32_t k = 0; k < of; k++)
            share *= ((double)taken[i] - k) / ((double)runs - k);
        alike += taken[i] >= of ? share : 0;
    }
    return alike;
}

/* What contests of shaders came to, on average. */
struct outcome {
    double most, two, three; /* shares: took what was taken most often; of two and three the same */
    double given_up;
    double pairs;
};

static void add_shader(const struct field *field, double noise, uint64_t runs, uint64_t seed,
                       struct outcome *outcome)
{
    struct pm_random shader, random;
    uint64_t taken[NONE + 1] = {0}, most = 0;
    double truth[VARIANTS], fastest = 0, given_up = 0, all = 0;
    pm_random_init(&shader, seed);
    pm_random_init(&random, pm_random_mix(seed));
    find_truth(field, &shader, truth);
    for (uint32_t i = 0; i < VARIANTS; i++)
        fastest = fmin(fastest, truth[i]);
    for (uint64_t i = 0; i < runs; i++) {
        uint32_t pairs;
        const uint32_t variant = hold(truth, field->processes, noise, &random, &pairs);
        taken[variant]++;
        given_up += (variant == NONE ? 0 : truth[variant]) - fastest;
        all += pairs;
    }
    for (uint32_t i = 0; i <= NONE; i++)
        most = taken[i] > most ? taken[i] : most;
    outcome->most += (double)most / (double)runs;
    outcome->two += share_alike(taken, runs, 2);
    outcome->three += share_alike(taken, runs, 3);
    outcome->given_up += given_up / (double)runs;
    outcome->pairs += all / (double)runs;
}

/* Whether two runs agree as often as they must, and no more is given up than is alike. */
static bool play(const struct field *field, double noise,
                 const struct pm_population_options *options)
{
    const uint32_t shaders = field->shaders > 0 ? field->shaders : 1;
    struct outcome all = {0};
    for (uint32_t i = 0; i < shaders; i++)
        add_shader(field, noise, options->trials, options->seed + i, &all);
    printf("| %s | %.0f %% | %.0f %% | %.0f %% | %.0f %% | %.2f | %.0f |\n", field->name,
           100 * noise, 100 * all.most / shaders, 100 * all.two / shaders,
           100 * all.three / shaders, 100 * all.given_up / shaders, all.pairs / shaders);
    return all.two / shaders >= field->agree && all.given_up / shaders <= field->given_up;
}

bool pm_population_contest(const struct pm_population_options *options, bool *right,
                           struct pm_error *error)
{
    const double noises[] = NOISES;
    (void)error;
    *right = true;
    printf("%d variants; one call of %.0f takes %d times as long\n\n", VARIANTS, 1 / RARE, LONGER);
    puts("| variants that gain | noise of a call | most often taken | the same in two runs | in "
         "three "
         "| given up, % | pairs |");
    puts("| --- | --- | --- | --- | --- | --- | --- |");
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++)
        for (size_t j = 0; j < sizeof(noises) / sizeof(*noises); j++)
            if (!play(&fields[i], noises[j], options) && j == 0)
                *right = false;
    return true;
}
