/*
 * Values made of push constants and constants alone, in a shader that asks for levels of detail
 * made of such. lavapipe 25.0 takes such a level for uniform when it prepares its texture
 * functions; but where what the level is made of also is an OpPhi's operand the two become one
 * register, from then on the level is taken for one that differs between invocations, and the
 * shader calls a function that was never prepared: null (seen). So a region that would make a new
 * OpPhi of such a value is not transformed.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/analysis_memory.h"

struct pm_detail_levels {
    bool asked;    /* a level of detail is made so; else nothing below matters */
    uint8_t *made; /* by id: what it is made of */
    uint32_t id_count;
};

/* Of one function. false: out of memory. */
bool pm_detail_levels_compute(struct pm_detail_levels *levels, const struct pm_memory *memory,
                              const struct pm_ir_module *module,
                              const struct pm_ir_function *function, struct pm_arena *arena);

/* Whether it must not become an OpPhi's operand. Ids that came since are none of them. */
bool pm_detail_levels_has(const struct pm_detail_levels *levels, const struct pm_ir_def *def);
