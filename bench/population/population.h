/* What the parts of the population simulator share (population.c). */
#pragma once

#include "base/error.h"
#include "bench/population/population_game.h"

struct pm_population_options {
    uint64_t trials, seed;
    uint64_t truth; /* sessions */
    uint64_t rows;
    uint32_t days, spacing, sessions; /* days with uploads, days from one to the next, uploads of one */
    uint32_t half_life;               /* days; 0: none */
    uint32_t look, most;              /* uploads between two looks; after which a game is given up */
    uint32_t point;                   /* alone; PM_GAME_POINTS: all */
    const char *storage;              /* a file; NULL: in a temporary folder */
    double least;                     /* coverage that is asked of every interval */
    struct pm_game_setup game;
};

/* Do intervals cover the truth? Prints a table. *right: everywhere as often as asked. */
bool pm_population_intervals(const struct pm_population_options *options, bool *right,
                             struct pm_error *error);

/* Do they when a point is first published, every game going on until then? Prints a table. *right:
 * everywhere as often as asked. */
bool pm_population_published(const struct pm_population_options *options, bool *right,
                             struct pm_error *error);

/* How long until a game like the paper's Watch is covered? Prints a table. *right: the paper's
 * estimate comes out under the paper's assumptions. */
bool pm_population_watch(const struct pm_population_options *options, bool *right,
                         struct pm_error *error);

/* The Clopper-Pearson 95 % interval of a share. */
void pm_population_share(uint64_t hits, uint64_t of, double *low, double *high);

/* The next field of a table's row: the share and its interval, in percent; –: of none. */
void pm_population_print_share(uint64_t hits, uint64_t of);
