/*
 * What a step takes of a pass.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/partition/steps.h"

struct pm_step_cost {
    uint64_t alu, texture; /* operations */
    uint64_t held; /* components that live at once inside a construct, beyond those it is given */
};

/* last_use: room for as many as the module has ids, filled with 0 before the first call. */
struct pm_step_cost pm_step_cost_of(const struct pm_steps *steps, uint32_t step,
                                    uint64_t *last_use);
