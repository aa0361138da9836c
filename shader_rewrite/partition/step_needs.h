/*
 * What steps need of one another, and which of them belong together.
 *
 * In fragment shaders a value of an earlier pass is read where the pixel's was written, which those
 * of helper lanes never were. So what takes derivatives, or loops by a value, belongs together with
 * all that it is computed of.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/partition/own_memory.h"
#include "shader_rewrite/partition/steps.h"

struct pm_step_need {
    uint32_t step, needs;
    bool value; /* false: only that it has run before, as for memory */
};

struct pm_step_input {
    uint32_t step;
    uint32_t variable; /* the id of a global variable that it reads by what every pass computes */
};

struct pm_step_needs {
    bool *own;      /* by id: what uses it elsewhere computes it anew */
    bool *own_step; /* by step: it does nothing but that */
    bool *once;     /* by step: it may not run again, or elsewhere among those that touch memory */
    uint32_t *with; /* by step: another one that it belongs together with; itself: none. A forest */
    struct pm_step_need *needs; /* by step, ascending; malloc'ed */
    size_t need_count, need_capacity;
    struct pm_step_input *inputs; /* by step, ascending; malloc'ed */
    size_t input_count, input_capacity;
};

/* PM_ERROR_UNSUPPORTED with the reason why the shader cannot be cut; PM_ERROR_MEMORY. To be
 * finished in any case. */
bool pm_step_needs_find(const struct pm_steps *steps, bool fragment,
                        const struct pm_own_memory *own_memory, struct pm_arena *arena,
                        struct pm_step_needs *out, struct pm_error *error);

/* The output variable of a fragment shader that an instruction stores to, by access chains; NULL:
 * none. */
const struct pm_ir_instr *pm_stored_output(const struct pm_ir_instr *instr);
void pm_step_needs_finish(struct pm_step_needs *needs);

/* The representative of those that belong together. */
uint32_t pm_step_needs_root(struct pm_step_needs *needs, uint32_t step);
