/*
 * Profiles that no honest client sends, and the ways that tests specialize shaders by them.
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/shader_rewrite.h"

enum adversary_profile {
    ADVERSARY_ZERO,
    ADVERSARY_ONE,
    ADVERSARY_RANDOM, /* also exactly 0 and 1 */
    ADVERSARY_ABSURD, /* no probabilities at all */
};

/* A profile, and what is done with it. */
struct adversary_way {
    const char *name;
    enum adversary_profile profile;
    enum pm_float_zero float_zero;
    bool take_all, no_quad;
    bool weights; /* counts of blocks and candidates are given, of the same kind */
    uint32_t most_transforms;
};

enum { ADVERSARY_WAYS = 9 };
extern const struct adversary_way adversary_ways[ADVERSARY_WAYS];

/* What goes beyond AZP: half of the seeds have each. */
struct pm_zero_beyond adversary_beyond(uint64_t seed);

/* Specializes a canonical module. seed: of the random numbers; never: float_zero is never;
 * driver: guards against others' quirks are off, NULL: all are on. Fails as
 * pm_specialize_zero does, or when the points cannot be found. */
bool adversary_specialize(const struct adversary_way *way, uint64_t seed,
                          const struct pm_zero_beyond *beyond, const struct pm_words *canonical,
                          bool never, bool quad, const struct pm_target *target,
                          const struct pm_driver *driver,
                          struct pm_specialized *out, struct pm_error *error);
