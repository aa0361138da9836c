/* What can be told from a value's bits further on: backward from what looks at them. */
#include "shader_rewrite/analysis/analysis_exposed.h"

#include "shader_rewrite/analysis/analysis_casts.h"

#include <spirv/unified1/GLSL.std.450.h>

struct exposing {
    struct pm_float_permission *p;
    uint8_t fact;            /* that is being found */
    struct pm_ir_def **work; /* each id once at most */
    uint32_t count;
};

static void expose(struct exposing *e, struct pm_ir_def *def)
{
    if (!def || def->id >= e->p->id_count || !def->instr || pm_float_has(e->p, def, e->fact))
        return;
    e->p->facts[def->id] |= e->fact;
    e->work[e->count++] = def;
}

/* A value, not what a pointer points to. */
static void expose_operand(struct exposing *e, const struct pm_ir_operand *operand)
{
    const struct pm_ir_instr *from = operand->def ? operand->def->instr : NULL;
    const struct pm_ir_instr *type = from ? pm_ir_type_of(from) : NULL;
    if (type && type->opcode != SpvOpTypePointer)
        expose(e, operand->def);
}

static void expose_operands(struct exposing *e, const struct pm_ir_instr *instr)
{
    for (uint32_t o = 0; o < instr->operand_count; o++)
        expose_operand(e, &instr->operands[o]);
}

/* ---- through variables ---- */

/* The variable that a pointer is into; NULL: memory that is not the shader's own. */
static struct pm_ir_def *variable_of(const struct pm_ir_instr *pointer)
{
    const struct pm_ir_instr *variable = pm_ir_variable_of(pointer);
    return variable ? variable->result : NULL;
}

/* Whether an instruction hands bits on as they are, to whatever looks at its result. */
static bool hands_on(const struct pm_ir_instr *instr)
{
    return pm_is_move(instr) || pm_is_component_cast(instr);
}

/* Whether it points into a variable of the invocation's own, which only its loads look at. */
static bool is_own(const struct pm_ir_instr *pointer)
{
    const struct pm_ir_def *variable = variable_of(pointer);
    uint32_t class = variable ? pm_ir_operand_word(&variable->instr->operands[0])
                              : (uint32_t)SpvStorageClassGeneric;
    return class == SpvStorageClassFunction || class == SpvStorageClassPrivate;
}

/* Everything written to a variable, through any chain of pointers into it. */
static void expose_stores(struct exposing *e, const struct pm_ir_def *pointer)
{
    for (struct pm_ir_operand *use = pointer->first_use; use; use = use->next_use) {
        struct pm_ir_instr *user = use->user;
        if (user->opcode == SpvOpStore && use == &user->operands[0])
            expose(e, user->operands[1].def);
        else if (user->opcode == SpvOpCopyMemory && use == &user->operands[0])
            expose(e, variable_of(pm_ir_operand_instr(user, 1)));
        else if (user->result && use == &user->operands[0] &&
                 (user->opcode == SpvOpAccessChain || user->opcode == SpvOpInBoundsAccessChain ||
                  user->opcode == SpvOpCopyObject))
            expose_stores(e, user->result);
    }
}

/* Loads and variables; false: it is neither. */
static bool expose_memory(struct exposing *e, const struct pm_ir_def *def)
{
    if (def->instr->opcode == SpvOpLoad)
        expose(e, variable_of(pm_ir_operand_instr(def->instr, 0)));
    else if (def->instr->opcode == SpvOpVariable)
        expose_stores(e, def);
    else
        return false;
    return true;
}

/* ---- all of its bits ---- */

/* What reads a float without telling more by its bits than a zero's sign, or a number from another:
 * what stores it, samples with it, compares it or makes an integer of it. */
