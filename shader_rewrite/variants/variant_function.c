#include "shader_rewrite/variants/variant_function.h"

#include "shader_rewrite/canonical/canonical_passes.h"

struct pm_ir_function *pm_variant_function(const struct pm_ir_module *module)
{
    struct pm_ir_function *function = pm_canonical_function(module);
    return function && function->first_block ? function : NULL;
}
