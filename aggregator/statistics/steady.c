#include "aggregator/statistics/steady.h"

#include <stdlib.h>

bool pm_steady(struct pm_steady *steady, int64_t wall, int64_t boot, int64_t *jump)
{
    const int64_t drift = steady->known ? (wall - steady->wall) - (boot - steady->boot) : 0;
    *jump = llabs(drift) > PM_STEADY_SLACK ? drift : 0;
    if (!steady->known || *jump != 0)
        steady->since = boot;
    steady->known = true;
    steady->wall = wall;
    steady->boot = boot;
    return boot - steady->since >= PM_STEADY_SECONDS;
}
