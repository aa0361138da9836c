/*
 * The coupon collector: what sampling should have covered by now (the paper's section 6.2; DESIGN,
 * Numbers to beat). Every sample is a batch of b different points of N, drawn anew.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include <stdint.h>

/* Expected samples until none of n points is missing: n H(n) at b = 1, in general
 * Σₖ (-1)ᵏ⁺¹ C(n,k) / (1 - C(n-k,b) / C(n,b)). The alternating sum loses all its digits from some
 * dozens of points on, so this is the Markov chain over the number of points missing, whose steps
 * are hypergeometric; beyond PM_EXPECTATION_EXACT points, its limit for large n. b above n counts
 * as n; 0 for no points. */
double pm_expected_samples(uint32_t n, uint32_t b);
#define PM_EXPECTATION_EXACT 4096u

/* The expected share of n points that have a sample after so many; samples need not be whole. */
double pm_expected_share(uint32_t n, uint32_t b, double samples);
