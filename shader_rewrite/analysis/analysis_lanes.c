#include "shader_rewrite/analysis/analysis_lanes.h"

bool pm_builtin_is_of_subgroup(uint32_t builtin)
{
    return (builtin >= SpvBuiltInSubgroupSize && builtin <= SpvBuiltInSubgroupLocalInvocationId) ||
           (builtin >= SpvBuiltInSubgroupEqMask && builtin <= SpvBuiltInSubgroupLtMask);
}

bool pm_reads_other_lanes(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpFunctionCall ||
           (instr->opcode == SpvOpExtInst && !pm_ir_is_glsl(instr)) ||
           pm_ir_opcode_is(instr->opcode,
                           PM_IR_OP_DERIVATIVE | PM_IR_OP_IMPLICIT_LOD | PM_IR_OP_SUBGROUP);
}

bool *pm_other_lanes_read_behind(const struct pm_ir_function *function, struct pm_arena *arena)
{
    const struct pm_cfg *cfg = pm_cfg(function);
    const struct pm_graph *flow = &cfg->flow;
    bool *after = pm_arena_zalloc(arena, cfg->count, sizeof(bool));
    uint32_t *pending = pm_arena_zalloc(arena, cfg->count, 2 * sizeof(uint32_t));
    if (!after || !pending)
        return NULL;
    uint32_t count = 0;
    for (uint32_t b = 0; b < cfg->count; b++)
        for (const struct pm_ir_instr *i = cfg->blocks[b]->body.first; i; i = i->next)
            if (pm_reads_other_lanes(i)) {
                pending[count++] = b;
                break;
            }
    /* Each block is added once for what it holds and once for what follows it. */
    for (uint32_t at = 0; at < count; at++) {
        uint32_t block = pending[at];
        for (uint32_t p = flow->predecessor_start[block]; p < flow->predecessor_start[block + 1];
             p++)
            if (!after[flow->predecessors[p]]) {
                after[flow->predecessors[p]] = true;
                pending[count++] = flow->predecessors[p];
            }
    }
    return after;
}
