/*
 * Players with effects of their own: how much of a shader's zeros each sees is his own, the same on
 * every day, and varies a little from session to session. Every trial is a game of its own.
 */
#include "bench/poison/poison_coverage.h"

#include "bench/poison/poison_field.h"
#include <math.h>
#include <stdio.h>

#define TODAY_MOST PM_TOKEN_CLUSTERS /* uploads of a player on one day */
#define AT_ONCE 20000                /* uploads that are sent together */

struct cell {
    unsigned players, uploads; /* of each */
    double own;                /* sigma of his own effect on the odds */
};

static const struct cell cells[] = {{100, 4, 1},  {100, 1, 1},  {30, 20, 1},    {10, 56, 1},
                                    {60, 8, 0.5}, {100, 28, 1}, {400, 4, 0.25}, {30, 4, 2}};

/* The mean over players of a share with log-normal odds around 1 to 2, by summing over quantiles
 * that are drawn evenly. */
static double truth_of(const struct cell *cell, struct pm_random *random)
{
    double sum = 0;
    const unsigned draws = 1000000;
    for (unsigned i = 0; i < draws; i++) {
        const double odds = 0.5 * poison_effect(random, cell->own);
        sum += odds / (1 + odds);
    }
    return sum / draws;
}

static double noisy(struct pm_random *random, double share)
{
    return fmin(fmax(share + 0.1 * (pm_random_unit(random) - 0.5), 0), 1);
}

/* One day of all trials. A player's odds follow from his number. */
static bool play_day(struct poison_field *field, const struct cell *cell, uint64_t trials,
                     uint64_t day, unsigned uploads, unsigned index, struct pm_error *error)
{
    uint64_t refused;
    for (uint64_t trial = 0; trial < trials; trial++) {
        char game[32];
        snprintf(game, sizeof(game), "%u-%u", index, (unsigned)trial);
        for (unsigned player = 0; player < cell->players; player++) {
            struct pm_random own;
            const uint64_t token = (trial * 64 + index) * 4096 + player;
            pm_random_init(&own, token);
            const double odds = 0.5 * poison_effect(&own, cell->own);
            const double size = 4096 * poison_effect(&own, 0.5), share = odds / (1 + odds);
            for (unsigned i = 0; i < uploads; i++) {
                const struct poison_upload upload = {.game = game,
                                                     .token = token,
                                                     .zero = noisy(&field->random, share),
                                                     .block = 0.1,
                                                     .size = size,
                                                     .points = POISON_BLOCKS};
                if (!poison_put(field, &upload, error))
                    return false;
            }
        }
        if (field->count >= AT_ONCE && !poison_send(field, 0, &refused, error))
            return false;
    }
    (void)day;
    return poison_send(field, 0, &refused, error);
}

struct tally {
    uint64_t mean, ratio, published;
    double half;
};

static bool judge(struct poison_field *field, uint64_t trials, unsigned index, double truth,
                  struct tally *tally, struct pm_error *error)
{
    for (uint64_t trial = 0; trial < trials; trial++) {
        char game[32];
        struct poison_found found;
        snprintf(game, sizeof(game), "%u-%u", index, (unsigned)trial);
        if (!poison_look(field, game, &found, error))
            return false;
        tally->mean += found.zero.mean_low <= truth && truth <= found.zero.mean_high;
        tally->ratio += found.zero.ratio_low <= truth && truth <= found.zero.ratio_high;
        tally->published += found.zero_published;
        tally->half += (found.zero.mean_high - found.zero.mean_low) / 2 / (double)trials;
    }
    return true;
}

static bool play(const char *storage, unsigned index, uint64_t trials, double least, bool *right,
                 struct pm_error *error)
{
    const struct cell *cell = &cells[index];
    struct poison_field field;
    struct tally tally = {0};
    bool done = poison_field_open(&field, storage, 77 + index, 0, 0, error);
    struct pm_random random;
    pm_random_init(&random, 5);
    const double truth = truth_of(cell, &random);
    for (unsigned sent = 0, day = 0; done && sent < cell->uploads; sent += TODAY_MOST, day++) {
        const unsigned left = cell->uploads - sent;
        done = play_day(&field, cell, trials, day, left < TODAY_MOST ? left : TODAY_MOST, index,
                        error);
        field.now += POISON_DAY;
    }
    done = done && judge(&field, trials, index, truth, &tally, error);
    poison_field_close(&field);
    const double percent = 100.0 / (double)trials;
    /* Two standard errors of the share itself. */
    const double slack = 200 * sqrt(least / 100 * (1 - least / 100) / (double)trials);
    if (done)
        printf("| %u × %u | %g | %.4f | %.1f | %.1f | %.4f | %.1f |\n", cell->players,
               cell->uploads, cell->own, truth, (double)tally.mean * percent,
               (double)tally.ratio * percent, tally.half, (double)tally.published * percent);
    *right = *right && (double)tally.mean * percent >= least - slack &&
             (double)tally.ratio * percent >= least - slack;
    return done;
}

bool poison_coverage(const char *storage, uint64_t trials, double least, bool *right,
                     struct pm_error *error)
{
    printf(
        "%u games in each row. A player has odds of his own (log-normal around 1 to 2, sigma "
        "`own`) and %u uploads a day.\n\n"
        "| players × uploads | own | truth | mean covered, %% | ratio covered, %% | half-width | "
        "published, %% |\n| --- | --- | --- | --- | --- | --- | --- |\n",
        (unsigned)trials, TODAY_MOST);
    *right = true;
    for (unsigned i = 0; i < sizeof(cells) / sizeof(*cells); i++) {
        if (!play(storage, i, trials, least, right, error))
            return false;
        fflush(stdout);
    }
    return true;
}
