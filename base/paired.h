/*
 * Paired ratios: how much longer one of two ways of doing the same takes, from pairs of times that
 * were taken next to each other. The ratios' logarithms are averaged, so that a/b and b/a weigh the
 * same; the interval is Student's. Trimmed it is Yuen's (1974): the mean without the lowest and
 * highest share of the sample, its error from the winsorized variance, so that a few frames in
 * which something else ran do not decide.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include <stddef.h>

/* The 0.975 quantile of Student's t; degrees may be a fraction and are taken as 1 below that. */
double pm_student_quantile(double degrees);

struct pm_paired {
    double ratio;     /* the geometric mean; NAN: of nothing */
    double low, high; /* its 95 % interval */
    size_t count;     /* ratios, trimmed ones included */
};

/* From the natural logarithms of the ratios, which are sorted in place. trim: share left out at
 * either end, 0 to below 0.5. Fewer than two that are left: [0, infinity]. */
struct pm_paired pm_paired_interval(double *log_ratios, size_t count, double trim);
