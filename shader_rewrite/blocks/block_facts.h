/*
 * What the passes of this room share: the profile by block, as it follows the blocks through
 * changes, and the report.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "base/buffer.h"
#include "shader_rewrite/analysis/analysis_costs.h"
#include "shader_rewrite/analysis/analysis_memory.h"
#include "shader_rewrite/analysis/pass.h"
#include "shader_rewrite/blocks/blocks.h"

/* Of one block; NAN: not known. */
struct pm_block_numbers {
    double frequency, low, high, uniform, subgroups;
};

struct pm_blocks {
    const struct pm_optimize_blocks_info *info;
    const struct pm_costs *costs;
    struct pm_ir_module *module;
    struct pm_ir_function *function; /* the entry point's */
    enum pm_stage stage;
    struct pm_arena *arena;
    double cold_share, uniform_share;
    struct pm_block_numbers *numbers; /* by id of the label, below label_bound */
    uint32_t *points;                 /* likewise: the block's point; UINT32_MAX: none */
    double *cycles;                   /* likewise: what running it once costs (block_worth.h) */
    uint32_t *turns; /* likewise, of a loop's header: the loop's first point of turns (points.h),
                        where the profile has them; else UINT32_MAX */
    uint32_t label_bound;
    uint32_t changes;
    double saved[PM_BLOCK_PASSES]; /* cycles of one subgroup, by pass */
    struct pm_buffer report;       /* decisions, each behind a comma but the first */
    bool report_failed;
};

/* Of a block that a pass made nothing is known. */
struct pm_block_numbers pm_blocks_numbers(const struct pm_blocks *blocks,
                                          const struct pm_ir_block *block);

/* Whether the block is rare: entered by fewer subgroups than the cold share of those that `around`,
 * which dominates it, is entered by, or all count as rare. false also where it is not known. */
bool pm_blocks_is_cold(const struct pm_blocks *blocks, const struct pm_ir_block *block,
                       const struct pm_ir_block *around);

/* Whether it is known that the block is entered by whole subgroups (optimize.uniform_share); also
 * of one that never is. */
bool pm_blocks_is_uniform(const struct pm_blocks *blocks, const struct pm_ir_block *block);

/* What a pass, by its name, has decided. done: it was changed, and counts. value: an id; 0: none.
 */
void pm_blocks_decide(struct pm_blocks *blocks, const char *pass, const struct pm_ir_block *block,
                      uint32_t value, bool done, const char *what, const char *reason);

/* ---- the passes, one a file; their context is a struct pm_blocks ---- */

extern const struct pm_pass pm_pass_optimize_flatten;
extern const struct pm_pass pm_pass_optimize_sink;
extern const struct pm_pass pm_pass_optimize_version;
extern const struct pm_pass pm_pass_optimize_unroll;
extern const struct pm_pass pm_pass_optimize_peel;
extern const struct pm_pass pm_pass_optimize_layout;
