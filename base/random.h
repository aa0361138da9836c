/*
 * A small, seedable random generator (xoshiro256**, Blackman and Vigna 2018; seeded by splitmix64).
 * Not for secrets: upload ids and tokens use pm_random_system.
 *
 * Thread safety: a generator belongs to one thread at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_random {
    uint64_t state[4];
};

/* The same seed gives the same sequence on every machine. */
void pm_random_init(struct pm_random *random, uint64_t seed);

uint64_t pm_random_next(struct pm_random *random);

/* Uniform in [0, 1), 53 bits. */
double pm_random_unit(struct pm_random *random);

/* Uniform in [0, bound), without modulo bias; bound > 0. */
uint32_t pm_random_below(struct pm_random *random, uint32_t bound);

/* splitmix64's output function: random numbers by position, so that threads need no state in
 * common.
 */
uint64_t pm_random_mix(uint64_t z);

/* size bytes from getrandom(2). false when the system gives none. */
bool pm_random_system(void *out, size_t size);
