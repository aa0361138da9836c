#include "shader_rewrite/partition/step_cost.h"

#include "shader_rewrite/partition/spilled_value.h"

static uint32_t components(const struct pm_ir_instr *type)
{
    return type && (type->opcode == SpvOpTypeVector || type->opcode == SpvOpTypeMatrix)
               ? pm_ir_operand_word(&type->operands[1])
               : 1;
}

/* As the cards of the paper count: an operation works on 4 components at once, moves are free. */
static void count(const struct pm_ir_instr *instr, struct pm_step_cost *cost)
{
    const uint32_t free_ones = PM_IR_OP_COMPOSITE | PM_IR_OP_IMAGE_QUERY;
    switch (instr->opcode) {
    case SpvOpMatrixTimesVector:
    case SpvOpVectorTimesMatrix:
    case SpvOpMatrixTimesScalar:
        cost->alu += components(pm_ir_type_of(instr));
        return;
    case SpvOpMatrixTimesMatrix:
        cost->alu += (uint64_t)components(pm_ir_type_of(instr)) * 4;
        return;
    case SpvOpPhi:
    case SpvOpUndef:
    case SpvOpBranch:
    case SpvOpSelectionMerge:
    case SpvOpLoopMerge:
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
    case SpvOpRawAccessChainNV:
    case SpvOpCopyObject:
    case SpvOpReturn:
        return;
    default:
        break;
    }
    if (pm_ir_opcode_is(instr->opcode, PM_IR_OP_IMAGE_READ))
        cost->texture++;
    else if (!pm_ir_opcode_is(instr->opcode, free_ones) || instr->opcode == SpvOpTranspose)
        cost->alu++;
}

struct pm_step_cost pm_step_cost_of(const struct pm_steps *steps, uint32_t step, uint64_t *last_use)
{
    struct pm_step_cost cost = {0};
    if (steps->steps[step].kind != PM_STEP_CONSTRUCT) {
        if (steps->steps[step].kind == PM_STEP_INSTR)
            count(steps->steps[step].instr, &cost);
        return cost;
    }
    uint64_t place = 0, live = 0;
    struct pm_step_walk walk = pm_step_walk_begin(steps, step);
    while (pm_step_walk_next(&walk)) {
        count(walk.instr, &cost);
        place++;
        for (uint32_t o = 0; o < walk.instr->operand_count; o++)
            if (walk.instr->operands[o].def &&
                pm_step_of(steps, walk.instr->operands[o].def) == step)
                last_use[walk.instr->operands[o].def->id] = place;
    }
    place = 0;
    walk = pm_step_walk_begin(steps, step);
    while (pm_step_walk_next(&walk)) {
        place++;
        if (walk.instr->result && last_use[walk.instr->result->id] > place)
            live += pm_spilled_words(pm_ir_type_of(walk.instr));
        if (live > cost.held)
            cost.held = live;
        for (uint32_t o = 0; o < walk.instr->operand_count; o++) {
            const struct pm_ir_def *def = walk.instr->operands[o].def;
            if (!def || pm_step_of(steps, def) != step || last_use[def->id] != place ||
                !def->instr->block)
                continue;
            uint32_t words = pm_spilled_words(pm_ir_type_of(def->instr));
            live -= words < live ? words : live;
            last_use[def->id] = 0; /* an operand may be there twice */
        }
    }
    return cost;
}
