/*
 * Ways to instrument and cut the shaders of the corpus (corpus_files.h), for who does it to each.
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/shader_rewrite.h"

typedef bool (*corpus_instrument)(const uint32_t *words, size_t count,
                                  const struct pm_instrument_info *info,
                                  struct pm_instrumented *out, struct pm_error *error);

/* A few points, counted in every way that a device may offer. turns: of turns of loops; NULL. */
static inline struct pm_instrument_info corpus_counting(struct pm_target target,
                                                        const struct pm_turn_points *turns)
{
    static const uint32_t points[] = {0, 1, 3, 4};
    return (struct pm_instrument_info){
        .turns = turns,
        .all_candidates = true,
        .points = points,
        .point_count = sizeof points / sizeof *points,
        .slot_count = 8,
        .may_force_early_tests = true,
        .subgroup_quad = true,
        .subgroup_arithmetic = true,
        .sums_outlive_loops = true,
        .count_copies = true,
        .target = target,
    };
}

/* Passes of so many operations. */
static inline struct pm_pass_limits corpus_pass_limits(uint32_t alu)
{
    return (struct pm_pass_limits){.alu = alu,
                                   .texture = PM_NO_LIMIT,
                                   .temporaries = PM_NO_LIMIT,
                                   .varyings = PM_NO_LIMIT,
                                   .constants = PM_NO_LIMIT,
                                   .textures = PM_NO_LIMIT,
                                   .outputs = 4};
}
