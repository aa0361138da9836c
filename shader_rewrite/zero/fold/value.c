#include "shader_rewrite/zero/fold/value.h"

#include "shader_rewrite/analysis/analysis_casts.h"
#include "shader_rewrite/analysis/analysis_permission.h"

bool pm_zero_scalar_is_zero(struct pm_zero_scalar s)
{
    return s.kind == PM_ZERO_ANY_SIGN || (s.kind == PM_ZERO_CONSTANT && s.bits == 0);
}

bool pm_zero_value_is_zero(const struct pm_zero_value *value)
{
    for (uint32_t i = 0; i < value->components; i++)
        if (!pm_zero_scalar_is_zero(value->c[i]))
            return false;
    return value->components > 0;
}

static uint32_t components_of(const struct pm_ir_instr *type)
{
    const uint32_t count = pm_ir_components(type);
    return count <= PM_ZERO_ELEMENTS ? count : 1;
}

bool pm_zero_is_plain(const struct pm_ir_instr *type)
{
    if (pm_ir_components(type) > 1)
        return pm_ir_components(type) <= PM_ZERO_ELEMENTS;
    return type && (type->opcode == SpvOpTypeFloat || type->opcode == SpvOpTypeInt ||
                    type->opcode == SpvOpTypeBool);
}

struct pm_zero_value pm_zero_value_all(const struct pm_ir_instr *type, enum pm_zero_kind kind)
{
    struct pm_zero_value value = {.components = components_of(type)};
    for (uint32_t i = 0; i < PM_ZERO_ELEMENTS; i++)
        value.c[i].kind = kind;
    return value;
}

uint32_t pm_zero_width_of(const struct pm_ir_instr *scalar)
{
    if (!scalar || scalar->opcode == SpvOpTypeBool)
        return 1;
    return pm_ir_operand_word(&scalar->operands[0]);
}

struct pm_zero_value pm_zero_value_global(const struct pm_ir_def *def)
{
    const struct pm_ir_instr *instr = def->instr;
    const struct pm_ir_instr *type = instr ? pm_ir_type_of(instr) : NULL;
    struct pm_zero_value value = pm_zero_value_all(type, PM_ZERO_UNKNOWN);
    const struct pm_ir_instr *scalar = pm_scalar_type(type);
    if (!scalar)
        return value;
    if (pm_is_constant_cast(instr))
        return pm_zero_value_global(instr->operands[0].def);
    switch (instr->opcode) {
    case SpvOpConstantNull:
        return pm_zero_value_all(type, PM_ZERO_CONSTANT);
    case SpvOpConstantTrue:
    case SpvOpConstantFalse:
        value.c[0] = pm_zero_constant(instr->opcode == SpvOpConstantTrue);
        return value;
    case SpvOpConstant:
        value.c[0] = pm_zero_constant(pm_ir_operand_literal(&instr->operands[0]) &
                                      pm_zero_mask_of(pm_zero_width_of(scalar)));
        return value;
    case SpvOpConstantComposite:
        break;
    default:
        return value;
    }
    if (pm_zero_is_plain(type)) {
        for (uint32_t i = 0; i < value.components && i < instr->operand_count; i++)
            value.c[i] = pm_zero_value_global(instr->operands[i].def).c[0];
        return value;
    }
    for (uint32_t i = 0; i < instr->operand_count; i++) {
        struct pm_zero_value column = pm_zero_value_global(instr->operands[i].def);
        if (!pm_zero_value_is_zero(&column))
            return value;
    }
    return pm_zero_value_all(type, PM_ZERO_CONSTANT);
}

bool pm_zero_fold_is_zero(struct pm_zero_scalar s, uint32_t width)
{
    return s.kind == PM_ZERO_ANY_SIGN ||
           (s.kind == PM_ZERO_CONSTANT && (s.bits & (pm_zero_mask_of(width) >> 1)) == 0);
}

struct pm_zero_scalar pm_zero_value_meet(struct pm_zero_scalar a, struct pm_zero_scalar b,
                                         const struct pm_ir_instr *type)
{
    static const struct pm_zero_scalar unknown = {PM_ZERO_UNKNOWN, 0};
    static const struct pm_zero_scalar any_sign = {PM_ZERO_ANY_SIGN, 0};
    if (a.kind == PM_ZERO_UNSET)
        return b;
    if (b.kind == PM_ZERO_UNSET || (a.kind == b.kind && a.bits == b.bits))
        return a;
    uint32_t width = pm_zero_width_of(type);
    bool floats = (type && type->opcode == SpvOpTypeFloat) || a.kind == PM_ZERO_ANY_SIGN ||
                  b.kind == PM_ZERO_ANY_SIGN;
    bool zeroes = floats && pm_zero_fold_is_zero(a, width) && pm_zero_fold_is_zero(b, width);
    return zeroes ? any_sign : unknown;
}