static bool is_blind(const struct pm_ir_instr *user)
{
    switch (user->opcode) {
    case SpvOpStore:
    case SpvOpFOrdEqual:
    case SpvOpFUnordEqual:
    case SpvOpFOrdNotEqual:
    case SpvOpFUnordNotEqual:
    case SpvOpFOrdLessThan:
    case SpvOpFUnordLessThan:
    case SpvOpFOrdGreaterThan:
    case SpvOpFUnordGreaterThan:
    case SpvOpFOrdLessThanEqual:
    case SpvOpFUnordLessThanEqual:
    case SpvOpFOrdGreaterThanEqual:
    case SpvOpFUnordGreaterThanEqual:
    case SpvOpConvertFToS:
    case SpvOpConvertFToU:
    case SpvOpImageSampleImplicitLod:
    case SpvOpImageSampleExplicitLod:
    case SpvOpImageSampleDrefImplicitLod:
    case SpvOpImageSampleDrefExplicitLod:
    case SpvOpImageSampleProjImplicitLod:
    case SpvOpImageSampleProjExplicitLod:
    case SpvOpImageSampleProjDrefImplicitLod:
    case SpvOpImageSampleProjDrefExplicitLod:
    case SpvOpImageGather:
    case SpvOpImageDrefGather:
    case SpvOpImageQueryLod:
    case SpvOpImageWrite:
        return true;
    default:
        return pm_ir_opcode_is(user->opcode, PM_IR_OP_ANNOTATION) || user->opcode == SpvOpName;
    }
}

/* Whether it asks if a float is a number at all. */
static bool asks_for_number(const struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpIsNan:
    case SpvOpIsInf:
        return true;
    case SpvOpFOrdEqual:
    case SpvOpFOrdLessThanEqual:
    case SpvOpFOrdGreaterThanEqual:
    case SpvOpFUnordNotEqual:
    case SpvOpFUnordLessThan:
    case SpvOpFUnordGreaterThan:
        return instr->operands[0].def == instr->operands[1].def;
    default:
        return false;
    }
}

/* Whether a use tells all of an integer's bits. */
static bool tells_integer(const struct pm_ir_instr *user, uint32_t index)
{
    const struct pm_ir_instr *from = pm_ir_operand_instr(user, index);
    const struct pm_ir_instr *scalar = from ? pm_scalar_type(pm_ir_type_of(from)) : NULL;
    return scalar && scalar->opcode == SpvOpTypeInt && !hands_on(user) &&
           !(user->opcode == SpvOpStore && is_own(pm_ir_operand_instr(user, 0)));
}

/* What a function that is not inlined may look at: what its arguments point to, and what is all
 * functions' own. */
static void expose_called(struct exposing *e, const struct pm_ir_instr *call)
{
    for (uint32_t o = 1; o < call->operand_count; o++)
        expose(e, variable_of(pm_ir_operand_instr(call, o)));
    const struct pm_ir_instr *global = e->p->module->sections[PM_IR_SECTION_GLOBAL].first;
    for (; global; global = global->next)
        if (global->opcode == SpvOpVariable && is_own(global))
            expose(e, global->result);
}

/* Whether it tells its operands' bits, or so much of them as what is being found is about. */
static bool tells(const struct exposing *e, const struct pm_ir_instr *instr)
{
    const bool of_signs = e->fact == PM_FLOAT_EXPOSED_SIGN;
    if (pm_float_is_arithmetic(e->p, instr))
        return of_signs ? !pm_float_permits_signs(e->p, instr) : !pm_float_permits(e->p, instr);
    if (asks_for_number(instr))
        return !of_signs;
    return !is_blind(instr) && !hands_on(instr);
}

static void find_exposed(struct exposing *e, const struct pm_ir_function *function)
{
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next) {
            const bool all = tells(e, i);
            if (i->opcode == SpvOpFunctionCall)
                expose_called(e, i);
            for (uint32_t o = 0; o < i->operand_count; o++)
                if (all || tells_integer(i, o))
                    expose_operand(e, &i->operands[o]);
        }
    while (e->count) {
        const struct pm_ir_def *def = e->work[--e->count];
        if (!expose_memory(e, def) &&
            (hands_on(def->instr) || pm_float_is_arithmetic(e->p, def->instr)))
            expose_operands(e, def->instr);
    }
}

