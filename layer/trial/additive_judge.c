/* What the self-test's rounds say. additive.h. */
#include "layer/trial/additive.h"

#include <math.h>
#include <stdlib.h>

/* Nanoseconds that the heavy draw alone takes at least. */
#define SHORTEST 200e3
enum {
    MOST_INSTANCES = 1 << 14,
    MOST_GROWTH = 16, /* from one round to the next */
};

uint32_t pm_additive_size(uint32_t instances, const struct pm_additive_round *round)
{
    const double heavy = round->alone[1];
    if (heavy >= SHORTEST)
        return instances;
    if (instances == MOST_INSTANCES)
        return 0;
    const double wanted = heavy > 0 ? ceil(1.5 * SHORTEST / heavy) : MOST_GROWTH;
    const uint32_t growth = wanted < 2 ? 2 : wanted > MOST_GROWTH ? MOST_GROWTH : (uint32_t)wanted;
    return instances > MOST_INSTANCES / growth ? MOST_INSTANCES : instances * growth;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median over the rounds of the number at an offset, in bytes, of each. */
static double median(const struct pm_additive_round *rounds, size_t offset)
{
    double values[PM_ADDITIVE_ROUNDS];
    for (int i = 0; i < PM_ADDITIVE_ROUNDS; i++)
        values[i] = *(const double *)(const void *)((const char *)&rounds[i] + offset);
    qsort(values, PM_ADDITIVE_ROUNDS, sizeof *values, by_size);
    return values[PM_ADDITIVE_ROUNDS / 2];
}

#define MEDIAN(member) median(rounds, offsetof(struct pm_additive_round, member))

/* Beginning and ending an instance costs something too, hence the tolerances: an eighth of the
 * heavy draw is half of the light one. */
static bool agrees(double light, double heavy, double instance, const double alone[static 2])
{
    return fabs(light - alone[0]) <= alone[1] / 8 && fabs(heavy - alone[1]) <= alone[1] / 4 &&
           fabs(light + heavy - instance) <= instance / 4;
}

bool pm_additive_judge(const struct pm_additive_round rounds[static PM_ADDITIVE_ROUNDS])
{
    const double alone[2] = {MEDIAN(alone[0]), MEDIAN(alone[1])};
    if (!(alone[0] > 0) || !(alone[1] >= PM_ADDITIVE_RATIO / 2.0 * alone[0]))
        return false;
    return agrees(MEDIAN(among[0][0]), MEDIAN(among[0][1]), MEDIAN(instances[0]), alone) &&
           agrees(MEDIAN(among[1][0]), MEDIAN(among[1][1]), MEDIAN(instances[1]), alone);
}
