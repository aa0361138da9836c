#include "examples/scalarize/scalarize_private.h"
#include <spirv/unified1/GLSL.std.450.h>

/* Component by component, with operands that are all of the result's size or scalars. */
static bool is_component_wise(uint16_t opcode)
{
    if ((opcode >= SpvOpConvertFToU && opcode <= SpvOpQuantizeToF16) ||
        (opcode >= SpvOpSNegate && opcode <= SpvOpFMod) ||
        (opcode >= SpvOpIsNan && opcode <= SpvOpUnordered) ||
        (opcode >= SpvOpLogicalEqual && opcode <= SpvOpFUnordGreaterThanEqual) ||
        (opcode >= SpvOpShiftRightLogical && opcode <= SpvOpBitCount) ||
        (opcode >= SpvOpDPdx && opcode <= SpvOpFwidthCoarse))
        return true;
    switch (opcode) {
    case SpvOpVectorTimesScalar:
    case SpvOpMatrixTimesScalar:
    case SpvOpCopyObject:
        return true;
    default:
        return false;
    }
}

static bool is_component_wise_extended(uint32_t instruction)
{
    return (instruction >= GLSLstd450Round && instruction <= GLSLstd450InverseSqrt) ||
           (instruction >= GLSLstd450FMin && instruction <= GLSLstd450FMix) ||
           instruction == GLSLstd450Step || instruction == GLSLstd450SmoothStep ||
           instruction == GLSLstd450Fma ||
           (instruction >= GLSLstd450FindILsb && instruction <= GLSLstd450FindUMsb) ||
           (instruction >= GLSLstd450NMin && instruction <= GLSLstd450NClamp);
}

static struct pm_ir_def *build(struct pm_scalarizer *s, uint16_t opcode, struct pm_ir_def *type,
                               struct pm_ir_def *a, struct pm_ir_def *b)
{
    return pm_ir_build(&s->builder, opcode, type,
                       (const struct pm_ir_arg[]){pm_ir_id(a), pm_ir_id(b)}, b ? 2 : 1);
}

/* An instruction of GLSL.std.450 on scalars. */
static struct pm_ir_def *build_extended(struct pm_scalarizer *s, const struct pm_ir_instr *like,
                                        uint32_t instruction, struct pm_ir_def *type,
                                        struct pm_ir_def *a)
{
    return pm_ir_build(
        &s->builder, SpvOpExtInst, type,
        PM_IR_ARGS(pm_ir_id(like->operands[0].def), pm_ir_word(instruction), pm_ir_id(a)));
}

/* One instruction a part: operands from `first` on are values, those before stay. */
static bool split_components(struct pm_scalarizer *s, const struct pm_ir_instr *instr,
                             uint32_t first, struct pm_parts *out)
{
    enum { MOST = 8 };
    if (out->count == 1 || instr->operand_count > MOST)
        return false;
    for (uint32_t part = 0; part < out->count; part++) {
        struct pm_ir_arg args[MOST];
        for (uint32_t i = 0; i < instr->operand_count; i++) {
            struct pm_ir_def *operand = instr->operands[i].def;
            if (i < first) {
                args[i] = operand ? pm_ir_id(operand)
                                  : pm_ir_word(pm_ir_operand_word(&instr->operands[i]));
                continue;
            }
            const struct pm_parts *parts = pm_parts_of(s, operand);
            if (!parts || (parts->count != 1 && parts->count != out->count))
                return false;
            args[i] = pm_ir_id(parts->at[parts->count == 1 ? 0 : part]);
        }
        const bool scaled =
            instr->opcode == SpvOpVectorTimesScalar || instr->opcode == SpvOpMatrixTimesScalar;
        if (instr->opcode == SpvOpCopyObject)
            out->at[part] = args[0].def;
        else
            out->at[part] = pm_ir_build(&s->builder, scaled ? SpvOpFMul : instr->opcode, out->type,
                                        args, instr->operand_count);
    }
    return true;
}

/* The sum of the products of `count` pairs of parts, in this order or from the last to the first.
 */
enum order { FIRST_TO_LAST, LAST_TO_FIRST };

static struct pm_ir_def *sum_products(struct pm_scalarizer *s, struct pm_ir_def *type,
                                      struct pm_ir_def *const *a, struct pm_ir_def *const *b,
                                      uint32_t count, enum order order)
{
    struct pm_ir_def *sum = NULL;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = order == FIRST_TO_LAST ? i : count - 1 - i;
        struct pm_ir_def *product = build(s, SpvOpFMul, type, a[at], b[at]);
        sum = sum ? build(s, SpvOpFAdd, type, sum, product) : product;
    }
    return sum;
}

