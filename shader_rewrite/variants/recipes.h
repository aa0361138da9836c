/*
 * What recipes are made of: for recipes.c, which lists them, and make_variant.c, which runs them.
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/analysis/pass.h"
#include "shader_rewrite/blocks/blocks.h"
#include "shader_rewrite/variants/variants.h"

/* Ends with one that has none of the first three. */
struct pm_recipe_step {
    const struct pm_pass *pass;                      /* of ours; its context points to `argument` */
    const char *flag;                                /* of spirv-opt's */
    uint32_t blocks;                                 /* of blocks.h's, as bits */
    bool (*fits)(const struct pm_ir_module *module); /* else the step is left out; NULL: always */
    uint32_t argument; /* of `blocks`: 1: every body counts as rare, else a profile is needed */
};
