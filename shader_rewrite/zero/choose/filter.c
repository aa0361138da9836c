#include "shader_rewrite/zero/choose/filter.h"

#include <math.h>
#include <stdlib.h>

struct filtering {
    const struct pm_ir_module *module;
    const struct pm_float_permission *permission;
    const struct pm_zero_points *points;
    const double *zero;
    double threshold;
    uint32_t
        *first; /* by id: its first candidate, and from there on all of it; points' count: none */
};

/* Whether an instruction is zero, component by component, where operand `index` is. */
static bool propagates(const struct filtering *f, const struct pm_ir_instr *instr, uint32_t index)
{
    switch (instr->opcode) {
    case SpvOpFMul:
    case SpvOpVectorTimesScalar:
        return index < 2 && pm_float_permits(f->permission, instr);
    case SpvOpIMul:
    case SpvOpBitwiseAnd:
        return index < 2;
    case SpvOpFNegate:
    case SpvOpSNegate:
    case SpvOpFConvert:
    case SpvOpConvertSToF:
    case SpvOpConvertUToF:
    case SpvOpShiftLeftLogical:
    case SpvOpShiftRightLogical:
    case SpvOpShiftRightArithmetic:
        return index == 0;
    default:
        return false;
    }
}

/* The candidate that is a value's leading components; count: none. */
static uint32_t find(const struct filtering *f, uint32_t id, uint32_t components)
{
    uint32_t count = f->points->count;
    if (id >= f->module->bound)
        return count;
    for (uint32_t c = f->first[id]; c < count; c++) {
        const struct pm_zero_candidate *candidate = &f->points->candidates[c];
        if (candidate->value_count != 1 || candidate->values[0] != id)
            break;
        if (candidate->components == components)
            return c;
    }
    return count;
}

static uint32_t components_of(const struct pm_ir_instr *instr)
{
    const struct pm_ir_instr *type = instr ? pm_ir_type_of(instr) : NULL;
    return type && type->opcode == SpvOpTypeVector ? pm_ir_operand_word(&type->operands[1]) : 1;
}

/* The candidate in the same block that candidate i follows from. Of another block the region may
 * end before i does. */
static uint32_t root_of(const struct filtering *f, uint32_t i)
{
    const struct pm_zero_candidate *c = &f->points->candidates[i];
    const struct pm_ir_instr *instr =
        c->value_count == 1 ? pm_ir_find(f->module, c->values[0]) : NULL;
    if (!instr)
        return PM_ZERO_FOLLOWS_NONE;
    for (uint32_t o = 0; o < instr->operand_count; o++) {
        const struct pm_ir_instr *input = pm_ir_operand_instr(instr, o);
        if (!input || !propagates(f, instr, o))
            continue;
        uint32_t width = components_of(input);
        uint32_t from = find(f, input->result->id, width > 1 ? c->components : 1);
        if (from < f->points->count && f->points->candidates[from].block == c->block &&
            f->zero[from] >= f->threshold && f->zero[from] >= f->zero[i])
            return from;
    }
    return PM_ZERO_FOLLOWS_NONE;
}

bool pm_zero_filter(const struct pm_ir_module *module, const struct pm_float_permission *permission,
                    const struct pm_zero_points *points, const double *zero, double threshold,
                    enum pm_zero_filtered *results, uint32_t *follows)
{
    struct filtering f = {.module = module,
                          .permission = permission,
                          .points = points,
                          .zero = zero,
                          .threshold = threshold,
                          .first = malloc((module->bound + 1u) * sizeof(uint32_t))};
    if (!f.first)
        return false;
    for (uint32_t id = 0; id < module->bound; id++)
        f.first[id] = points->count;
    for (uint32_t i = points->count; i-- > 0;) {
        const struct pm_zero_candidate *c = &points->candidates[i];
        if (c->value_count == 1 && c->values[0] < module->bound)
            f.first[c->values[0]] = i;
    }
    for (uint32_t i = 0; i < points->count; i++) {
        follows[i] = PM_ZERO_FOLLOWS_NONE;
        if (isnan(zero[i]))
            results[i] = PM_ZERO_NOT_KNOWN;
        else if (zero[i] < threshold)
            results[i] = PM_ZERO_RARE;
        else
            results[i] = PM_ZERO_KEPT;
        if (results[i] != PM_ZERO_KEPT)
            continue;
        follows[i] = root_of(&f, i);
        if (follows[i] != PM_ZERO_FOLLOWS_NONE)
            results[i] = PM_ZERO_FOLLOWS;
    }
    free(f.first);
    return true;
}
