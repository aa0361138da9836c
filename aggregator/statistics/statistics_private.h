/* What the parts of statistics.h share. */
#pragma once

#include "aggregator/statistics/statistics.h"

/* More would let the sums of squares overflow. */
#define PM_CLUSTERS_MOST (UINT64_C(1) << 47)

/* The bin of r = y / x; x > 0. */
unsigned pm_histogram_bin(uint64_t y, uint64_t x);

/* y / x, x > 0, in units of 2^-32, to nearest. */
uint64_t pm_cluster_ratio(uint64_t y, uint64_t x);

/* Which class of cells a cluster with these belongs to, below PM_CELL_CLASSES; x > 0. */
unsigned pm_cell_class(uint64_t x, uint64_t r);

/* Adds a cluster of its class. r: pm_cluster_ratio(y, x). */
void pm_cell_add(struct pm_cell *cell, uint64_t y, uint64_t x, uint64_t r);

/* Those of `from` to those of `into`, which are of the same key. */
void pm_cell_add_cell(struct pm_cell *into, const struct pm_cell *from);

/* Keeps of into's bitmap what this one, which may be NULL, has as well. */
void pm_statistics_intersect(struct pm_statistics *into, const uint8_t *bitmap);

/* What version 1 of the encoding kept of a measure, over all clusters. */
struct pm_whole_sums {
    struct pm_wide x, y, xx;
    struct pm_wide r, rr; /* in units of 2^-32, 2^-64 */
};

/* Cells with the same n, Σx, Σy, Σr and Σr², and about the same Σx²: (Σx)² / Σx² clusters that are
 * alike, and the others with x = 1. Returns how many, one or two, ascending, their keys being
 * classes; 0 when no n clusters have such sums. */
unsigned pm_cells_of_sums(uint64_t n, const struct pm_whole_sums *sums, struct pm_cell cells[2]);
