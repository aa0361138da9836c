#include "shader_rewrite/analysis/analysis_exposed.h"

#include <math.h>
#include <spirv/unified1/GLSL.std.450.h>

const struct pm_ir_instr *pm_scalar_type(const struct pm_ir_instr *type)
{
    while (type && (type->opcode == SpvOpTypeVector || type->opcode == SpvOpTypeMatrix))
        type = pm_ir_operand_instr(type, 0);
    if (!type || (type->opcode != SpvOpTypeFloat && type->opcode != SpvOpTypeInt &&
                  type->opcode != SpvOpTypeBool))
        return NULL;
    return type;
}

/* As pm_float_width, of integers too. */
static int number_width(const struct pm_ir_instr *type)
{
    const struct pm_ir_instr *scalar = pm_scalar_type(type);
    if (!scalar || scalar->opcode == SpvOpTypeBool)
        return -1;
    switch (pm_ir_operand_word(&scalar->operands[0])) {
    case 16:
        return 0;
    case 32:
        return 1;
    case 64:
        return 2;
    default:
        return -1;
    }
}

int pm_float_width(const struct pm_ir_instr *type)
{
    const struct pm_ir_instr *scalar = pm_scalar_type(type);
    return scalar && scalar->opcode == SpvOpTypeFloat ? number_width(type) : -1;
}

bool pm_is_move(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpPhi || instr->opcode == SpvOpSelect ||
           pm_ir_opcode_is_core(instr->opcode, PM_IR_OP_COMPOSITE);
}

uint32_t pm_glsl_of(const struct pm_float_permission *p, const struct pm_ir_instr *instr)
{
    if (instr->opcode != SpvOpExtInst || !p->glsl ||
        pm_ir_operand_id(&instr->operands[0]) != p->glsl)
        return 0;
    return pm_ir_operand_word(&instr->operands[1]);
}

bool pm_float_is_arithmetic(const struct pm_float_permission *p, const struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpFNegate:
    case SpvOpFAdd:
    case SpvOpFSub:
    case SpvOpFMul:
    case SpvOpFDiv:
    case SpvOpFRem:
    case SpvOpFMod:
    case SpvOpFConvert:
    case SpvOpQuantizeToF16:
    case SpvOpVectorTimesScalar:
    case SpvOpMatrixTimesScalar:
    case SpvOpVectorTimesMatrix:
    case SpvOpMatrixTimesVector:
    case SpvOpMatrixTimesMatrix:
    case SpvOpOuterProduct:
    case SpvOpDot:
        return true;
    case SpvOpExtInst: {
        uint32_t glsl = pm_glsl_of(p, instr);
        bool packs = glsl >= GLSLstd450PackSnorm4x8 && glsl <= GLSLstd450UnpackDouble2x32;
        return glsl && !packs && pm_float_width(pm_ir_type_of(instr)) >= 0;
    }
    default:
        return false;
    }
}

/* Vulkan: whether SignedZeroInfNanPreserve takes flags from this arithmetic, too. */
static bool is_preserved(const struct pm_ir_instr *instr)
{
    switch (instr->opcode) {
    case SpvOpExtInst:
    case SpvOpFRem:
    case SpvOpFMod:
    case SpvOpQuantizeToF16:
        return false;
    default:
        return true;
    }
}

/* What is said of an instruction: by itself, or of the types of floats in it; of several types no
 * more is sure than what is said of each. */
static struct pm_float_flags flags_of(const struct pm_float_permission *p,
                                      const struct pm_ir_instr *instr)
{
    if (pm_float_has(p, instr->result, PM_FLOAT_FAST_MATH))
        return p->flags[instr->result->id];
    struct pm_float_flags flags = {PM_FLOAT_ALL_FLAGS, 0};
    const int width = number_width(pm_ir_type_of(instr)); /* of a float in disguise, too */
    for (uint32_t o = 0; o <= instr->operand_count; o++) {
        const struct pm_ir_instr *of = o ? pm_ir_operand_instr(instr, o - 1) : NULL;
        const int w = o ? (of ? pm_float_width(pm_ir_type_of(of)) : -1) : width;
        if (w < 0)
            continue;
        flags.allowed &= p->width_flags[w].allowed;
        flags.assumed |= p->width_flags[w].assumed;
        if (p->width_preserves[w] && !is_preserved(instr))
            flags.assumed |= PM_FLOAT_PERMITS;
    }
    return flags;
}

