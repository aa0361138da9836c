/* How sure a share of trials is. */
#pragma once

#include <stdint.h>

/* The Clopper-Pearson 95 % interval of a share. */
void pm_population_share(uint64_t hits, uint64_t of, double *low, double *high);

/* The next field of a table's row: the share and its interval, in percent; –: of none. */
void pm_population_print_share(uint64_t hits, uint64_t of);