static struct pm_ir_def *dot(struct pm_scalarizer *s, struct pm_ir_def *type,
                             struct pm_ir_def *const *a, struct pm_ir_def *const *b, uint32_t count)
{
    return sum_products(s, type, a, b, count, FIRST_TO_LAST);
}

static bool split_dot(struct pm_scalarizer *s, const struct pm_ir_instr *instr,
                      struct pm_parts *out)
{
    const struct pm_parts *a = pm_parts_of(s, instr->operands[0].def);
    const struct pm_parts *b = pm_parts_of(s, instr->operands[1].def);
    if (!a || !b)
        return false;
    out->at[0] = dot(s, out->type, a->at, b->at, a->count);
    return true;
}

/* The product of matrices, where a vector on the left is a row and one on the right a column. */
static bool split_product(struct pm_scalarizer *s, const struct pm_ir_instr *instr,
                          struct pm_parts *out)
{
    const struct pm_parts *a = pm_parts_of(s, instr->operands[0].def);
    const struct pm_parts *b = pm_parts_of(s, instr->operands[1].def);
    if (!a || !b)
        return false;
    const bool row = instr->opcode == SpvOpVectorTimesMatrix;
    const uint32_t rows = row ? 1 : a->rows, inner = a->count / rows;
    for (uint32_t part = 0; part < out->count; part++) {
        struct pm_ir_def *left[4], *right[4];
        for (uint32_t i = 0; i < inner; i++) {
            left[i] = a->at[i * rows + part % rows];
            right[i] = b->at[part / rows * inner + i];
        }
        out->at[part] = sum_products(s, out->type, left, right, inner, LAST_TO_FIRST);
    }
    return true;
}

static bool split_transpose(struct pm_scalarizer *s, const struct pm_ir_instr *instr,
                            struct pm_parts *out)
{
    const struct pm_parts *a = pm_parts_of(s, instr->operands[0].def);
    if (!a)
        return false;
    const uint32_t columns = a->count / a->rows;
    for (uint32_t i = 0; i < a->count; i++)
        out->at[i % a->rows * columns + i / a->rows] = a->at[i];
    return true;
}

static bool split_any_all(struct pm_scalarizer *s, const struct pm_ir_instr *instr,
                          struct pm_parts *out)
{
    const struct pm_parts *a = pm_parts_of(s, instr->operands[0].def);
    if (!a)
        return false;
    const uint16_t opcode = instr->opcode == SpvOpAny ? SpvOpLogicalOr : SpvOpLogicalAnd;
    out->at[0] = a->at[0];
    for (uint32_t i = 1; i < a->count; i++)
        out->at[0] = build(s, opcode, out->type, out->at[0], a->at[i]);
    return true;
}

/* ---- composites: no instructions ---- */

static bool split_shuffle(struct pm_scalarizer *s, const struct pm_ir_instr *instr,
                          struct pm_parts *out)
{
    const struct pm_parts *a = pm_parts_of(s, instr->operands[0].def);
    const struct pm_parts *b = pm_parts_of(s, instr->operands[1].def);
    if (!a || !b)
        return false;
    for (uint32_t i = 0; i < out->count; i++) {
        const uint32_t from = pm_ir_operand_word(&instr->operands[2 + i]);
        if (from == UINT32_MAX)
            out->at[i] = a->at[0]; /* undefined: any */
        else
            out->at[i] = from < a->count ? a->at[from] : b->at[from - a->count];
    }
    return true;
}

static bool split_construct(struct pm_scalarizer *s, const struct pm_ir_instr *instr,
                            struct pm_parts *out)
{
    uint32_t filled = 0;
    for (uint32_t i = 0; i < instr->operand_count; i++) {
        const struct pm_parts *a = pm_parts_of(s, instr->operands[i].def);
        if (!a || filled + a->count > out->count)
            return false;
        for (uint32_t part = 0; part < a->count; part++)
            out->at[filled++] = a->at[part];
    }
    return filled == out->count;
}

/* Where literal indices from operand `first` on lead inside a value. */
static uint32_t place_of(const struct pm_ir_instr *instr, uint32_t first,
                         const struct pm_parts *parts)
{
    const uint32_t index = pm_ir_operand_word(&instr->operands[first]);
    if (parts->count == parts->rows)
        return index;
    return index * parts->rows +
           (first + 1 < instr->operand_count ? pm_ir_operand_word(&instr->operands[first + 1]) : 0);
}

