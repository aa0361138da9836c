/*
 * The operations of a shader (schedule/operations.h), from its steps: what belongs together is one
 * operation, what every pass computes for itself is none.
 *
 * Together are: all that touches one variable of the shader's own, unless that lies in memory
 * (own_memory.h), or workgroup memory; all that
 * asks other lanes of the subgroup, since another pass has other subgroups; and whatever lies
 * between such steps; all that writes one output of a fragment shader. Each pass computes for
 * itself pointers, images and samplers, and what is loaded from memory that nobody writes at a
 * place that is known.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/partition/own_memory.h"
#include "shader_rewrite/partition/schedule/limits.h"
#include "shader_rewrite/partition/schedule/operations.h"
#include "shader_rewrite/partition/steps.h"

#define PM_NO_OPERATION UINT32_MAX

struct pm_shader_graph {
    struct pm_steps steps;
    bool *own;              /* by id: what uses it elsewhere computes it anew */
    uint32_t *operation_of; /* by step; PM_NO_OPERATION: it is own alone */
    uint32_t *first;        /* by operation, and one more: its steps in `members` */
    uint32_t *members;      /* steps, of each operation in program order */
    struct pm_operations operations;
    struct pm_own_memory own_memory; /* variables that are not kept together */
    bool fragment;                   /* else it is a compute shader */
    bool *open;                      /* by construct: selections that are cut open (steps.h) */
    uint32_t opened;                 /* how many */
    bool *large_switches; /* by construct: those that no pass has room for, by themselves or with
                             what belongs together with them (switches.h) */
    uint32_t large_switch_count;
};

/* Calls `visit` for each value of other steps that a step uses, by what every pass computes for
 * itself too, and by its guards. Perhaps more than once. */
void pm_shader_graph_each_value(const struct pm_shader_graph *graph, uint32_t step,
                                void (*visit)(void *user, const struct pm_ir_def *value),
                                void *user);

/* Of a canonical module's function, with PM_ANALYSIS_STRUCTURE required. spill_own: variables of
 * its own lie in memory, where they can. A selection that no pass has room for is cut open. In the
 * arena, but `operations`, which the caller finishes in any case. PM_ERROR_UNSUPPORTED with the
 * reason why it cannot be cut, and the large switches, if it is for them; PM_ERROR_MEMORY. */
bool pm_shader_graph_make(struct pm_ir_function *function, bool fragment, bool spill_own,
                          const struct pm_pass_limits *limits, struct pm_arena *arena,
                          struct pm_shader_graph *out, struct pm_error *error);
