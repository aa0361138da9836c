#include "shader_rewrite/zero/region/silent.h"

#include "shader_rewrite/analysis/analysis_volatile.h"

/* How far back a store's load is looked for. */
enum { STEPS_MOST = 256 };

static bool is_zero_word(const struct pm_ir_instr *constant)
{
    return constant && constant->opcode == SpvOpConstant && !constant->operands[0].words &&
           pm_ir_operand_word(&constant->operands[0]) == 0;
}

/* pointer, scope, semantics, value */
static bool is_silent_atomic(const struct pm_zero_round *round, const struct pm_zero_region *region,
                             const struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpAtomicIAdd:
    case SpvOpAtomicISub:
    case SpvOpAtomicOr:
    case SpvOpAtomicXor:
    case SpvOpAtomicUMax:
        break;
    default:
        return false;
    }
    if (!is_zero_word(pm_ir_operand_instr(instr, 2)) ||
        (round->memory.volatiles && pm_volatile_is(pm_ir_operand_instr(instr, 0))))
        return false;
    const struct pm_ir_def *def = instr->operands[3].def;
    if (!pm_zero_state_of(round, region, def) && !pm_zero_is_candidate(region, def))
        return false;
    struct pm_zero_value value = pm_zero_value_in(round, region, def);
    return value.components == 1 && value.c[0].kind == PM_ZERO_CONSTANT && value.c[0].bits == 0;
}

/* Whether nothing between them, in one block, may have written what the store does. */
static bool is_untouched(const struct pm_zero_round *round, const struct pm_ir_instr *load,
                         const struct pm_ir_instr *store)
{
    struct pm_memory_access own = pm_memory_access_of(&round->memory, store);
    const struct pm_ir_instr *at = store->prev;
    for (int step = 0; at && at != load && step < STEPS_MOST; step++, at = at->prev) {
        struct pm_memory_access access = pm_memory_access_of(&round->memory, at);
        if (access.stops || (access.writes & own.writes))
            return false;
    }
    return at == load;
}

static bool says_no_more_than_alignment(const struct pm_ir_instr *instr, uint32_t index)
{
    return instr->operand_count <= index || (pm_ir_operand_word(&instr->operands[index]) &
                                             ~(uint32_t)SpvMemoryAccessAlignedMask) == 0;
}

static bool is_silent_store(const struct pm_zero_round *round, const struct pm_zero_region *region,
                            const struct pm_ir_instr *store)
{
    struct pm_ir_def *object = store->operands[1].def;
    const struct pm_zero_state *state = pm_zero_state_of(round, region, object);
    const struct pm_ir_def *from = state ? pm_zero_value_name(&state->value, object) : object;
    const struct pm_ir_instr *load = from->instr;
    if (from == object || !load || load->opcode != SpvOpLoad || load->block != store->block ||
        load->operands[0].def != store->operands[0].def || round->memory.coherent)
        return false;
    return says_no_more_than_alignment(store, 2) && says_no_more_than_alignment(load, 1) &&
           !(round->memory.volatiles && pm_volatile_is(pm_ir_operand_instr(store, 0))) &&
           is_untouched(round, load, store);
}

bool pm_zero_is_silent(const struct pm_zero_round *round, const struct pm_zero_region *region,
                       const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpStore ? is_silent_store(round, region, instr)
                                       : is_silent_atomic(round, region, instr);
}

bool pm_zero_has_silent(const struct pm_zero_round *round, const struct pm_zero_region *region)
{
    for (uint32_t p = 0; p < region->count; p++)
        for (uint32_t i = 0; i < region->parts[p].count; i++)
            if (pm_zero_is_silent(round, region, region->parts[p].instrs[i]))
                return true;
    return false;
}