/* What of PM_FLOAT_PERMITS is permitted, by the shader and by the configuration. */
static uint8_t permitted_flags(const struct pm_float_permission *p, const struct pm_ir_instr *instr)
{
    if (!instr->result || number_width(pm_ir_type_of(instr)) < 0 ||
        p->mode == PM_FLOAT_ZERO_NEVER ||
        (pm_float_has(p, instr->result, PM_FLOAT_NO_CONTRACTION) && !pm_is_move(instr)))
        return 0;
    const uint8_t allowed = flags_of(p, instr).allowed;
    if (p->mode == PM_FLOAT_ZERO_ALLOW)
        return allowed & PM_FLOAT_CONTRACTS ? PM_FLOAT_PERMITS : 0;
    return allowed & PM_FLOAT_PERMITS;
}

bool pm_float_permits(const struct pm_float_permission *p, const struct pm_ir_instr *instr)
{
    return pm_float_width(pm_ir_type_of(instr)) >= 0 &&
           permitted_flags(p, instr) == PM_FLOAT_PERMITS;
}

bool pm_float_permits_signs(const struct pm_float_permission *p, const struct pm_ir_instr *instr)
{
    return permitted_flags(p, instr) & PM_FLOAT_NO_SIGNED_ZERO;
}

bool pm_float_may_lose_signs(const struct pm_float_permission *p, const struct pm_ir_instr *instr)
{
    return pm_float_permits_signs(p, instr) ||
           (flags_of(p, instr).assumed & PM_FLOAT_NO_SIGNED_ZERO);
}

bool pm_float_may_transform(const struct pm_float_permission *p, const struct pm_ir_instr *instr)
{
    const bool contracts = pm_float_has(p, instr->result, PM_FLOAT_FAST_MATH) ||
                           !pm_float_has(p, instr->result, PM_FLOAT_NO_CONTRACTION);
    return contracts && (flags_of(p, instr).assumed & PM_FLOAT_TRANSFORMS);
}

bool pm_float_takes_zero(const struct pm_float_permission *p, const struct pm_ir_instr *instr)
{
    return pm_float_permits(p, instr) && !pm_float_has(p, instr->result, PM_FLOAT_EXPOSED);
}

bool pm_float_takes_plus(const struct pm_float_permission *p, const struct pm_ir_instr *instr)
{
    return pm_float_takes_zero(p, instr) ||
           (pm_float_permits_signs(p, instr) &&
            !pm_float_has(p, instr->result, PM_FLOAT_EXPOSED_SIGN | PM_FLOAT_DECIDES));
}

bool pm_float_is_signed(const struct pm_float_permission *p, const struct pm_ir_def *def)
{
    return def->id >= p->id_count || pm_float_has(p, def, PM_FLOAT_EXPOSED_SIGN | PM_FLOAT_SIGNED);
}

bool pm_float_flushes(const struct pm_float_permission *p, const struct pm_ir_instr *instr)
{
    const int width = number_width(pm_ir_type_of(instr));
    return width >= 0 && p->width_flushes[width];
}

bool pm_float_may_be_plus(const struct pm_float_permission *p, const struct pm_ir_def *def)
{
    return def->instr && !pm_float_is_signed(p, def) && pm_float_permits_signs(p, def->instr);
}

/* ---- what the module declares ---- */

static uint8_t flags_of_mask(uint32_t mask)
{
    return (
        uint8_t)((mask & SpvFPFastMathModeNotNaNMask ? PM_FLOAT_NO_NAN : 0) |
                 (mask & SpvFPFastMathModeNotInfMask ? PM_FLOAT_NO_INFINITY : 0) |
                 (mask & SpvFPFastMathModeNSZMask ? PM_FLOAT_NO_SIGNED_ZERO : 0) |
                 (mask & SpvFPFastMathModeAllowContractMask ? PM_FLOAT_CONTRACTS : 0) |
                 (mask & (SpvFPFastMathModeAllowReassocMask | SpvFPFastMathModeAllowTransformMask)
                      ? PM_FLOAT_TRANSFORMS
                      : 0));
}

