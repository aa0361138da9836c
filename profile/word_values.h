/*
 * Which values a 32-bit word of a shader's push constants or uniforms had, and how often: a sketch
 * of a few values, of which the most frequent ones stay. What is reported of it has no value in it
 * (PM_KIND_CONSTANT).
 *
 * Counts are exact while there were no more than PM_VALUES_KEPT different values, and too small
 * where there were more: a value that was forgotten and comes again begins anew.
 *
 * Thread safety: a sketch belongs to one thread at a time; the functions keep no state.
 */
#pragma once

#include "profile/profile.h"

enum { PM_VALUES_KEPT = 8 };

struct pm_value_count {
    uint32_t value;
    uint64_t count;
};

/* Zero-initialized: nothing was seen. */
struct pm_word_values {
    uint64_t loads, zeros;
    uint64_t same; /* the greatest count that any value ever had; never falls, so that what is
                      reported of it in parts adds up to the session's */
    struct pm_value_count kept[PM_VALUES_KEPT]; /* the first `count` of them */
    uint32_t count;
};

/* So many loads had the value. */
void pm_word_values_add(struct pm_word_values *values, uint32_t value, uint64_t loads);

/* So many had values that are not known, none of them 0. */
void pm_word_values_add_others(struct pm_word_values *values, uint64_t loads);

/* The most frequent value; NULL: none is known. */
const struct pm_value_count *pm_word_values_most(const struct pm_word_values *values);

/* Halves all counts, so that what is seen from now on weighs more. */
void pm_word_values_age(struct pm_word_values *values);

/* By how much the counts of a profile grew from one state of a sketch to a later one. */
void pm_word_values_growth(const struct pm_word_values *from, const struct pm_word_values *to,
                           uint64_t counts[static PM_COUNTS]);
