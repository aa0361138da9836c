/*
 * What one pass of a partitioned shader is made of, as a module: the pass's steps, what they use,
 * and all that leads from block to block, of the whole shader. Values of other passes are there as
 * OpUndef, but OpPhis of constructs, so that who makes the pass (emit_pass.h) knows their types and
 * where they were, and reads them from memory instead. So no pass costs what the others compute.
 *
 * Ids and constructs are those of the whole. Steps are numbered anew, in the same order.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/partition/schedule/plan.h"
#include "shader_rewrite/partition/shader_graph.h"

struct pm_excerpt {
    struct pm_words words;
    const uint32_t *numbers; /* by the whole's step: its number here; PM_NO_STEP: it is not here.
                                Until the next excerpt is made */
    uint32_t steps;          /* how many are here */
};

struct pm_excerpts;

/* module: that the graph was made of, as it was read, without decoration groups. All must stay. In
 * the module's arena; its instructions' marks are used. NULL: out of memory. */
struct pm_excerpts *pm_excerpts_create(const struct pm_ir_module *module,
                                       const struct pm_shader_graph *graph,
                                       const struct pm_plan *plan);

/* What pass number `pass` is made of. The words are the caller's. false: out of memory. */
bool pm_excerpt_make(struct pm_excerpts *excerpts, uint32_t pass, struct pm_excerpt *out);