static struct pm_float_flags read_mask(uint32_t mask)
{
    const uint8_t flags = flags_of_mask(mask);
    return (struct pm_float_flags){flags,
                                   mask & SpvFPFastMathModeFastMask ? PM_FLOAT_ALL_FLAGS : flags};
}

/* A constant's mask, where it is one that says so now. */
static struct pm_float_flags read_constant(const struct pm_ir_instr *constant)
{
    if (constant && constant->opcode == SpvOpConstant)
        return read_mask(pm_ir_operand_word(&constant->operands[0]));
    if (constant && constant->opcode == SpvOpConstantNull)
        return read_mask(0);
    return (struct pm_float_flags){0, PM_FLOAT_ALL_FLAGS};
}

/* Of what is said more than once. */
static void say(struct pm_float_flags *flags, struct pm_float_flags more, bool again)
{
    flags->allowed = again ? flags->allowed & more.allowed : more.allowed;
    flags->assumed = again ? flags->assumed | more.assumed : more.assumed;
}

/* The widths that have a default of their own; where one has, none of the others has flags. */
static void read_defaults(struct pm_float_permission *p)
{
    const struct pm_ir_instr *first = p->module->sections[PM_IR_SECTION_EXECUTION_MODE].first;
    bool any = false, said[3];
    for (const struct pm_ir_instr *i = first; i; i = i->next)
        any |= pm_ir_operand_word(&i->operands[1]) == SpvExecutionModeFPFastMathDefault;
    for (int w = 0; w < 3; w++) {
        said[w] = p->width_preserves[w];
        if (any)
            say(&p->width_flags[w], (struct pm_float_flags){0, 0}, said[w]);
    }
    for (const struct pm_ir_instr *i = first; i; i = i->next) {
        if (pm_ir_operand_word(&i->operands[1]) != SpvExecutionModeFPFastMathDefault ||
            i->operand_count < 4)
            continue;
        const int w = pm_float_width(pm_ir_operand_instr(i, 2));
        if (w < 0)
            continue;
        say(&p->width_flags[w], read_constant(pm_ir_operand_instr(i, 3)), said[w]);
        said[w] = true;
    }
}

/* Vulkan: what SPIR-V says nothing of has all flags, but for what SignedZeroInfNanPreserve takes.
 */
static void read_modes(struct pm_float_permission *p)
{
    static const uint8_t kept = PM_FLOAT_ALL_FLAGS & (uint8_t)~PM_FLOAT_PERMITS;
    for (int w = 0; w < 3; w++)
        p->width_flags[w] = (struct pm_float_flags){PM_FLOAT_ALL_FLAGS, PM_FLOAT_ALL_FLAGS};
    for (const struct pm_ir_instr *i = p->module->sections[PM_IR_SECTION_EXECUTION_MODE].first; i;
         i = i->next) {
        const uint32_t mode = pm_ir_operand_word(&i->operands[1]);
        const bool preserves = mode == SpvExecutionModeSignedZeroInfNanPreserve;
        if ((!preserves && mode != SpvExecutionModeDenormFlushToZero) || i->operand_count < 3)
            continue;
        const uint32_t width = pm_ir_operand_word(&i->operands[2]);
        const int w = width == 16 ? 0 : width == 32 ? 1 : 2;
        if (width != 16 && width != 32 && width != 64)
            continue;
        (preserves ? p->width_preserves : p->width_flushes)[w] = true;
        if (preserves)
            p->width_flags[w] = (struct pm_float_flags){kept, kept};
    }
    read_defaults(p);
}

bool pm_float_keeps_signs(const struct pm_ir_module *module, uint32_t bits)
{
    struct pm_float_permission p = {.module = module};
    read_modes(&p);
    const uint8_t allowed = p.width_flags[bits == 16 ? 0 : bits == 32 ? 1 : 2].allowed;
    return (allowed & PM_FLOAT_PERMITS) != PM_FLOAT_PERMITS;
}

