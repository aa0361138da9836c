#include "sampler/sampler.h"

#include <math.h>

/* P(k > n) = (1 - p)^n, inverted. log1p keeps a p that 1 - p would round away. */
static double scale_of(double p)
{
    return 1 / log1p(-p);
}

/* 1 - u is in (0, 1] and exact. */
static uint64_t draw(struct pm_random *random, double scale)
{
    const double trials = log(1 - pm_random_unit(random)) * scale;
    return trials < 0x1p64 - 4096.0 ? 1 + (uint64_t)trials : PM_NEVER;
}

uint64_t pm_geometric(struct pm_random *random, double p)
{
    if (!(p > 0.0))
        return PM_NEVER;
    return p < 1.0 ? draw(random, scale_of(p)) : 1;
}

uint64_t pm_geometric_again(struct pm_random *random, struct pm_geometric_scale *scale, double p)
{
    if (p == scale->p && p > 0.0 && p < 1.0)
        return draw(random, scale->scale);
    if (p > 0.0 && p < 1.0)
        *scale = (struct pm_geometric_scale){p, scale_of(p)};
    return pm_geometric(random, p);
}

void pm_call_sampler_begin(struct pm_call_sampler *sampler, struct pm_random *random, double p)
{
    sampler->countdown = pm_geometric(random, p);
}
