/*
 * Compute shaders over items, written as assembly: each invocation reads a weight, which is zero in
 * whole groups, and a vector, and writes a few floats. For tests of which bits specialized shaders
 * write; a failure ends the test.
 */
#pragma once

#include "tests/shader_rewrite/differential/differential.h"

enum {
    WEIGHED_RESULTS = 3, /* that an item writes */
    WEIGHED_ITEMS = RANDOM_SHADER_GROUPS * RANDOM_SHADER_LANES,
};

/* In the body %i is the item, %w its weight, %v its vector with %x and %c the first and last of it;
 * %to0 to %to2 are where its results go. Masks for SPV_KHR_float_controls2: %u0, %u4 (zeroes have
 * no signs), %u7 (nor are there NaN or infinities), %contract and %contract4 (and all that is not
 * exact). */
struct pm_words weighed_assemble(const char *capabilities, const char *modes,
                                 const char *decorations, const char *body);

/* Fills the inputs: the weight of each group, and of each item. */
void weighed_fill(struct differential *d, const float weights[RANDOM_SHADER_GROUPS],
                  void (*fill)(uint32_t item, float vector[4]));

struct pm_words weighed_canonical(const struct pm_words *original);

/* Every candidate that is a float (integers: too) said to be always zero, and everything taken. */
struct pm_specialized weighed_specialize(const struct differential *d,
                                         const struct pm_words *canonical,
                                         enum pm_float_zero float_zero, bool integers);

/* Where a result is in struct differential_output. */
static inline uint32_t weighed_place(uint32_t item, uint32_t result)
{
    return RANDOM_SHADER_PLACES + item * WEIGHED_RESULTS + result;
}
