/*
 * What derivatives and implicit-LOD reads need where a lane of their quad may have ended (HAZARDS
 * 2): one that was killed or has returned gives its quad nothing by the letter of SPIR-V, yet
 * drivers compute it on in straight code, and games rely on it. What such an instruction is made of
 * must not come under a branch that the original has not, since there a lane that has ended has no
 * value.
 *
 * Time is proportional to the function. Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/analysis.h"

struct pm_quads {
    bool *needed; /* by id, below `bound`: the quad's other lanes may look at it; NULL: all lanes
                     end together */
    uint32_t bound;
    uint32_t first_behind; /* the first block that may be behind an end, in reverse post order */
    bool *ends_in_loop;    /* by loop: lanes end in it */
};

/* Whether the instruction looks at the quad's other lanes, by derivatives or what it calls. */
bool pm_quads_read(const struct pm_ir_instr *instr);

/* With PM_ANALYSIS_DOMINATORS and PM_ANALYSIS_LOOPS required; in the arena. false: out of memory.
 */
bool pm_quads_compute(struct pm_quads *quads, const struct pm_ir_function *function,
                      struct pm_arena *arena);

/* Whether a lane may have ended before others come to this block's end. */
bool pm_quads_ended(const struct pm_quads *quads, const struct pm_ir_function *function,
                    uint32_t block);

/* Whether the instruction reads the quad, or makes what is read of it. */
bool pm_quads_need(const struct pm_quads *quads, const struct pm_ir_instr *instr);
