/*
 * Passes over a module, and what runs them (Mesa's NIR metadata and SPIRV-Tools' pass manager are
 * the models). A pass says which analyses it reads and which still hold when it has changed
 * something. The runner computes the first before it and forgets the others after it, measures its
 * time, and where it checks it finds out passes that lie. Behind each pass products are of matrices
 * of which as much is known as before (analysis_transposes.h).
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/analysis.h"

enum pm_pass_result {
    PM_PASS_FAILED, /* with an error; the module is not to be used any more */
    PM_PASS_UNCHANGED,
    PM_PASS_CHANGED,
};

struct pm_pass {
    const char *name;
    unsigned requires;  /* enum pm_analysis: of every function with a body, before it runs */
    unsigned preserves; /* enum pm_analysis: what holds after it changed something */
    /* context: what the pass's own header says. A module that failed for lack of memory or ids is
     * the runner's to notice. */
    enum pm_pass_result (*run)(struct pm_ir_module *module, void *context, struct pm_error *error);
};

static inline enum pm_pass_result pm_pass_result_of(bool ok, bool changed)
{
    if (!ok)
        return PM_PASS_FAILED;
    return changed ? PM_PASS_CHANGED : PM_PASS_UNCHANGED;
}

/* How long passes took, by name, in the order in which they first ran. */
enum { PM_PASS_TIMES = 32 };
struct pm_pass_time {
    const char *name;
    uint64_t nanoseconds;
    uint32_t runs, changes;
};
struct pm_pass_times {
    struct pm_pass_time rows[PM_PASS_TIMES]; /* what is more is not kept */
    uint32_t count;
};

/* Adds a run to its row. times NULL: nothing. For what is no pass too. */
void pm_pass_times_add(struct pm_pass_times *times, const char *name, uint64_t nanoseconds,
                       bool changed);

/* Whether a build checks passes by itself: those with sanitizers, and those without NDEBUG. */
#if defined(PM_CHECK_PASSES) || !defined(NDEBUG)
enum { PM_PASS_CHECKS = true };
#else
enum { PM_PASS_CHECKS = false };
#endif

struct pm_pass_runner {
    struct pm_ir_module *module;
    struct pm_pass_times *times; /* NULL: not wanted */
    /* After each pass: the module is whole (ir_check.h), a pass that says it changed nothing has
     * not, and what is known of the functions is what is found anew. PM_ERROR_STATE with the pass's
     * name where that is not so. */
    bool checks;
};
struct pm_pass_runner pm_pass_runner_of(struct pm_ir_module *module, struct pm_pass_times *times);

/* Runs one pass. PM_ERROR_MEMORY also where the module failed; PM_ERROR_STOPPED: base/stop.h;
 * PM_ERROR_UNSUPPORTED also where it is not known of what matrix a product is to be. */
enum pm_pass_result pm_pass_run(struct pm_pass_runner *runner, const struct pm_pass *pass,
                                void *context, struct pm_error *error);

/* Likewise, for who goes on alike whether it changed something or not; false: it failed. */
static inline bool pm_pass_apply(struct pm_pass_runner *runner, const struct pm_pass *pass,
                                 void *context, struct pm_error *error)
{
    return pm_pass_run(runner, pass, context, error) != PM_PASS_FAILED;
}
