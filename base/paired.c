#include "base/paired.h"

#include <math.h>
#include <stdlib.h>

double pm_student_quantile(double degrees)
{
    /* Between these, ln t is close to linear in 1 / degrees: within 0.4 %. */
    static const struct {
        double degrees, t;
    } table[] = {{1, 12.7062},    {1.1, 10.2768}, {1.25, 8.02795}, {1.4, 6.657},   {1.5, 6.01666},
                 {1.75, 4.94885}, {2, 4.30265},   {2.5, 3.57465},  {3, 3.18245},   {4, 2.77645},
                 {5, 2.57058},    {6, 2.44691},   {8, 2.306},      {10, 2.22814},  {15, 2.13145},
                 {20, 2.08596},   {30, 2.04227},  {60, 2.0003},    {120, 1.97993}, {1e9, 1.959964}};
    const size_t last = sizeof(table) / sizeof(*table) - 1;
    if (!(degrees > table[0].degrees))
        return table[0].t;
    if (degrees >= table[last].degrees)
        return table[last].t;
    size_t i = 0;
    while (degrees >= table[i + 1].degrees)
        i++;
    const double from = 1 / table[i].degrees, to = 1 / table[i + 1].degrees;
    const double share = (from - 1 / degrees) / (from - to);
    return table[i].t * pow(table[i + 1].t / table[i].t, share);
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

struct pm_paired pm_paired_interval(double *log_ratios, size_t count, double trim)
{
    if (count > 0)
        qsort(log_ratios, count, sizeof(*log_ratios), compare);
    const size_t cut = (size_t)floor(trim * (double)count), left = count - 2 * cut;
    double sum = 0, all = 0, squares = 0;
    for (size_t i = cut; i < cut + left; i++)
        sum += log_ratios[i];
    const double mean = left > 0 ? sum / (double)left : NAN;
    if (left < 2)
        return (struct pm_paired){exp(mean), 0, INFINITY, count};
    /* Winsorized: what was left out counts as the nearest that was not. */
    for (size_t i = 0; i < count; i++) {
        const size_t at = i < cut ? cut : i >= cut + left ? cut + left - 1 : i;
        all += log_ratios[at];
        squares += log_ratios[at] * log_ratios[at];
    }
    const double n = (double)count;
    const double variance = fmax(squares - all * all / n, 0) / (n - 1);
    const double share = (double)left / n;
    const double half = pm_student_quantile((double)left - 1) * sqrt(variance / n) / share;
    return (struct pm_paired){exp(mean), exp(mean - half), exp(mean + half), count};
}
