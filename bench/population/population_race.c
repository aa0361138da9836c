/* Races of a shader's variants, on clusters that differ and on some that lie. */
#include "bench/population/population_race.h"

#include "aggregator/statistics/race.h"
#include "bench/population/population_share.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { VARIANTS = 24, TRIED = 4, MOST = 2000, LOOK = 5 };
#define NOISE 0.02   /* of what a player's day says of a variant */
#define PLAYERS 0.01 /* how much players' truths differ */

struct field {
    const char *name;
    double gain, second, rogues; /* of variant 7, of variant 3, of the players */
    bool beyond;                 /* more lie than it is to stand */
};

static const struct field fields[] = {
    {"all equal", 0, 0, 0},
    {"all equal, 2 % of players say 28 % faster of one", 0, 0, 0.02},
    {"all equal, 10 % of players say so", 0, 0, 0.10, true},
    {"one is 3 % faster", 0.03, 0, 0},
    {"one is 10 % faster", 0.10, 0, 0},
    {"one is 10 % faster, another 5 %", 0.10, 0.05, 0},
    {"one is 3 % faster, 2 % of players say so of another", 0.03, 0, 0.02},
};

static double normal(struct pm_random *random)
{
    const double u = 1 - pm_random_unit(random), angle = 6.283185307179586 * pm_random_unit(random);
    return sqrt(-2 * log(u)) * cos(angle);
}

/* By the shares, without those that were drawn before. */
static size_t draw(const struct pm_race_arm *arms, const bool *taken, struct pm_random *random)
{
    double all = 0;
    size_t last = 0;
    for (size_t i = 0; i < VARIANTS; i++)
        all += taken[i] ? 0 : arms[i].share;
    double at = all * pm_random_unit(random);
    for (size_t i = 0; i < VARIANTS; i++) {
        if (taken[i])
            continue;
        last = i;
        if ((at -= arms[i].share) < 0)
            break;
    }
    return last;
}

static double truth_of(const struct field *field, size_t variant)
{
    return variant == 7 ? log1p(-field->gain) : variant == 3 ? log1p(-field->second) : 0;
}

static void upload(const struct field *field, struct pm_race_arm *arms, struct pm_random *random)
{
    bool taken[VARIANTS] = {false};
    const bool held_out = pm_random_unit(random) < 0.5;
    if (pm_random_unit(random) < field->rogues) {
        pm_race_add(&arms[5], -0.25, held_out);
        return;
    }
    for (int i = 0; i < TRIED; i++) {
        const size_t variant = draw(arms, taken, random);
        taken[variant] = true;
        pm_race_add(&arms[variant],
                    truth_of(field, variant) + hypot(NOISE, PLAYERS) * normal(random), held_out);
    }
}

/* Goes on until the right one wins, or to the end, and looks again and again. *wrong: a variant won
 * ever that gains nothing. */
static bool race(const struct field *field, struct pm_random *random, uint32_t *uploads,
                 bool *wrong, struct pm_race_result *result, struct pm_error *error)
{
    struct pm_race_arm arms[VARIANTS] = {0};
    struct pm_race_result now = {.winner = PM_RACE_NONE};
    *uploads = 0;
    *wrong = false;
    result->winner = PM_RACE_NONE;
    if (!pm_race_judge(arms, VARIANTS, now.winner, &now, error))
        return false;
    for (uint32_t i = 1; i <= MOST; i++) {
        upload(field, arms, random);
        if (i % LOOK != 0)
            continue;
        if (!pm_race_judge(arms, VARIANTS, now.winner, &now, error))
            return false;
        if (now.winner == PM_RACE_NONE)
            continue;
        *wrong |= !(truth_of(field, now.winner) < 0);
        if (now.winner == 7 && *uploads == 0 && field->gain > 0) {
            *uploads = i;
            *result = now;
            break;
        }
    }
    return true;
}

static int compare_numbers(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool play(const struct field *field, const struct pm_population_options *options,
                 bool *right, struct pm_error *error)
{
    struct pm_random random;
    struct pm_race_result result;
    uint64_t false_winners = 0, found = 0, held = 0;
    uint32_t *uploads = calloc(options->trials + 1, sizeof(*uploads));
    bool done = uploads || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    pm_random_init(&random, options->seed);
    for (uint64_t i = 0; done && i < options->trials; i++) {
        uint32_t took;
        bool wrong;
        done = race(field, &random, &took, &wrong, &result, error);
        false_winners += wrong;
        if (took > 0) {
            uploads[found++] = took;
            held +=
                result.gain.low <= log1p(-field->gain) && log1p(-field->gain) <= result.gain.high;
        }
    }
    if (done) {
        printf("| %s", field->name);
        pm_population_print_share(false_winners, options->trials);
        if (field->gain > 0)
            pm_population_print_share(found, options->trials);
        else
            printf(" | –");
        qsort(uploads, found, sizeof(*uploads), compare_numbers);
        if (found > 0)
            printf(" | %u (%u–%u)", uploads[found / 2], uploads[found / 20],
                   uploads[found - 1 - found / 20]);
        else
            printf(" | –");
        pm_population_print_share(held, found);
        printf(" |\n");
        *right =
            *right && (field->beyond || (double)false_winners <= 0.05 * (double)options->trials);
    }
    free(uploads);
    return done;
}

bool pm_population_race(const struct pm_population_options *options, bool *right,
                        struct pm_error *error)
{
    bool done = true;
    *right = true;
    printf("%d variants, %d of them an upload, at most %d uploads, looked at every %d\n\n",
           VARIANTS, TRIED, MOST, LOOK);
    puts("| variants | a false winner ever, % | the right one won, % | uploads until then | its "
         "gain held, % |");
    puts("| --- | --- | --- | --- | --- |");
    for (size_t i = 0; done && i < sizeof(fields) / sizeof(*fields); i++)
        done = play(&fields[i], options, right, error);
    return done;
}
