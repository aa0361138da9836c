/* What the tests of statistics share: clusters of random counts, and what statistics hold. */
#pragma once

#include "aggregator/statistics/statistics.h"
#include "base/random.h"

#define SPACE 13

/* Some of a shader's points, in any order, with counts that can be. points: room for SPACE. */
size_t random_points(struct pm_random *random, enum pm_kind kind, struct pm_point_counts *points);

/* Adds a cluster of a shader of SPACE points; fails the test where it is refused. */
void add_cluster(struct pm_statistics *statistics, enum pm_kind kind, const uint8_t *at_most_once,
                 const struct pm_point_counts *points, size_t count);

/* The same of zeros, and how many candidates the session said there are; 0: it did not. */
void add_zeros(struct pm_statistics *statistics, uint32_t candidates,
               const struct pm_point_counts *points, size_t count);

/* A number of candidates that a session may say, often the same, sometimes 0. */
uint32_t random_candidates(struct pm_random *random);

/* Initializes *out, which the caller finishes. */
void encode(const struct pm_statistics *statistics, struct pm_buffer *out);

/* Have both the same encoding? */
void assert_same(const struct pm_statistics *a, const struct pm_statistics *b);

/* All cells of a measure at once. */
struct pm_cell totals(const struct pm_statistics *statistics, uint32_t point, unsigned measure);
