#include "shader_rewrite/analysis/analysis_exposed.h"

#include <math.h>
#include <spirv/unified1/GLSL.std.450.h>

/* SPV_KHR_float_controls2 */
enum {
    CAPABILITY_FLOAT_CONTROLS_2 = 6029,
    MODE_FAST_MATH_DEFAULT = 6028,
    FAST_NOT_NAN = 1,
    FAST_NOT_INF = 2,
    FAST_NO_SIGNED_ZERO = 4,
    FAST_CONTRACT = 0x10000,
    FAST_PERMITS = FAST_NOT_NAN | FAST_NOT_INF | FAST_NO_SIGNED_ZERO,
};

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

bool pm_float_permits(const struct pm_float_permission *p, const struct pm_ir_instr *instr)
{
    int width = instr->result ? pm_float_width(pm_ir_type_of(instr)) : -1;
    if (width < 0 || p->mode == PM_FLOAT_ZERO_NEVER ||
        pm_float_has(p, instr->result, PM_FLOAT_NO_CONTRACTION))
        return false;
    if (p->mode == PM_FLOAT_ZERO_ALLOW)
        return !pm_float_has(p, instr->result, PM_FLOAT_FAST_MATH) ||
               pm_float_has(p, instr->result, PM_FLOAT_CONTRACTS);
    if (pm_float_has(p, instr->result, PM_FLOAT_FAST_MATH))
        return pm_float_has(p, instr->result, PM_FLOAT_FAST_MATH_PERMITS);
    return p->width_permits[width];
}

bool pm_float_takes_zero(const struct pm_float_permission *p, const struct pm_ir_instr *instr)
{
    return pm_float_permits(p, instr) && !pm_float_has(p, instr->result, PM_FLOAT_EXPOSED);
}

bool pm_float_is_signed(const struct pm_float_permission *p, const struct pm_ir_def *def)
{
    return def->id >= p->id_count || pm_float_has(p, def, PM_FLOAT_EXPOSED | PM_FLOAT_SIGNED);
}

bool pm_float_flushes(const struct pm_float_permission *p, const struct pm_ir_instr *instr)
{
    const int width = number_width(pm_ir_type_of(instr));
    return width >= 0 && p->width_flushes[width];
}

bool pm_float_may_be_plus(const struct pm_float_permission *p, const struct pm_ir_def *def)
{
    int width = def->instr ? number_width(pm_ir_type_of(def->instr)) : -1;
    if (width < 0 || pm_float_is_signed(p, def) || p->mode == PM_FLOAT_ZERO_NEVER)
        return false;
    if (pm_float_is_arithmetic(p, def->instr))
        return pm_float_permits(p, def->instr);
    return p->mode == PM_FLOAT_ZERO_ALLOW || p->width_permits[width];
}

/* ---- what the module declares ---- */

/* The mask of fast-math bits in a constant; 0 when it is none. */
static uint32_t mask_of(const struct pm_ir_instr *constant)
{
    bool plain = constant && constant->opcode == SpvOpConstant;
    return plain ? pm_ir_operand_word(&constant->operands[0]) : 0;
}

static void read_modes(struct pm_float_permission *p)
{
    bool controls2 = false;
    for (const struct pm_ir_instr *i = p->module->sections[PM_IR_SECTION_CAPABILITY].first; i;
         i = i->next)
        controls2 |= i->opcode == SpvOpCapability &&
                     pm_ir_operand_word(&i->operands[0]) == CAPABILITY_FLOAT_CONTROLS_2;
    /* What float controls 2 leave to their default is known only where a default is declared. */
    for (int w = 0; w < 3; w++)
        p->width_permits[w] = !controls2;
    for (const struct pm_ir_instr *i = p->module->sections[PM_IR_SECTION_EXECUTION_MODE].first; i;
         i = i->next) {
        uint32_t mode = pm_ir_operand_word(&i->operands[1]);
        const bool preserves = mode == SpvExecutionModeSignedZeroInfNanPreserve;
        if ((preserves || mode == SpvExecutionModeDenormFlushToZero) && i->operand_count > 2) {
            uint32_t width = pm_ir_operand_word(&i->operands[2]);
            int w = width == 16 ? 0 : width == 32 ? 1 : 2;
            if (width == 16 || width == 32 || width == 64)
                *(preserves ? &p->width_permits[w] : &p->width_flushes[w]) = !preserves;
        } else if (mode == MODE_FAST_MATH_DEFAULT && i->operand_count > 3) {
            int width = pm_float_width(pm_ir_operand_instr(i, 2));
            if (width >= 0)
                p->width_permits[width] =
                    (mask_of(pm_ir_operand_instr(i, 3)) & FAST_PERMITS) == FAST_PERMITS;
        }
    }
}

bool pm_float_keeps_signs(const struct pm_ir_module *module, uint32_t bits)
{
    struct pm_float_permission p = {.module = module};
    read_modes(&p);
    return !p.width_permits[bits == 16 ? 0 : bits == 32 ? 1 : 2];
}

static void read_decorations(struct pm_float_permission *p)
{
    for (const struct pm_ir_instr *i = p->module->sections[PM_IR_SECTION_ANNOTATION].first; i;
         i = i->next) {
        if (i->opcode != SpvOpDecorate || i->operand_count < 2)
            continue;
        uint32_t target = pm_ir_operand_id(&i->operands[0]);
        uint32_t decoration = pm_ir_operand_word(&i->operands[1]);
        if (target >= p->id_count)
            continue;
        if (decoration == SpvDecorationNoContraction)
            p->facts[target] |= PM_FLOAT_NO_CONTRACTION;
        if (decoration != SpvDecorationFPFastMathMode || i->operand_count < 3)
            continue;
        uint32_t mask = pm_ir_operand_word(&i->operands[2]);
        p->facts[target] |= PM_FLOAT_FAST_MATH;
        if ((mask & FAST_PERMITS) == FAST_PERMITS)
            p->facts[target] |= PM_FLOAT_FAST_MATH_PERMITS;
        if (mask & FAST_CONTRACT)
            p->facts[target] |= PM_FLOAT_CONTRACTS;
    }
}

bool pm_float_permission_compute(struct pm_float_permission *p, const struct pm_ir_module *module,
                                 const struct pm_ir_function *function, enum pm_float_zero mode,
                                 struct pm_arena *arena)
{
    *p = (struct pm_float_permission){.module = module, .mode = mode, .id_count = module->bound};
    p->facts = pm_arena_zalloc(arena, p->id_count, sizeof(*p->facts));
    if (!p->facts)
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
