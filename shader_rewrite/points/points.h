/*
 * The points of a canonical module: what of a shader can be measured. Basic blocks (points_blocks),
 * and values that may be zero (points_zero; AZP: Stephenson and Rangan, CGO 2021, 3.1). Their
 * numbers are the order here, which every profile of the shader shares.
 *
 * Ownership: outputs are malloc'ed, and freed by the function named beside them.
 * Thread safety: no state; any thread.
 */
#pragma once

#include "shader_rewrite/zero/candidates/candidates.h"

/* ---- points_blocks ---- */

struct pm_block_point {
    uint32_t label;    /* id of the block's OpLabel in the canonical module */
    bool at_most_once; /* not inside a loop: runs once per invocation at most */
};
struct pm_block_points {
    struct pm_block_point *points; /* in the module's block order; point 0 is the entry block */
    uint32_t count;
};
/* The basic blocks of the entry point's function, in a stable order. Canonical words in. Blocks
 * that cannot be reached are not points. */
bool pm_points_blocks(const uint32_t *words, size_t count, struct pm_block_points *out,
                      struct pm_error *error);
void pm_block_points_finish(struct pm_block_points *points);

/* ---- points_zero ---- */

/* The points of a zero profile: candidates, in their order. Canonical words in. */
bool pm_points_zero(const uint32_t *words, size_t count, struct pm_zero_points *out,
                    struct pm_error *error);
