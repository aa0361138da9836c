#include "shader_rewrite/zero/choose/filter.h"

#include <math.h>

struct filtering {
    struct pm_zero_index index;
    const struct pm_zero_points *points;
    const double *zero;
    double threshold;
};

/* The candidate in the same block that candidate i follows from. Of another block the region may
 * end before i does. */
static uint32_t root_of(const struct filtering *f, uint32_t i)
{
    const struct pm_zero_candidate *c = &f->points->candidates[i];
    const struct pm_ir_instr *instr =
        c->value_count == 1 ? pm_ir_find(f->index.module, c->values[0]) : NULL;
    if (!instr)
        return PM_ZERO_FOLLOWS_NONE;
    for (uint32_t o = 0; o < instr->operand_count; o++) {
        const struct pm_ir_instr *input = pm_ir_operand_instr(instr, o);
        if (!input || !pm_zero_propagates(f->index.permission, instr, o))
            continue;
        uint32_t width = pm_zero_index_width(input);
        uint32_t from =
            pm_zero_index_find(&f->index, input->result->id, width > 1 ? c->components : 1);
        if (from < f->points->count && f->points->candidates[from].block == c->block &&
            f->zero[from] >= f->threshold && f->zero[from] >= f->zero[i])
            return from;
    }
    return PM_ZERO_FOLLOWS_NONE;
}

bool pm_zero_filter(const struct pm_ir_module *module, const struct pm_float_permission *permission,
                    const struct pm_zero_points *points, const double *zero, double threshold,
                    enum pm_zero_filtered *results, uint32_t *follows, struct pm_arena *arena)
{
    struct filtering f = {.points = points, .zero = zero, .threshold = threshold};
    if (!pm_zero_index_init(&f.index, module, permission, points, arena))
        return false;
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
    return true;
}
