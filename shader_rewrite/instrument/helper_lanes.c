#include "shader_rewrite/instrument/helper_lanes.h"

static bool has_demote(const struct pm_ir_module *module)
{
    for (const struct pm_ir_function *f = module->first_function; f; f = f->next)
        for (const struct pm_ir_block *b = f->first_block; b; b = b->next)
            for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
                if (i->opcode == SpvOpDemoteToHelperInvocation)
                    return true;
    return false;
}

void pm_helper_lanes_init(struct pm_helper_lanes *helpers, struct pm_ir_module *module)
{
    *helpers = (struct pm_helper_lanes){.boolean = pm_ir_type_bool(module)};
    if (has_demote(module)) {
        pm_ir_require_capability(module, SpvCapabilityDemoteToHelperInvocation);
        pm_ir_require_extension(module, "SPV_EXT_demote_to_helper_invocation");
        return;
    }
    struct pm_ir_instr *entry = module->sections[PM_IR_SECTION_ENTRY_POINT].first;
    helpers->variable =
        pm_ir_builtin_input(module, entry, SpvBuiltInHelperInvocation, helpers->boolean);
}

struct pm_ir_def *pm_helper_lanes_build(const struct pm_helper_lanes *helpers,
                                        struct pm_ir_builder *b)
{
    if (helpers->variable)
        return pm_ir_build(b, SpvOpLoad, helpers->boolean, PM_IR_ARGS(pm_ir_id(helpers->variable)));
    return pm_ir_build(b, SpvOpIsHelperInvocationEXT, helpers->boolean, NULL, 0);
}
