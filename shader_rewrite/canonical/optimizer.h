/*
 * SPIRV-Tools' optimizer, which is C++ only, behind a C interface. Each step is a fixed list of
 * passes; whoever changes one, or which points a module has, raises PM_RECIPE_VERSION, and with it
 * every shader key changes.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Of SPIRV-Tools 2025.1 (scripts/khronos.txt). docs/results/README.md says what each version
 * changed. */
#define PM_RECIPE_VERSION 13

#ifdef __cplusplus
extern "C" {
#endif

enum pm_optimizer_step {
    PM_STEP_PREPARE,      /* decoration groups flattened, dead functions removed */
    PM_STEP_MERGE_RETURN, /* functions that return early get one return, so that they can be inlined
                           */
    PM_STEP_INLINE,       /* callees are inlined */
    PM_STEP_SIMPLIFY,     /* SSA, dead code, copies, simplify */
    PM_STEP_SIMPLIFY_KEEPING_COPIES, /* the same, but what is a copy of memory is not read there */
    PM_STEP_SIMPLIFY_WITH_CALLS,     /* likewise, and a private variable that one function uses is
                                      * none of its own: it is kept from one call to the next */
    PM_STEP_MERGE_BLOCKS,            /* blocks are merged */
};

enum pm_optimizer_result {
    PM_OPTIMIZER_DONE,
    PM_OPTIMIZER_GAVE_UP, /* a pass failed; message has its reason. Or the thread was asked to stop
                           * (base/stop.h), between two passes */
    PM_OPTIMIZER_NO_MEMORY,
};

/* Runs one step on count words that the validator accepts. *out is malloc'ed, *out_count words; the
 * caller frees it. No C++ exception leaves. message (message_size bytes, not 0) becomes one line,
 * empty when done. */
enum pm_optimizer_result pm_optimizer_run(enum pm_optimizer_step step, const uint32_t *words,
                                          size_t count, uint32_t **out, size_t *out_count,
                                          char *message, size_t message_size);

/* The same with one pass of spirv-opt's, by its option there ("--loop-unroll"); no part of the
 * recipe of the canonical module. */
enum pm_optimizer_result pm_optimizer_run_flag(const char *flag, const uint32_t *words,
                                               size_t count, uint32_t **out, size_t *out_count,
                                               char *message, size_t message_size);

#ifdef __cplusplus
}
#endif
