/* What a simulated population is told (population.c). */
#pragma once

#include "bench/population/population_game.h"

struct pm_population_options {
    uint64_t trials, seed;
    uint64_t truth; /* sessions */
    uint64_t rows;
    uint32_t points; /* of the game; 0: as many as the paper's had */
    uint32_t days, spacing,
        sessions;        /* days with uploads, days from one to the next, uploads of one */
    uint32_t half_life;  /* days; 0: none */
    uint32_t look, most; /* uploads between two looks; after which a game is given up */
    uint32_t point;      /* alone; PM_GAME_POINTS: all */
    const char *storage; /* a file; NULL: in a temporary folder */
    double least;        /* coverage that is asked of every interval */
    struct pm_game_setup game;
};
