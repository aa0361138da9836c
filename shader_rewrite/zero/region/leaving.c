#include "shader_rewrite/zero/region/leaving.h"

#include "shader_rewrite/zero/region/guard.h"

bool pm_zero_may_be_phi(const struct pm_zero_round *round, const struct pm_ir_instr *type)
{
    switch (type ? type->opcode : SpvOpNop) {
    case SpvOpTypeBool:
        return true;
    case SpvOpTypeInt:
    case SpvOpTypeFloat:
        return pm_number_types_has(&round->types, type);
    case SpvOpTypeVector:
    case SpvOpTypeMatrix:
    case SpvOpTypeArray:
        return pm_zero_may_be_phi(round, pm_ir_operand_instr(type, 0));
    case SpvOpTypeStruct:
        for (uint32_t o = 0; o < type->operand_count; o++)
            if (!pm_zero_may_be_phi(round, pm_ir_operand_instr(type, o)))
                return false;
        return true;
    default:
        return false;
    }
}

/* What can be made once more behind the region, from operands that may be in an OpPhi or are such
 * themselves, to the same effect: nothing in between can change it. */
static bool can_be_remade(const struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpAccessChain:
    case SpvOpInBoundsAccessChain:
    case SpvOpRawAccessChainNV:
    case SpvOpCopyObject:
    case SpvOpSampledImage:
    case SpvOpImage:
    case SpvOpImageTexelPointer:
    case SpvOpConvertUToPtr:
    case SpvOpUConvert:
    case SpvOpSConvert:
    case SpvOpFConvert:
        return true;
    case SpvOpLoad: {
        const struct pm_ir_instr *pointer = pm_ir_operand_instr(instr, 0);
        const struct pm_ir_instr *type = pointer ? pm_ir_type_of(pointer) : NULL;
        return type && type->opcode == SpvOpTypePointer &&
               pm_ir_operand_word(&type->operands[0]) == SpvStorageClassUniformConstant;
    }
    default:
        return false;
    }
}

static bool let_leave(struct pm_zero_round *round, struct pm_zero_region *region,
                      struct pm_ir_def *def)
{
    struct pm_zero_state *state = pm_zero_state_of(round, region, def);
    if (!state || state->leaves)
        return true;
    state->leaves = true;
    state->behind = NULL;
    if (pm_zero_may_be_phi(round, pm_ir_type_of(def->instr)))
        return true;
    if (!can_be_remade(def->instr))
        return false;
    for (uint32_t o = 0; o < def->instr->operand_count; o++)
        if (def->instr->operands[o].def && !let_leave(round, region, def->instr->operands[o].def))
            return false;
    return true;
}

/* Whether the region has what a quad needs of lanes that may have ended by its end: those do
 * not take the branch to S or R, and there is no value of theirs where it meets. */
static bool parts_ended_quads(const struct pm_zero_round *round,
                              const struct pm_zero_region *region)
{
    bool ended = false;
    for (uint32_t p = 0; p < region->count && !ended; p++)
        ended = pm_quads_ended(&round->quads, round->function, region->parts[p].block);
    for (uint32_t p = 0; p < region->count && ended; p++)
        for (uint32_t i = 0; i < region->parts[p].count; i++)
            if (pm_quads_need(&round->quads, region->parts[p].instrs[i]))
                return true;
    return false;
}

bool pm_zero_can_transform(struct pm_zero_round *round, struct pm_zero_region *region)
{
    if (parts_ended_quads(round, region)) {
        region->reason = "a derivative or texture read needs it of fragments that may have ended";
        return false;
    }
    for (uint32_t p = 0; p < region->count; p++) {
        const struct pm_zero_part *part = &region->parts[p];
        for (uint32_t i = 0; i < part->count; i++) {
            struct pm_ir_def *def = part->instrs[i]->result;
            bool leaves = false;
            for (const struct pm_ir_operand *use = def ? def->first_use : NULL; use && !leaves;
                 use = use->next_use)
                leaves = pm_zero_is_behind(round, region, use->user);
            if (leaves && !let_leave(round, region, def)) {
                region->reason = "what no OpPhi may hold (a pointer, an image) is made in the "
                                 "region and used behind it";
                return false;
            }
        }
    }
    region->reason = pm_zero_guard(round, region);
    return !region->reason;
}
