/*
 * What as many liars as are said to be harmless move, held to what is said of it. Each case is a
 * game of its own, without them and with them.
 */
#include "bench/poison/poison_bound.h"

#include "bench/poison/poison_field.h"
#include <math.h>
#include <stdio.h>

#define SIZE 4096
#define LARGE 20
#define HUGE (double)(UINT64_C(1) << 40)
#define ROUNDED 1e-7 /* ratios are kept in units of 2^-32 */

/* ---- who plays ---- */

/* Players whose shares vary a little around these, and sizes by sigma 0.5. Of ten, so many have a
 * screen that is twenty times as large, and shares of its own there. */
struct population {
    const char *name;
    double zero, block;
    unsigned large;
    double large_zero, large_block;
};

static const struct population populations[] = {
    {.name = "alike", .zero = 0.048, .block = 0.10},
    {.name = "even odds", .zero = 0.5, .block = 0.45},
    {"one large screen in ten, more zeros", 0.048, 0.10, 1, 0.6, 0.7},
    {"three large screens in ten, more zeros", 0.02, 0.05, 3, 0.8, 0.9},
    {"one large screen in ten, fewer zeros", 0.7, 0.6, 1, 0.1, 0.05},
};

/* What a liar says; points: of the blocks' shader. */
struct attack {
    const char *name;
    double zero, block, size;
    uint32_t points;
    bool leaves_out_once;
};

static const struct attack attacks[] = {
    {"all, of 2^40", 1, 1, HUGE, POISON_BLOCKS, false},
    {"nothing, of 2^40", 0, 0, HUGE, POISON_BLOCKS, false},
    {"all, of one lane", 1, 1, 1, POISON_BLOCKS, false},
    {"nothing, of one lane", 0, 0, 1, POISON_BLOCKS, false},
    {"16 times each, and not at most once", 1, 16, HUGE, POISON_BLOCKS, true},
    {"another number of points", 1, 1, HUGE, 9, false},
};

struct cell {
    uint64_t honest;
    unsigned days;
    double half_width; /* that intervals may have, and so what liars may move */
};

static const struct cell cells[] = {{20, 1, 0.05}, {200, 1, 0.05}, {150, 2, 0.2}};

static bool put_honest(struct poison_field *field, const struct population *population,
                       uint64_t honest, uint64_t seed, struct pm_error *error)
{
    struct pm_random random;
    pm_random_init(&random, seed);
    for (uint64_t i = 0; i < honest; i++) {
        const bool large = i % 10 < population->large;
        const double zero = large ? population->large_zero : population->zero;
        const double block = large ? population->large_block : population->block;
        const struct poison_upload upload = {.game = "game",
                                             .token = i,
                                             .zero = fmin(zero * poison_effect(&random, 0.2), 1),
                                             .block = fmin(block * poison_effect(&random, 0.2), 1),
                                             .size = SIZE * (large ? LARGE : 1) *
                                                     poison_effect(&random, 0.5),
                                             .points = POISON_BLOCKS};
        if (!poison_put(field, &upload, error))
            return false;
    }
    return true;
}

static bool put_liars(struct poison_field *field, const struct attack *attack, uint64_t liars,
                      struct pm_error *error)
{
    for (uint64_t i = 0; i < liars * PM_TOKEN_CLUSTERS; i++) {
        const struct poison_upload upload = {.game = "game",
                                             .token = UINT64_C(1) << 40 | i / PM_TOKEN_CLUSTERS,
                                             .zero = attack->zero,
                                             .block = attack->block,
                                             .size = attack->size,
                                             .points = attack->points,
                                             .leaves_out_once = attack->leaves_out_once};
        if (!poison_put(field, &upload, error))
            return false;
    }
    return true;
}

/* attack NULL: nobody lies. */
static bool play(const char *storage, uint64_t seed, const struct cell *cell,
                 const struct population *population, const struct attack *attack, uint64_t liars,
                 struct poison_bounds *bounds, struct pm_error *error)
{
    struct poison_field field;
    uint64_t refused;
    bool done = poison_field_open(&field, storage, seed, 0, cell->half_width, error);
    for (unsigned day = 0; done && day < cell->days; day++) {
        done = (!attack || put_liars(&field, attack, liars, error)) &&
               put_honest(&field, population, cell->honest, seed + day, error) &&
               poison_send(&field, 0, &refused, error);
        field.now += POISON_DAY;
    }
    done = done && poison_look_at_bounds(&field, "game", bounds, error);
    poison_field_close(&field);
    return done;
}

/* ---- what came of it ---- */

static double moved(const struct pm_ratio *clean, const struct pm_ratio *found)
{
    return fmax(fabs(found->ratio - clean->ratio), fabs(found->mean - clean->mean));
}

/* One alone where even that is more than may be. */
static uint64_t harmless(const struct poison_bounds *bounds)
{
    const uint32_t zero = bounds->zero_lying.tokens, block = bounds->block_lying.tokens;
    const uint32_t tokens = zero < block ? zero : block;
    return tokens > 0 ? tokens : 1;
}

static void print(const struct cell *cell, const struct population *population,
                  const struct attack *attack, uint64_t liars, const struct poison_bounds *found,
                  double zero, double block, bool within)
{
    printf("| %s | %s | %u × %u | %u | %.4f | %.4f | %.4f | %.4f |%s\n", population->name,
           attack->name, (unsigned)cell->honest, cell->days, (unsigned)liars, zero,
           found->zero_lying.error, block, found->block_lying.error, within ? "" : " !");
    fflush(stdout);
}

/* As many as are said to be harmless with their lies in it: from as many as are said to be before
 * there are any, up, or down where so many more would be found out. */
static bool play_attack(const char *storage, uint64_t seed, const struct cell *cell,
                        const struct population *population, const struct attack *attack,
                        const struct poison_bounds *clean, bool *right, struct pm_error *error)
{
    uint64_t liars = harmless(clean), before = 0;
    bool fewer = false;
    while (liars != before) {
        struct poison_bounds found;
        if (!play(storage, seed, cell, population, attack, liars, &found, error))
            return false;
        before = liars;
        if (liars > harmless(&found)) {
            fewer = true;
            liars--;
            continue;
        }
        const double zero = moved(&clean->zero, &found.zero),
                     block = moved(&clean->block, &found.block);
        const bool within =
            zero <= found.zero_lying.error + ROUNDED && block <= found.block_lying.error + ROUNDED;
        print(cell, population, attack, liars, &found, zero, block, within);
        *right = *right && within;
        if (!fewer)
            liars = harmless(&found);
    }
    return true;
}

bool poison_bound(const char *storage, uint64_t seed, bool *right, struct pm_error *error)
{
    printf(
        "| honest players | liars say | players × days | liars | P(zero) moved | at most | block "
        "moved | at most |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    *right = true;
    for (size_t i = 0; i < sizeof(cells) / sizeof(*cells); i++) {
        for (size_t j = 0; j < sizeof(populations) / sizeof(*populations); j++) {
            struct poison_bounds clean;
            bool done = play(storage, seed, &cells[i], &populations[j], NULL, 0, &clean, error);
            for (size_t k = 0; done && k < sizeof(attacks) / sizeof(*attacks); k++)
                done = play_attack(storage, seed, &cells[i], &populations[j], &attacks[k], &clean,
                                   right, error);
            if (!done)
                return false;
        }
    }
    return true;
}