/* ---- the sign of a zero ---- */

enum sight {
    SEES,   /* a zero's sign */
    STORES, /* it, for others */
    PASSES, /* it on, so that it matters if the result's does */
    LOSES,  /* it */
};

/* Memory of the device, or another stage's input. What the shader itself reads there is found by
 * its loads; of shared memory other invocations' are not. */
static bool is_for_others(const struct pm_ir_instr *pointer)
{
    const struct pm_ir_instr *type = pointer ? pm_ir_type_of(pointer) : NULL;
    if (!type || type->opcode != SpvOpTypePointer)
        return false;
    switch (pm_ir_operand_word(&type->operands[0])) {
    case SpvStorageClassStorageBuffer:
    case SpvStorageClassUniform:
    case SpvStorageClassPhysicalStorageBuffer:
    case SpvStorageClassOutput:
        return true;
    default:
        return false;
    }
}

/* Of memory that others read; an image may have a format without signs, where that is known. */
static bool keeps_signs(const struct pm_ir_instr *write)
{
    const struct pm_ir_instr *image = pm_ir_operand_instr(write, 0);
    const struct pm_ir_instr *type = image ? pm_ir_type_of(image) : NULL;
    if (!type || type->opcode != SpvOpTypeImage || type->operand_count < 7)
        return true;
    switch (pm_ir_operand_word(&type->operands[6])) {
    case SpvImageFormatUnknown:
    case SpvImageFormatRgba32f:
    case SpvImageFormatRgba16f:
    case SpvImageFormatRg32f:
    case SpvImageFormatRg16f:
    case SpvImageFormatR32f:
    case SpvImageFormatR16f:
        return true;
    default:
        return false;
    }
}

/* Functions of GLSL.std.450 that are permitted. The rest divides, or asks where the sign points. */
static enum sight glsl_sight(uint32_t glsl)
{
    switch (glsl) {
    case GLSLstd450Exp:
    case GLSLstd450Exp2:
    case GLSLstd450Cos:
    case GLSLstd450Cosh:
    case GLSLstd450Step:
    case GLSLstd450SmoothStep:
    case GLSLstd450Length:
    case GLSLstd450Distance:
        return LOSES;
    case GLSLstd450FAbs: /* the sign, but not the bits of a denormal */
    case GLSLstd450Round:
    case GLSLstd450RoundEven:
    case GLSLstd450Trunc:
    case GLSLstd450FSign:
    case GLSLstd450Floor:
    case GLSLstd450Ceil:
    case GLSLstd450Fract:
    case GLSLstd450Radians:
    case GLSLstd450Degrees:
    case GLSLstd450Sin:
    case GLSLstd450Tan:
    case GLSLstd450Asin:
    case GLSLstd450Atan:
    case GLSLstd450Sinh:
    case GLSLstd450Tanh:
    case GLSLstd450Asinh:
    case GLSLstd450Atanh:
    case GLSLstd450Sqrt:
    case GLSLstd450FMin:
    case GLSLstd450FMax:
    case GLSLstd450NMin:
    case GLSLstd450NMax:
    case GLSLstd450FClamp:
    case GLSLstd450NClamp:
    case GLSLstd450FMix:
    case GLSLstd450Fma:
    case GLSLstd450Cross:
    case GLSLstd450Reflect:
    case GLSLstd450Normalize:
        return PASSES;
    default:
        return SEES;
    }
}

/* A 32-bit float other than a zero or denormal, or a vector of such. */
static bool is_number(const struct pm_ir_instr *constant)
{
    if (!constant)
        return false;
    for (uint32_t o = 0; constant->opcode == SpvOpConstantComposite && o < constant->operand_count;
         o++)
        if (!is_number(pm_ir_operand_instr(constant, o)))
            return false;
    if (constant->opcode == SpvOpConstantComposite)
        return true;
    return constant->opcode == SpvOpConstant && pm_float_width(pm_ir_type_of(constant)) == 1 &&
           (pm_ir_operand_word(&constant->operands[0]) & 0x7f800000) != 0;
}

