/*
 * Players of a simulated population whose clients measure variants of a shader, as the race asks
 * them to.
 */
#pragma once

#include "profile/races.h"
#include "tests/aggregator/place.h"

enum { PLAYERS_VARIANTS = 24, PLAYERS_TRIED = 4 /* of these, by a player in a day */ };

/* Logarithms of the variants' times over the original's. Of a pair it is the sum of its two
 * recipes', and `together` more. */
struct truth {
    double logs[PLAYERS_VARIANTS];
    bool pairs; /* those that the race speaks of are measured, too */
    double together;
};

/* The GPU and driver that they all have. */
struct pm_environment players_environment(void);

/* The point of a variant by its index. */
uint32_t players_point(uint32_t variant);

/* A profile of these points of a shader's variants; points ascend. */
struct pm_shader_profile players_profile(struct place *place, uint64_t shader,
                                         const struct pm_point_counts *points, size_t count);

/* What a player measures on a day: variants by the race's shares (NULL: nobody has said any yet),
 * pairs only where it speaks of them, each with noise. */
struct pm_shader_profile players_measure(struct place *place, uint64_t shader,
                                         const struct truth *truth, const struct pm_race *race);

/* What a token says that wants variants 5 and 9 to win: as much as may be said. */
struct pm_shader_profile players_lie(struct place *place, uint64_t shader);
