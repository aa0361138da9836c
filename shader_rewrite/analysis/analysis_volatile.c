#include "shader_rewrite/analysis/analysis_volatile.h"

static bool decorates(const struct pm_ir_instr *instr)
{
    return (instr->opcode == SpvOpDecorate && instr->operand_count > 1 &&
            pm_ir_operand_word(&instr->operands[1]) == SpvDecorationVolatile) ||
           (instr->opcode == SpvOpMemberDecorate && instr->operand_count > 2 &&
            pm_ir_operand_word(&instr->operands[2]) == SpvDecorationVolatile);
}

bool pm_volatile_is_declared(const struct pm_ir_module *module)
{
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_ANNOTATION].first; i;
         i = i->next)
        if (decorates(i))
            return true;
    return false;
}

enum { ANY_MEMBER = -1, ITSELF = -2 };

/* Whether a definition, or a member of that type, is decorated. */
static bool is_decorated(const struct pm_ir_def *def, int64_t member)
{
    for (const struct pm_ir_operand *use = def->first_use; use; use = use->next_use) {
        const struct pm_ir_instr *user = use->user;
        if (use != &user->operands[0] || !decorates(user))
            continue;
        bool of_member = user->opcode == SpvOpMemberDecorate;
        if (of_member == (member != ITSELF) &&
            (member < 0 || pm_ir_operand_word(&user->operands[1]) == member))
            return true;
    }
    return false;
}

/* Whether a value of the type has a part that is. */
static bool has_volatile(const struct pm_ir_instr *type)
{
    while (type && (type->opcode == SpvOpTypeArray || type->opcode == SpvOpTypeRuntimeArray))
        type = pm_ir_operand_instr(type, 0);
    if (!type || type->opcode != SpvOpTypeStruct)
        return false;
    if (is_decorated(type->result, ANY_MEMBER))
        return true;
    for (uint32_t m = 0; m < type->operand_count; m++)
        if (has_volatile(pm_ir_operand_instr(type, m)))
            return true;
    return false;
}

static const struct pm_ir_instr *pointed_to(const struct pm_ir_instr *pointer)
{
    const struct pm_ir_instr *type = pm_ir_type_of(pointer);
    return type && type->opcode == SpvOpTypePointer ? pm_ir_operand_instr(type, 1) : NULL;
}

/* Whether an access chain, whose indices begin at operand `first`, goes through such a member. */
static bool goes_through(const struct pm_ir_instr *chain, uint32_t first)
{
    const struct pm_ir_instr *base = pm_ir_operand_instr(chain, 0);
    const struct pm_ir_instr *type = base ? pointed_to(base) : NULL;
    for (uint32_t o = first; type && o < chain->operand_count; o++) {
        const struct pm_ir_instr *index = pm_ir_operand_instr(chain, o);
        uint32_t member = 0;
        if (type->opcode == SpvOpTypeStruct) {
            if (index && index->opcode == SpvOpConstant)
                member = pm_ir_operand_word(&index->operands[0]);
            if (is_decorated(type->result, member) || member >= type->operand_count)
                return true;
        }
        type = pm_ir_operand_instr(type, member);
    }
    return !type;
}

/* Bytes may be of any member. */
static bool is_by_bytes_of_volatile(const struct pm_ir_instr *chain)
{
    const struct pm_ir_instr *base = pm_ir_operand_instr(chain, 0);
    const struct pm_ir_instr *type = base ? pointed_to(base) : NULL;
    return !type || has_volatile(type);
}

bool pm_volatile_is(const struct pm_ir_instr *pointer)
{
    if (!pointer || has_volatile(pointed_to(pointer)))
        return true;
    while (pointer) {
        if (pointer->result && is_decorated(pointer->result, ITSELF))
            return true;
        switch (pointer->opcode) {
        case SpvOpVariable:
        case SpvOpConvertUToPtr: /* declared by the type alone */
        case SpvOpBitcast:
            return false;
        case SpvOpAccessChain:
        case SpvOpInBoundsAccessChain:
            if (goes_through(pointer, 1))
                return true;
            break;
        case SpvOpPtrAccessChain:
        case SpvOpInBoundsPtrAccessChain:
            if (goes_through(pointer, 2))
                return true;
            break;
        case SpvOpRawAccessChainNV:
            if (is_by_bytes_of_volatile(pointer))
                return true;
            break;
        case SpvOpLoad: /* an image, or a pointer that was kept in memory */
        case SpvOpCopyObject:
        case SpvOpImageTexelPointer:
        case SpvOpImage:
        case SpvOpSampledImage:
            break;
        default:
            return true;
        }
        pointer = pm_ir_operand_instr(pointer, 0);
    }
    return true;
}
