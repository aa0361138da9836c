#include "base/student.h"

#include "base/paired.h"
#include <math.h>

#define STEPS 300
#define LEAST_ERROR 1e-12
#define MANY 30 /* degrees from which the expansion is right */

static double away_from_zero(double value)
{
    return fabs(value) < 1e-300 ? 1e-300 : value;
}

/* The continued fraction of I_x(a, b). */
static double fraction(double a, double b, double x)
{
    double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), product = d;
    for (int m = 1; m < STEPS; m++) {
        const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
        const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
        d = 1 / away_from_zero(1 + even * d);
        c = away_from_zero(1 + even / c);
        product *= d * c;
        d = 1 / away_from_zero(1 + odd * d);
        c = away_from_zero(1 + odd / c);
        product *= d * c;
        if (fabs(d * c - 1) < 1e-13)
            break;
    }
    return product;
}

static double incomplete_beta(double a, double b, double x)
{
    if (x <= 0 || x >= 1)
        return x >= 1;
    const double front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x));
    return x < (a + 1) / (a + b + 2) ? front * fraction(a, b, x) / a
                                     : 1 - front * fraction(b, a, 1 - x) / b;
}

double pm_student_error(double t, double degrees)
{
    const double n = degrees > 1 ? degrees : 1;
    /* Beyond this the normal distribution is no different, and lgamma loses its digits. */
    return n > 1e7 ? erfc(t / sqrt(2)) : incomplete_beta(n / 2, 0.5, n / (n + t * t));
}

/* z with P(|Z| > z) = error: Newton's steps from a bound above. */
static double normal(double error)
{
    const double density = sqrt(2 / acos(-1));
    double z = sqrt(-2 * log(error / 2));
    for (int i = 0; i < 20; i++)
        z += (erfc(z / sqrt(2)) - error) / (density * exp(-z * z / 2));
    return z;
}

/* Where P(|T| > t) is the error: between bounds, halved. */
static double search(double error, double degrees)
{
    double low = 0, high = 2;
    while (pm_student_error(high, degrees) > error)
        high *= 2;
    for (int i = 0; i < 60; i++) {
        const double middle = (low + high) / 2;
        if (pm_student_error(middle, degrees) > error)
            low = middle;
        else
            high = middle;
    }
    return high;
}

double pm_student_t(double error, double degrees)
{
    if (error == 0.05)
        return pm_student_quantile(degrees);
    const double p = fmin(fmax(error, LEAST_ERROR), 0.5);
    if (!(degrees >= MANY))
        return search(p, degrees);
    const double z = normal(p), zz = z * z, n = degrees;
    return z + z * (zz + 1) / (4 * n) + z * (5 * zz * zz + 16 * zz + 3) / (96 * n * n) +
           z * (3 * zz * zz * zz + 19 * zz * zz + 17 * zz - 15) / (384 * n * n * n) +
           z * (79 * zz * zz * zz * zz + 776 * zz * zz * zz + 1482 * zz * zz - 1920 * zz - 945) /
               (92160 * n * n * n * n);
}