/* Whether operand `index` is a factor of its own square, which has but one sign. */
static bool is_squared(const struct pm_float_permission *p, const struct pm_ir_instr *instr,
                       uint32_t index)
{
    const bool fused = pm_glsl_of(p, instr) == GLSLstd450Fma;
    const uint32_t first = fused ? 2 : 0;
    return (fused || instr->opcode == SpvOpFMul || instr->opcode == SpvOpDot) &&
           (index == first || index == first + 1) &&
           instr->operands[first].def == instr->operands[first + 1].def;
}

/* What arithmetic that permits that zeroes have no signs does with operand `index`. A sum with a
 * number has no zero's sign. A product with a zero that is known is +0, but S computes others,
 * where a zero's sign is not what it was: (c + 0) * x without the sum, or select(b, 0, y) * x. */
static enum sight arithmetic_sight(const struct pm_float_permission *p,
                                   const struct pm_ir_instr *instr, uint32_t index)
{
    if (is_squared(p, instr, index))
        return LOSES;
    switch (instr->opcode) {
    case SpvOpFDiv:
        return index == 0 ? PASSES : SEES;
    case SpvOpFAdd:
    case SpvOpFSub:
        return is_number(pm_ir_operand_instr(instr, 1 - index)) ? LOSES : PASSES;
    case SpvOpFMul:
    case SpvOpVectorTimesScalar:
    case SpvOpMatrixTimesScalar:
    case SpvOpFNegate:
    case SpvOpFConvert:
    case SpvOpQuantizeToF16:
    case SpvOpVectorTimesMatrix:
    case SpvOpMatrixTimesVector:
    case SpvOpMatrixTimesMatrix:
    case SpvOpOuterProduct:
    case SpvOpDot:
        return PASSES;
    case SpvOpExtInst: {
        const uint32_t glsl = pm_glsl_of(p, instr);
        const struct pm_ir_instr *type = pm_ir_type_of(pm_ir_operand_instr(instr, index));
        /* Of one component a length is what FAbs is. */
        const bool is_absolute = (glsl == GLSLstd450Length || glsl == GLSLstd450Distance) && type &&
                                 type->opcode == SpvOpTypeFloat;
        return glsl_sight(is_absolute ? GLSLstd450FAbs : glsl);
    }
    default:
        return SEES;
    }
}

static enum sight sight_of(const struct pm_float_permission *p, const struct pm_ir_instr *instr,
                           uint32_t index)
{
    if (hands_on(instr))
        return PASSES;
    if (tells_integer(instr, index))
        return SEES;
    if (pm_float_is_arithmetic(p, instr))
        return pm_float_permits_signs(p, instr) ? arithmetic_sight(p, instr, index) : SEES;
    if (instr->opcode == SpvOpStore) {
        const struct pm_ir_instr *to = pm_ir_operand_instr(instr, 0);
        return is_own(to) ? LOSES : is_for_others(to) ? STORES : SEES;
    }
    if (instr->opcode == SpvOpImageWrite)
        return index == 2 && keeps_signs(instr) ? STORES : LOSES;
    return is_blind(instr) || asks_for_number(instr) ? LOSES : SEES;
}

static void expose_seen(struct exposing *e, const struct pm_ir_instr *instr, enum sight sight)
{
    for (uint32_t o = 0; o < instr->operand_count; o++)
        if (instr->operands[o].def && sight_of(e->p, instr, o) == sight)
            expose_operand(e, &instr->operands[o]);
}

