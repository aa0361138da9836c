/* What instructions compute of their operands alone. */
#include "tests/shader_rewrite/instrument/model_run.h"

#include <string.h>

static float as_float(uint32_t word)
{
    float value;
    memcpy(&value, &word, sizeof value);
    return value;
}

static uint32_t as_word(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

static bool compute_int(uint32_t opcode, uint32_t a, uint32_t b, uint32_t *out)
{
    const int32_t sa = (int32_t)a, sb = (int32_t)b;
    switch (opcode) {
    case SpvOpSNegate:
        *out = 0 - a;
        return true;
    case SpvOpNot:
        *out = ~a;
        return true;
    case SpvOpIAdd:
        *out = a + b;
        return true;
    case SpvOpISub:
        *out = a - b;
        return true;
    case SpvOpIMul:
        *out = a * b;
        return true;
    case SpvOpUDiv:
        *out = b ? a / b : 0;
        return true;
    case SpvOpUMod:
        *out = b ? a % b : 0;
        return true;
    case SpvOpSDiv:
        *out = sb && sb != -1 ? (uint32_t)(sa / sb) : 0 - a;
        return true;
    case SpvOpSRem:
    case SpvOpSMod: {
        int32_t r = sb && sb != -1 ? sa % sb : 0;
        if (opcode == SpvOpSMod && r && (r < 0) != (sb < 0))
            r += sb;
        *out = (uint32_t)r;
        return true;
    }
    case SpvOpShiftLeftLogical:
        *out = a << (b & 31);
        return true;
    case SpvOpShiftRightLogical:
        *out = a >> (b & 31);
        return true;
    case SpvOpShiftRightArithmetic:
        *out = (uint32_t)(sa >> (b & 31));
        return true;
    case SpvOpBitwiseAnd:
        *out = a & b;
        return true;
    case SpvOpBitwiseOr:
        *out = a | b;
        return true;
    case SpvOpBitwiseXor:
        *out = a ^ b;
        return true;
    case SpvOpBitcast:
        *out = a;
        return true;
    case SpvOpIEqual:
    case SpvOpLogicalEqual:
        *out = a == b;
        return true;
    case SpvOpINotEqual:
    case SpvOpLogicalNotEqual:
        *out = a != b;
        return true;
    case SpvOpUGreaterThan:
        *out = a > b;
        return true;
    case SpvOpUGreaterThanEqual:
        *out = a >= b;
        return true;
    case SpvOpULessThan:
        *out = a < b;
        return true;
    case SpvOpULessThanEqual:
        *out = a <= b;
        return true;
    case SpvOpSGreaterThan:
        *out = sa > sb;
        return true;
    case SpvOpSGreaterThanEqual:
        *out = sa >= sb;
        return true;
    case SpvOpSLessThan:
        *out = sa < sb;
        return true;
    case SpvOpSLessThanEqual:
        *out = sa <= sb;
        return true;
    case SpvOpLogicalOr:
        *out = a | b;
        return true;
    case SpvOpLogicalAnd:
        *out = a & b;
        return true;
    case SpvOpLogicalNot:
        *out = !a;
        return true;
    default:
        return false;
    }
}

static bool compute_float(uint32_t opcode, uint32_t wa, uint32_t wb, uint32_t *out)
{
    const float a = as_float(wa), b = as_float(wb);
    switch (opcode) {
    case SpvOpConvertFToU:
        *out = (uint32_t)a;
        return true;
    case SpvOpConvertFToS:
        *out = (uint32_t)(int32_t)a;
        return true;
    case SpvOpConvertUToF:
        *out = as_word((float)wa);
        return true;
    case SpvOpConvertSToF:
        *out = as_word((float)(int32_t)wa);
        return true;
    case SpvOpFNegate:
        *out = as_word(-a);
        return true;
    case SpvOpFAdd:
        *out = as_word(a + b);
        return true;
    case SpvOpFSub:
        *out = as_word(a - b);
        return true;
    case SpvOpFMul:
        *out = as_word(a * b);
        return true;
    case SpvOpFOrdEqual:
        *out = a == b;
        return true;
    case SpvOpFUnordEqual:
        *out = !((a < b) | (a > b));
        return true;
    case SpvOpFOrdNotEqual:
        *out = (a < b) | (a > b);
        return true;
    case SpvOpFUnordNotEqual:
        *out = a != b;
        return true;
    case SpvOpFOrdLessThan:
        *out = a < b;
        return true;
    case SpvOpFUnordLessThan:
        *out = !(a >= b);
        return true;
    case SpvOpFOrdGreaterThan:
        *out = a > b;
        return true;
    case SpvOpFUnordGreaterThan:
        *out = !(a <= b);
        return true;
    case SpvOpFOrdLessThanEqual:
        *out = a <= b;
        return true;
    case SpvOpFUnordLessThanEqual:
        *out = !(a > b);
        return true;
    case SpvOpFOrdGreaterThanEqual:
        *out = a >= b;
        return true;
    case SpvOpFUnordGreaterThanEqual:
        *out = !(a < b);
        return true;
    default:
        return false;
    }
}

/* Only integers are as wide, and only UConvert and atomics are known of them. */
static void check_width(const struct model *m, uint32_t type)
{
    if (m->types[type].is_wide)
        fail_msg("the model does not compute 64-bit numbers");
}

static void compute(struct model *m, uint32_t opcode, uint32_t *result, const uint32_t *o,
                    uint32_t operands)
{
    const uint32_t *a = operands > 2 ? &m->values[m->value_at[o[2]]] : NULL;
    const uint32_t *b = operands > 3 ? &m->values[m->value_at[o[3]]] : NULL;
    if (!a || operands > 4) {
        m->tainted[o[1]] = true;
        model_stand_in(m, opcode, o, operands);
        return;
    }
    check_width(m, o[0]);
    for (uint32_t i = 2; i < operands; i++) {
        check_width(m, m->type_of[o[i]]);
        m->tainted[o[1]] |= m->tainted[o[i]];
    }
    for (uint32_t i = 0; i < m->types[o[0]].words; i++) {
        uint32_t second = b ? b[i] : 0;
        if (!compute_int(opcode, a[i], second, &result[i]) &&
            !compute_float(opcode, a[i], second, &result[i])) {
            m->tainted[o[1]] = true;
            model_stand_in(m, opcode, o, operands);
            return;
        }
    }
}

uint32_t model_part(const struct model *m, uint32_t *type, const uint32_t *path, uint32_t length)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < length; i++) {
        const struct model_type *whole = &m->types[*type];
        const bool structure = whole->opcode == SpvOpTypeStruct;
        for (uint32_t k = 0; structure && k < path[i]; k++)
            at += m->types[whole->members[k]].words;
        *type = structure ? whole->members[path[i]] : whole->element;
        at += structure ? 0 : path[i] * m->types[*type].words;
    }
    return at;
}

