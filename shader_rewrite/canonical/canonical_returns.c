/* Returns behind another terminator. canonical_passes.h. */
#include "shader_rewrite/canonical/canonical_passes.h"

static bool replace(const struct pm_ir_function *function, uint16_t from, uint16_t to)
{
    bool changed = false;
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next) {
        struct pm_ir_instr *terminator = pm_ir_terminator(b);
        if (terminator->opcode != from)
            continue;
        terminator->opcode = to;
        changed = true;
    }
    return changed;
}

static bool ends_in(const struct pm_ir_function *function, uint16_t opcode)
{
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        if (pm_ir_terminator(b)->opcode == opcode)
            return true;
    return false;
}

static enum pm_pass_result mask(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)error;
    static const uint16_t candidates[] = {SpvOpTerminateInvocation, SpvOpKill, SpvOpUnreachable};
    const struct pm_ir_function *function = pm_canonical_function(module);
    uint16_t *masked = context;
    *masked = 0;
    for (size_t i = 0; function && i < sizeof(candidates) / sizeof(*candidates) && !*masked; i++)
        if (!ends_in(function, candidates[i]))
            *masked = candidates[i];
    return pm_pass_result_of(true, *masked && replace(function, SpvOpReturn, *masked));
}

static enum pm_pass_result unmask(struct pm_ir_module *module, void *context,
                                  struct pm_error *error)
{
    (void)error;
    const struct pm_ir_function *function = pm_canonical_function(module);
    const uint16_t *masked = context;
    return pm_pass_result_of(true, *masked && function && replace(function, *masked, SpvOpReturn));
}

/* Either ends the function: its graph stays. */
const struct pm_pass pm_pass_mask_returns = {"mask returns", 0, PM_ANALYSIS_ALL, mask};
const struct pm_pass pm_pass_unmask_returns = {"unmask returns", 0, PM_ANALYSIS_ALL, unmask};
