/*
 * Values that hardly ever change: 32-bit words of push constants and of uniform buffers. Which of a
 * shader's words could matter (points_constant), how often they have which value
 * (instrument_constants), and the version of the shader for some of them being known
 * (specialize_constants). Mesa's inlinable uniforms (nir_find_inlinable_uniforms) are the model.
 *
 * Over the canonical module; fragment and compute only.
 * Units: offsets are in bytes, costs in cycles of one subgroup.
 * Ownership: outputs are malloc'ed, and freed by the function named beside them.
 * Thread safety: no state; any thread.
 */
#pragma once

#include "base/config.h" /* enum pm_float_zero */
#include "base/error.h"
#include "shader_rewrite/ir/target.h"
#include "shader_rewrite/ir/words.h"

/* ---- points_constant ---- */

enum pm_constant_source { PM_CONSTANT_PUSH, PM_CONSTANT_UNIFORM };

/* A word. Of a uniform buffer: of the one descriptor of its binding; arrays of descriptors have no
 * points, nor has what another descriptor type or a pointer leads to. */
struct pm_constant_point {
    enum pm_constant_source source;
    uint32_t set, binding; /* PM_CONSTANT_UNIFORM; else 0 */
    uint32_t offset;       /* bytes from where the block begins, a multiple of 4 */
    bool every_path; /* every invocation loads it, whatever path it takes, unless it never ends: a
                        guard at the shader's entry may load it */
    bool is_float;   /* all that use it take it for a float */
};

struct pm_constant_points {
    struct pm_constant_point *points; /* by source, set, binding and offset */
    uint32_t count;
    uint32_t candidates; /* words that the shader loads, before what cannot matter was left out */
};

/* No more points than this has a shader: of more words the first. */
enum { PM_CONSTANT_MOST_POINTS = 1024 };

/* The words of a canonical module that could matter: those of which, or of a vector or matrix that
 * they are in, some value would save as much as specialize_zero asks for, with the most favourable
 * of all that is not in the module (zero/choose/worth.h). A value that could: 0, 1, and what the
 * shader compares the word with. A function of the module alone, as far as a budget of work goes.
 * An empty list is no failure. */
bool pm_points_constant(const uint32_t *words, size_t count, struct pm_constant_points *out,
                        struct pm_error *error);
void pm_constant_points_finish(struct pm_constant_points *points);

/* Whether two points are the same word. */
static inline bool pm_constant_same_word(const struct pm_constant_point *a,
                                         const struct pm_constant_point *b)
{
    return a->source == b->source && a->set == b->set && a->binding == b->binding &&
           a->offset == b->offset;
}