static void composite(struct model *m, uint32_t opcode, uint32_t *result, const uint32_t *o,
                      uint32_t operands)
{
    if (opcode == SpvOpCompositeConstruct) {
        for (uint32_t i = 2; i < operands; i++) {
            uint32_t words = m->types[m->type_of[o[i]]].words;
            memcpy(result, &m->values[m->value_at[o[i]]], words * sizeof *result);
            result += words;
            m->tainted[o[1]] |= m->tainted[o[i]];
        }
        return;
    }
    uint32_t type = m->type_of[o[2]], at = model_part(m, &type, o + 3, operands - 3);
    memcpy(result, &m->values[m->value_at[o[2]] + at], m->types[type].words * sizeof *result);
    m->tainted[o[1]] = m->tainted[o[2]];
}

static void shuffle(struct model *m, uint32_t *result, const uint32_t *o, uint32_t operands)
{
    uint32_t first = m->types[m->type_of[o[2]]].words;
    for (uint32_t i = 4; i < operands; i++) {
        if (o[i] == UINT32_MAX)
            continue;
        result[i - 4] =
            m->values[o[i] < first ? m->value_at[o[2]] + o[i] : m->value_at[o[3]] + o[i] - first];
    }
    m->tainted[o[1]] = m->tainted[o[2]] || m->tainted[o[3]];
}

static void select_value(struct model *m, uint32_t *result, const uint32_t *o)
{
    const uint32_t *condition = &m->values[m->value_at[o[2]]];
    bool by_component = m->types[m->type_of[o[2]]].words > 1;
    for (uint32_t i = 0; i < m->types[o[0]].words; i++)
        result[i] = m->values[m->value_at[condition[by_component ? i : 0] ? o[3] : o[4]] + i];
    m->tainted[o[1]] = m->tainted[o[2]] || m->tainted[o[3]] || m->tainted[o[4]];
}

/* OpAll, OpAny. */
static void reduce(struct model *m, uint32_t opcode, uint32_t *result, const uint32_t *o)
{
    const uint32_t *vector = &m->values[m->value_at[o[2]]];
    *result = opcode == SpvOpAll;
    for (uint32_t i = 0; i < m->types[m->type_of[o[2]]].words; i++)
        *result = opcode == SpvOpAll ? *result && vector[i] : *result || vector[i];
    m->tainted[o[1]] = m->tainted[o[2]];
}

static void convert_uint(struct model *m, uint32_t *result, const uint32_t *o)
{
    const struct model_type *from = &m->types[m->type_of[o[2]]], *to = &m->types[o[0]];
    if (from->opcode != SpvOpTypeInt || to->opcode != SpvOpTypeInt)
        fail_msg("the model converts no vectors");
    result[0] = m->values[m->value_at[o[2]]];
    if (to->is_wide)
        result[1] = from->is_wide ? m->values[m->value_at[o[2]] + 1] : 0;
    m->tainted[o[1]] = m->tainted[o[2]];
}

void model_compute(struct model *m, uint32_t opcode, const uint32_t *o, uint32_t operands)
{
    uint32_t *result = &m->values[m->value_at[o[1]]];
    switch (opcode) {
    case SpvOpUndef:
        m->tainted[o[1]] = !m->stand_ins;
        break;
    case SpvOpCopyObject:
        memcpy(result, &m->values[m->value_at[o[2]]], m->types[o[0]].words * sizeof *result);
        m->tainted[o[1]] = m->tainted[o[2]];
        break;
    case SpvOpCompositeConstruct:
    case SpvOpCompositeExtract:
        composite(m, opcode, result, o, operands);
        break;
    case SpvOpVectorShuffle:
        shuffle(m, result, o, operands);
        break;
    case SpvOpSelect:
        select_value(m, result, o);
        break;
    case SpvOpAll:
    case SpvOpAny:
        reduce(m, opcode, result, o);
        break;
    case SpvOpUConvert:
        convert_uint(m, result, o);
        break;
    default:
        compute(m, opcode, result, o, operands);
        break;
    }
}
