/*
 * Student's t at any error, where paired.h has the usual 5 % alone: how improbable a t is, and
 * which one is that improbable. By the incomplete beta function, whose continued fraction is summed
 * by Lentz's method (Abramowitz and Stegun 26.5.8, 26.7.1), and from 30 degrees of freedom on by
 * Cornish and Fisher's expansion around the normal quantile (26.7.5); within 0.1 % of t.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

/* P(|T| > t), t not below 0; degrees may be a fraction and are taken as 1 below that. */
double pm_student_error(double t, double degrees);

/* The t with P(|T| > t) = error, error within [1e-12, 0.5], to which others are moved. At 0.05 it
 * is pm_student_quantile. */
double pm_student_t(double error, double degrees);