static bool split_extract(struct pm_scalarizer *s, const struct pm_ir_instr *instr,
                          struct pm_parts *out)
{
    uint32_t rows, columns;
    struct pm_ir_def *component, *composite = instr->operands[0].def;
    if (!pm_scalarize_shape(composite->instr->type.def, &rows, &columns, &component))
        return false;
    const struct pm_parts *a = pm_parts_of(s, composite);
    if (!a)
        return false;
    const uint32_t place = place_of(instr, 1, a);
    for (uint32_t i = 0; i < out->count; i++)
        out->at[i] = a->at[place + i];
    return out->at[0] != instr->result;
}

static bool split_insert(struct pm_scalarizer *s, const struct pm_ir_instr *instr,
                         struct pm_parts *out)
{
    const struct pm_parts *part = pm_parts_of(s, instr->operands[0].def);
    const struct pm_parts *a = pm_parts_of(s, instr->operands[1].def);
    if (!part || !a)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        out->at[i] = a->at[i];
    const uint32_t place = place_of(instr, 2, a);
    for (uint32_t i = 0; i < part->count; i++)
        out->at[place + i] = part->at[i];
    return true;
}

/* ---- GLSL.std.450's geometry ---- */

static struct pm_ir_def *length(struct pm_scalarizer *s, const struct pm_ir_instr *instr,
                                struct pm_ir_def *type, struct pm_ir_def *const *a, uint32_t count)
{
    return build_extended(s, instr, GLSLstd450Sqrt, type, dot(s, type, a, a, count));
}

static void split_normalize(struct pm_scalarizer *s, const struct pm_ir_instr *instr,
                            const struct pm_parts *a, struct pm_parts *out)
{
    struct pm_ir_def *size = length(s, instr, out->type, a->at, a->count);
    for (uint32_t i = 0; i < out->count; i++)
        out->at[i] = build(s, SpvOpFDiv, out->type, a->at[i], size);
}

static void split_distance(struct pm_scalarizer *s, const struct pm_ir_instr *instr,
                           const struct pm_parts *a, const struct pm_parts *b, struct pm_parts *out)
{
    struct pm_ir_def *away[4];
    for (uint32_t i = 0; i < a->count; i++)
        away[i] = build(s, SpvOpFSub, out->type, a->at[i], b->at[i]);
    out->at[0] = length(s, instr, out->type, away, a->count);
}

static void split_cross(struct pm_scalarizer *s, const struct pm_parts *a, const struct pm_parts *b,
                        struct pm_parts *out)
{
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t j = (i + 1) % 3, k = (i + 2) % 3;
        out->at[i] =
            build(s, SpvOpFSub, out->type, build(s, SpvOpFMul, out->type, a->at[j], b->at[k]),
                  build(s, SpvOpFMul, out->type, a->at[k], b->at[j]));
    }
}

/* I - 2 (N . I) N */
static void split_reflect(struct pm_scalarizer *s, const struct pm_parts *a,
                          const struct pm_parts *b, struct pm_parts *out)
{
    struct pm_ir_def *product = dot(s, out->type, b->at, a->at, a->count);
    struct pm_ir_def *twice = build(s, SpvOpFAdd, out->type, product, product);
    for (uint32_t i = 0; i < out->count; i++)
        out->at[i] = build(s, SpvOpFSub, out->type, a->at[i],
                           build(s, SpvOpFMul, out->type, twice, b->at[i]));
}