static void decorate(struct pm_float_permission *p, uint32_t id, uint8_t facts,
                     struct pm_float_flags flags)
{
    if (id >= p->id_count)
        return;
    if (facts & PM_FLOAT_FAST_MATH)
        say(&p->flags[id], flags, p->facts[id] & PM_FLOAT_FAST_MATH);
    p->facts[id] |= facts;
}

static void read_decoration(struct pm_float_permission *p, const struct pm_ir_instr *i)
{
    const uint32_t target = pm_ir_operand_id(&i->operands[0]);
    const uint32_t decoration = pm_ir_operand_word(&i->operands[1]);
    if (decoration == SpvDecorationNoContraction)
        decorate(p, target, PM_FLOAT_NO_CONTRACTION, (struct pm_float_flags){0});
    else if (decoration == SpvDecorationFPFastMathMode && i->operand_count > 2)
        decorate(p, target, PM_FLOAT_FAST_MATH, read_mask(pm_ir_operand_word(&i->operands[2])));
}

static void read_decorations(struct pm_float_permission *p)
{
    for (const struct pm_ir_instr *i = p->module->sections[PM_IR_SECTION_ANNOTATION].first; i;
         i = i->next) {
        const uint32_t group = i->operand_count ? pm_ir_operand_id(&i->operands[0]) : p->id_count;
        if (i->opcode == SpvOpDecorate && i->operand_count > 1)
            read_decoration(p, i);
        for (uint32_t o = 1;
             i->opcode == SpvOpGroupDecorate && group < p->id_count && o < i->operand_count; o++)
            decorate(p, pm_ir_operand_id(&i->operands[o]), p->facts[group], p->flags[group]);
    }
}

bool pm_float_permission_compute(struct pm_float_permission *p, const struct pm_ir_module *module,
                                 const struct pm_ir_function *function, enum pm_float_zero mode,
                                 struct pm_arena *arena)
{
    *p = (struct pm_float_permission){.module = module, .mode = mode, .id_count = module->bound};
    p->facts = pm_arena_zalloc(arena, p->id_count, sizeof(*p->facts));
    p->flags = pm_arena_zalloc(arena, p->id_count, sizeof(*p->flags));
    if (!p->facts || !p->flags)
        return false;
    for (const struct pm_ir_instr *i = module->sections[PM_IR_SECTION_IMPORT].first; i; i = i->next)
        if (pm_ir_imports_glsl(i))
            p->glsl = i->result->id;
    read_modes(p);
    read_decorations(p);
    p->ranges = pm_ranges_find(p, function, arena);
    return p->ranges && pm_float_find_exposed(p, function, arena);
}

/* ---- which numbers ---- */

static struct pm_range range_of(const struct pm_float_permission *p, const struct pm_ir_def *def)
{
    return p->ranges && def->id < p->id_count ? p->ranges[def->id] : pm_range_any();
}

bool pm_float_is_finite(const struct pm_float_permission *p, const struct pm_ir_def *def)
{
    const struct pm_range r = range_of(p, def);
    return !r.nan && r.low > -(double)INFINITY && r.high < (double)INFINITY;
}

bool pm_float_is_zero(const struct pm_float_permission *p, const struct pm_ir_def *def)
{
    const struct pm_range r = range_of(p, def);
    return !r.nan && r.low == 0 && r.high == 0;
}

bool pm_float_is_beside_zero(const struct pm_float_permission *p, const struct pm_ir_def *def)
{
    return pm_float_has(p, def, PM_FLOAT_BESIDE_ZERO);
}

enum pm_float_sign pm_float_sign_of(const struct pm_float_permission *p,
                                    const struct pm_ir_def *def)
{
    const struct pm_range r = range_of(p, def);
    if (r.nan)
        return PM_FLOAT_EITHER_SIGN;
    if (r.low >= 0 && !r.minus_zero)
        return PM_FLOAT_PLUS;
    return r.high < 0 ? PM_FLOAT_MINUS : PM_FLOAT_EITHER_SIGN;
}
