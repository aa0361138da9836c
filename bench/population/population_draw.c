#include "bench/population/population_draw.h"

#include <math.h>

double pm_population_normal(struct pm_random *random)
{
    const double u = 1 - pm_random_unit(random), v = pm_random_unit(random);
    return sqrt(-2 * log(u)) * cos(2 * acos(-1) * v);
}

void pm_population_values(struct pm_random *random, uint32_t count, double *share, bool *split)
{
    for (uint32_t i = 0; i < count; i++) {
        const double kind = pm_random_unit(random), u = pm_random_unit(random);
        share[i] = kind < 0.7 ? 0.1 * u : kind < 0.9 ? 1 - 0.1 * u : u;
        split[i] = pm_random_below(random, 4) == 0;
    }
}