/* k < 0 ? 0 : eta I - (eta (N . I) + sqrt(k)) N, where k = 1 - eta eta (1 - (N . I)^2) */
static void split_refract(struct pm_scalarizer *s, const struct pm_ir_instr *instr,
                          const struct pm_parts *a, const struct pm_parts *b, struct pm_parts *out)
{
    struct pm_ir_def *type = out->type, *eta = instr->operands[4].def;
    struct pm_ir_def *zero = pm_ir_global(s->module, SpvOpConstantNull, type, NULL, 0);
    struct pm_ir_def *one =
        pm_ir_global(s->module, SpvOpConstant, type, PM_IR_ARGS(pm_ir_word(0x3f800000))); /* 1.0f */
    struct pm_ir_def *cosine = dot(s, type, b->at, a->at, a->count);
    struct pm_ir_def *sine =
        build(s, SpvOpFSub, type, one, build(s, SpvOpFMul, type, cosine, cosine));
    struct pm_ir_def *squared = build(s, SpvOpFMul, type, eta, eta);
    struct pm_ir_def *k = build(s, SpvOpFSub, type, one, build(s, SpvOpFMul, type, squared, sine));
    struct pm_ir_def *along = build(s, SpvOpFAdd, type, build(s, SpvOpFMul, type, eta, cosine),
                                    build_extended(s, instr, GLSLstd450Sqrt, type, k));
    struct pm_ir_def *mirrored = build(s, SpvOpFOrdLessThan, pm_ir_type_bool(s->module), k, zero);
    for (uint32_t i = 0; i < out->count; i++) {
        struct pm_ir_def *bent = build(s, SpvOpFSub, type, build(s, SpvOpFMul, type, eta, a->at[i]),
                                       build(s, SpvOpFMul, type, along, b->at[i]));
        out->at[i] = pm_ir_build(&s->builder, SpvOpSelect, type,
                                 PM_IR_ARGS(pm_ir_id(mirrored), pm_ir_id(zero), pm_ir_id(bent)));
    }
}

static bool is_float32(const struct pm_ir_def *type)
{
    return type->instr->opcode == SpvOpTypeFloat &&
           pm_ir_operand_word(&type->instr->operands[0]) == 32;
}

static bool split_extended(struct pm_scalarizer *s, const struct pm_ir_instr *instr,
                           struct pm_parts *out)
{
    const uint32_t instruction = pm_ir_operand_word(&instr->operands[1]);
    if (is_component_wise_extended(instruction))
        return split_components(s, instr, 2, out);
    const bool pair = instruction == GLSLstd450Distance || instruction == GLSLstd450Cross ||
                      instruction == GLSLstd450Reflect || instruction == GLSLstd450Refract;
    if (!pair && instruction != GLSLstd450Length && instruction != GLSLstd450Normalize)
        return false;
    const struct pm_parts *a = pm_parts_of(s, instr->operands[2].def);
    const struct pm_parts *b = pair ? pm_parts_of(s, instr->operands[3].def) : a;
    if (!a || !b || a->count == 1 || !is_float32(out->type))
        return false;
    switch (instruction) {
    case GLSLstd450Length:
        out->at[0] = length(s, instr, out->type, a->at, a->count);
        break;
    case GLSLstd450Normalize:
        split_normalize(s, instr, a, out);
        break;
    case GLSLstd450Distance:
        split_distance(s, instr, a, b, out);
        break;
    case GLSLstd450Cross:
        split_cross(s, a, b, out);
        break;
    case GLSLstd450Reflect:
        split_reflect(s, a, b, out);
        break;
    default:
        split_refract(s, instr, a, b, out);
        break;
    }
    return true;
}

/* Whether the operand has as many components as the result. */
static bool same_shape(const struct pm_ir_instr *instr)
{
    uint32_t rows[2], columns[2];
    struct pm_ir_def *component;
    return pm_scalarize_shape(instr->type.def, &rows[0], &columns[0], &component) &&
           pm_scalarize_shape(instr->operands[0].def->instr->type.def, &rows[1], &columns[1],
                              &component) &&
           rows[0] == rows[1];
}

bool pm_scalarize_instr(struct pm_scalarizer *s, const struct pm_ir_instr *instr,
                        struct pm_parts *out)
{
    if (is_component_wise(instr->opcode) || instr->opcode == SpvOpSelect)
        return split_components(s, instr, 0, out);
    switch (instr->opcode) {
    case SpvOpBitcast:
        return same_shape(instr) && split_components(s, instr, 0, out);
    case SpvOpDot:
        return split_dot(s, instr, out);
    case SpvOpMatrixTimesVector:
    case SpvOpVectorTimesMatrix:
    case SpvOpMatrixTimesMatrix:
        return split_product(s, instr, out);
    case SpvOpTranspose:
        return split_transpose(s, instr, out);
    case SpvOpAny:
    case SpvOpAll:
        return split_any_all(s, instr, out);
    case SpvOpVectorShuffle:
        return split_shuffle(s, instr, out);
    case SpvOpCompositeConstruct:
        return split_construct(s, instr, out);
    case SpvOpCompositeExtract:
        return split_extract(s, instr, out);
    case SpvOpCompositeInsert:
        return split_insert(s, instr, out);
    case SpvOpExtInst:
        return split_extended(s, instr, out);
    default:
        return false;
    }
}
