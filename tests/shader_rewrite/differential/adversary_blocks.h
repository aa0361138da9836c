/*
 * Block profiles that no honest client sends, and what the passes over blocks make of a shader by
 * them.
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/shader_rewrite.h"

/* Loops that turn equally often with rare uniform blocks in and around them, so that everything is
 * done that may be; and numbers of no meaning. */
enum { ADVERSARY_BLOCK_WAYS = 2 };
extern const char *const adversary_block_ways[ADVERSARY_BLOCK_WAYS];

/* With the points that it is of. The profile's lists are its own. */
struct adversary_block_profile {
    struct pm_block_profile profile;
    struct pm_block_points points;
    struct pm_turn_points turns;
    double *frequency, *uniform, *subgroups; /* by point */
    double *reached;                         /* by point of turns */
};

/* Of a canonical module. A failure to read it ends the test. */
bool adversary_block_profile(uint32_t way, uint64_t seed, const struct pm_words *canonical,
                             struct adversary_block_profile *out, struct pm_error *error);
void adversary_block_profile_finish(struct adversary_block_profile *made);

/* Of a canonical module; passes: 1 << enum pm_block_pass, each. A failure to read it ends the test.
 */
bool adversary_blocks(uint32_t passes, uint32_t way, uint64_t seed,
                      const struct pm_words *canonical, bool vote, const struct pm_target *target,
                      const struct pm_driver *driver, struct pm_optimized_blocks *out,
                      struct pm_error *error);
