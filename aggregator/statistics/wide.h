/*
 * Unsigned 192-bit sums. A product of two 64-bit counters has 128 bits; 2^64 of them still fit, so
 * sums of squares of counters are exact, and adding them in any order gives the same bits: that is
 * what makes merging statistics commutative and associative, which floating point would not be.
 *
 * Thread safety: plain values.
 */
#pragma once

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define PM_WIDE_BYTES 24

__extension__ typedef unsigned __int128 pm_uint128;

struct pm_wide {
    uint64_t limbs[3]; /* least significant first */
};

static inline void pm_wide_add(struct pm_wide *sum, const struct pm_wide *added)
{
    pm_uint128 carry = 0;
    for (int i = 0; i < 3; i++) {
        carry += (pm_uint128)sum->limbs[i] + added->limbs[i];
        sum->limbs[i] = (uint64_t)carry;
        carry >>= 64;
    }
}

static inline void pm_wide_add_128(struct pm_wide *sum, pm_uint128 value)
{
    const struct pm_wide added = {{(uint64_t)value, (uint64_t)(value >> 64), 0}};
    pm_wide_add(sum, &added);
}

/* Rounded to the 64 bits of a long double's significand (x86), never above 2^192. */
static inline long double pm_wide_value(const struct pm_wide *wide)
{
    return ldexpl((long double)wide->limbs[2], 128) + ldexpl((long double)wide->limbs[1], 64) +
           (long double)wide->limbs[0];
}

static inline bool pm_wide_is_zero(const struct pm_wide *wide)
{
    return (wide->limbs[0] | wide->limbs[1] | wide->limbs[2]) == 0;
}

/* a > b */
static inline bool pm_wide_above(const struct pm_wide *a, const struct pm_wide *b)
{
    for (int i = 2; i >= 0; i--) {
        if (a->limbs[i] != b->limbs[i])
            return a->limbs[i] > b->limbs[i];
    }
    return false;
}