static void find_signed(struct exposing *e, const struct pm_ir_function *function)
{
    const bool stores = e->fact == PM_FLOAT_SIGNED;
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next) {
            const struct pm_ir_instr *to =
                i->opcode == SpvOpCopyMemory ? pm_ir_operand_instr(i, 0) : NULL;
            expose_seen(e, i, SEES);
            if (stores)
                expose_seen(e, i, STORES);
            if (i->opcode == SpvOpFunctionCall)
                expose_called(e, i);
            if (to && !is_own(to) && (stores || !is_for_others(to)))
                expose(e, variable_of(pm_ir_operand_instr(i, 1)));
        }
    while (e->count) {
        const struct pm_ir_def *def = e->work[--e->count];
        if (!expose_memory(e, def))
            expose_seen(e, def->instr, PASSES);
    }
}

/* ---- what is left out ---- */

static bool is_zero_constant(const struct pm_ir_instr *constant)
{
    if (constant->opcode != SpvOpConstantComposite)
        return constant->opcode != SpvOpConstant ||
               (pm_ir_operand_word(&constant->operands[0]) & 0x7fffffff) == 0;
    for (uint32_t o = 0; o < constant->operand_count; o++)
        if (is_zero_constant(constant->operands[o].def->instr))
            return true;
    return false;
}

/* Whether a compiler may know that a component is zero. */
static bool may_be_known_zero(const struct pm_float_permission *p, const struct pm_ir_def *def,
                              int deep)
{
    enum { DEEPEST = 8 };
    if (!def || !def->instr || deep > DEEPEST)
        return true;
    const struct pm_ir_instr *instr = def->instr;
    if (pm_ir_opcode_is(instr->opcode, PM_IR_OP_CONSTANT))
        return is_zero_constant(instr);
    if (pm_float_is_zero(p, def))
        return true;
    const bool parts = pm_ir_opcode_is_core(instr->opcode, PM_IR_OP_COMPOSITE) ||
                       instr->opcode == SpvOpFMul || instr->opcode == SpvOpVectorTimesScalar ||
                       pm_is_component_cast(instr);
    for (uint32_t o = 0; parts && o < instr->operand_count; o++)
        if (instr->operands[o].def && may_be_known_zero(p, instr->operands[o].def, deep + 1))
            return true;
    return false;
}

/* Of a sum whose zero has a sign that matters, with one that a compiler may leave out. */
static void expose_beside(struct exposing *e, const struct pm_ir_instr *instr)
{
    const bool fused = pm_glsl_of(e->p, instr) == GLSLstd450Fma;
    const bool sum = instr->opcode == SpvOpFAdd || instr->opcode == SpvOpFSub;
    if ((!fused && !sum) || !pm_float_is_signed(e->p, instr->result))
        return;
    if (fused && may_be_known_zero(e->p, instr->operands[4].def, 0)) {
        expose_operand(e, &instr->operands[2]);
        expose_operand(e, &instr->operands[3]);
    }
    for (uint32_t o = 0; sum && o < 2; o++)
        if (may_be_known_zero(e->p, instr->operands[1 - o].def, 0))
            expose_operand(e, &instr->operands[o]);
}

static void find_beside(struct exposing *e, const struct pm_ir_function *function)
{
    e->fact = PM_FLOAT_BESIDE_ZERO;
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
            expose_beside(e, i);
    while (e->count) {
        const struct pm_ir_def *def = e->work[--e->count];
        if (!expose_memory(e, def) && hands_on(def->instr))
            expose_operands(e, def->instr);
    }
}

bool pm_float_find_exposed(struct pm_float_permission *p, const struct pm_ir_function *function,
                           struct pm_arena *arena)
{
    struct exposing e = {.p = p, .fact = PM_FLOAT_EXPOSED};
    e.work = pm_arena_zalloc(arena, p->id_count, sizeof(struct pm_ir_def *));
    if (!e.work)
        return false;
    find_exposed(&e, function);
    e.fact = PM_FLOAT_EXPOSED_SIGN;
    find_exposed(&e, function);
    e.fact = PM_FLOAT_SIGNED;
    find_signed(&e, function);
    e.fact = PM_FLOAT_DECIDES;
    find_signed(&e, function);
    find_beside(&e, function);
    return true;
}
