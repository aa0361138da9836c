/*
 * Asking which lanes of a fragment shader are helpers (HAZARDS 2): the built-in HelperInvocation
 * says it, until a shader can demote its lanes; then only OpIsHelperInvocationEXT does.
 */
#pragma once

#include "shader_rewrite/ir/ir_builder.h"

struct pm_helper_lanes {
    struct pm_ir_def *boolean;
    struct pm_ir_def *variable; /* HelperInvocation; NULL: ask by instruction */
};

/* Readies a fragment shader's module: the built-in, or what the instruction needs. */
void pm_helper_lanes_init(struct pm_helper_lanes *helpers, struct pm_ir_module *module);

/* Whether the lane is a helper. */
struct pm_ir_def *pm_helper_lanes_build(const struct pm_helper_lanes *helpers,
                                        struct pm_ir_builder *builder);
