/*
 * The number that most say, of numbers that somebody may have made up: how many said one, and per
 * bit how many of these had it set. Where more than half said the same number, every bit's majority
 * is that number's, whatever the others said; one who lies moves nothing, as a mean or a maximum
 * would. Sums of these counts are exactly commutative and associative, need no room for every
 * number that was said, and one session weighs as much as any other. Where no number has more than
 * half, it may be one that nobody said: so nothing but a display may go by it.
 *
 * Thread safety: plain values.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define PM_MAJORITY_BITS 20

struct pm_majority {
    uint64_t sessions; /* that said a number */
    uint64_t bits[PM_MAJORITY_BITS];
};

/* Adds one session's; bits above PM_MAJORITY_BITS are not counted. */
static inline void pm_majority_say(struct pm_majority *majority, uint32_t number)
{
    majority->sessions++;
    for (unsigned i = 0; i < PM_MAJORITY_BITS; i++)
        majority->bits[i] += number >> i & 1;
}

static inline void pm_majority_add(struct pm_majority *into, const struct pm_majority *from)
{
    into->sessions += from->sessions;
    for (unsigned i = 0; i < PM_MAJORITY_BITS; i++)
        into->bits[i] += from->bits[i];
}

/* false: nobody said one, or of some bit as many say that it is set as that it is not. */
static inline bool pm_majority_find(const struct pm_majority *majority, uint32_t *number)
{
    *number = 0;
    for (unsigned i = 0; i < PM_MAJORITY_BITS; i++) {
        const uint64_t not_set = majority->sessions - majority->bits[i];
        if (majority->bits[i] == not_set)
            return false;
        *number |= (uint32_t)(majority->bits[i] > not_set) << i;
    }
    return true;
}
