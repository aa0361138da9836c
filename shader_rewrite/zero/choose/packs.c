#include "shader_rewrite/zero/choose/packs.h"

#include <stdlib.h>

/* The elements that are zero often enough, if there are two at least; else it stays. */
static void drop(struct pm_zero_candidate *c, double *zero, const double *of_value,
                 double threshold)
{
    struct pm_zero_candidate left = *c;
    double all = 1;
    left.value_count = 0;
    for (uint32_t i = 0; i < c->value_count; i++) {
        double one = of_value[c->values[i]];
        if (!(one >= threshold))
            continue;
        left.values[left.value_count++] = c->values[i];
        all += one - 1;
    }
    if (left.value_count < 2 || left.value_count == c->value_count || !(all >= threshold))
        return;
    *c = left;
    *zero = all;
}

bool pm_zero_drop_elements(struct pm_zero_points *points, double *zero, double threshold,
                           uint32_t bound)
{
    double *of_value = calloc(bound + 1u, sizeof(*of_value)); /* by id: of a scalar candidate */
    if (!of_value)
        return false;
    for (uint32_t i = 0; i < points->count; i++) {
        const struct pm_zero_candidate *c = &points->candidates[i];
        if (c->value_count == 1 && c->components == 1 && c->values[0] < bound)
            of_value[c->values[0]] = zero[i];
    }
    for (uint32_t i = 0; i < points->count; i++)
        if (points->candidates[i].value_count > 1 && zero[i] < threshold)
            drop(&points->candidates[i], &zero[i], of_value, threshold);
    free(of_value);
    return true;
}
