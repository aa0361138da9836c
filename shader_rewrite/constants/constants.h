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
#include "shader_rewrite/blocks/blocks.h"
#include "shader_rewrite/instrument/instrument.h"
#include "shader_rewrite/ir/target.h"
#include "shader_rewrite/ir/words.h"
#include "shader_rewrite/zero/zero.h"

/* ---- points_constant ---- */

enum pm_constant_source { PM_CONSTANT_PUSH, PM_CONSTANT_UNIFORM };

/* A word. Of a uniform buffer: of the one descriptor of its binding; arrays of more than one have
 * no points, nor has what another descriptor type or a pointer leads to. */
struct pm_constant_point {
    enum pm_constant_source source;
    uint32_t set, binding; /* PM_CONSTANT_UNIFORM; else 0 */
    uint32_t offset;       /* bytes from where the block begins, a multiple of 4 */
    bool every_path; /* every invocation loads it, whatever path it takes, unless it never ends: a
                        guard at the shader's entry may load it */
    bool within;     /* it, or a word behind it in its buffer: the buffer has it */
    bool is_float;   /* all that use it take it for a float */
};

struct pm_constant_points {
    struct pm_constant_point *points; /* by source, set, binding and offset */
    uint32_t count;
    uint32_t candidates; /* words that the shader loads, before what cannot matter was left out */
};

/* No more points than this has a shader: of more words the first. */
enum { PM_CONSTANT_MOST_POINTS = 1024 };

/* The words of a canonical module that could matter: those of which, or of a vector, matrix or 16
 * bytes of a block that they are in, some value would save as much as specialize_zero asks for,
 * with the most favourable of all that is not in the module (zero/choose/worth.h). A value that
 * could: 0, 1, and what the shader compares the word with. A function of the module alone, as far
 * as a budget of work goes; with all set every word that is loaded. An empty list is no failure. */
bool pm_points_constant(const uint32_t *words, size_t count, bool all,
                        struct pm_constant_points *out, struct pm_error *error);
void pm_constant_points_finish(struct pm_constant_points *points);

/* Whether two points are the same word. */
static inline bool pm_constant_same_word(const struct pm_constant_point *a,
                                         const struct pm_constant_point *b)
{
    return a->source == b->source && a->set == b->set && a->binding == b->binding &&
           a->offset == b->offset;
}

/* ---- instrument_constants ---- */

/* What is counted of a word, in 64-bit units from where its point begins (pm_constant_unit). A
 * count is of subgroups that loaded it. Each slot (struct pm_instrumented) has a table of its own.
 */
enum {
    PM_CONSTANT_VALUES = 4,      /* values other than 0 that are told apart: the first ones */
    PM_CONSTANT_COUNT_ZERO = 0,  /* loads of 0 */
    PM_CONSTANT_COUNTS = 1,      /* PM_CONSTANT_VALUES of them: loads of each value */
    PM_CONSTANT_COUNT_OTHER = 5, /* loads of any other value */
    PM_CONSTANT_VALUE = 6,       /* PM_CONSTANT_VALUES of them: the values, in the unit's low word;
                                    0: none yet */
    PM_CONSTANT_UNITS = 10,
};

/* The first unit, in a slot, of the point with this place in the batch. */
static inline uint32_t pm_constant_unit(uint32_t place)
{
    return 2 + PM_CONSTANT_UNITS * place; /* behind the two of the entry */
}

/* Counts what some words of uniform buffers are, where the shader loads them and nowhere else: of a
 * word that every path loads once an invocation, else at each load. As pm_instrument_zero, also in
 * what it needs of the device, but no subgroup vote; of info's fields about points, candidates,
 * quads and copies none is read. points: distinct words of uniform buffers that the shader loads;
 * may be none. */
bool pm_instrument_constants(const uint32_t *words, size_t count,
                             const struct pm_constant_point *points, uint32_t point_count,
                             const struct pm_instrument_info *info, struct pm_instrumented *out,
                             struct pm_error *error);

/* ---- specialize_constants ---- */

struct pm_constant_known {
    struct pm_constant_point point; /* source, set, binding and offset count */
    uint32_t value;
    /* Of a uniform buffer: it may be read whatever path an invocation takes, though the shader
     * loads it on some alone. Vulkan wants descriptors that a pipeline statically uses to be valid
     * (VUID-vkCmdDraw-None-08114), whether they are read or not, but for bindings that are
     * PARTIALLY_BOUND and for descriptor buffers; and that the buffer is as large as the block only
     * where it is read beyond its end and robustBufferAccess is off. */
    bool anywhere;
};

struct pm_specialize_constants_info {
    const struct pm_constant_known *known; /* each word once */
    uint32_t known_count;
    const struct pm_costs *costs;   /* NULL: the defaults */
    enum pm_float_zero float_zero;  /* permission for 0 * x = 0 (HAZARDS 7) */
    struct pm_target target;        /* the output is validated for it */
    const struct pm_driver *driver; /* that will run it; NULL: any, so that every guard is on */
    struct pm_pass_times *times;    /* how long the passes took is added; NULL: not wanted */
    /* What it must save to be worth it, as in specialize_zero: cycles, 0 stands for 25, and a share
     * of what the shader costs, 0 stands for 0.05. */
    double least_saving, least_share;
    bool take_all;      /* the estimate is made but not obeyed. For tests and oracles */
    bool estimate_only; /* nothing is made */
    /* What is left is specialized for zeroes too; NULL: not so. Of the original words, as for
     * pm_specialize_zero: its points are theirs, its profile is by these, and by blocks nothing is
     * known of what is left. costs, float_zero, target, driver and times are taken from above. */
    const struct pm_specialize_zero_info *zero;
    /* And then optimized by how often its blocks run; NULL: not so. Of the original words: points
     * is needed. costs, target and times are taken from above. */
    const struct pm_optimize_blocks_info *blocks;
};

struct pm_specialized_constants {
    struct pm_words words; /* validated for the target; count 0 where it is not worth it */
    /* What the shader costs where the words have these values: the original, and what was made,
     * with its guard and without what zeroes save. */
    double cycles_before, cycles_after;
    uint32_t guarded;                     /* words that the guard compares; 0: there is none */
    uint32_t transforms;                  /* specialize_zero's */
    uint32_t changes;                     /* optimize_blocks' */
    uint32_t changes_by[PM_BLOCK_PASSES]; /* each of its passes */
    char *zero_report; /* specialize_zero's; NULL: it was not asked for, or came to nothing */
};

/* The module for some words being known. Without a guard where all of them are push constants: the
 * caller binds it only where they have these values. Words of uniform buffers are compared at the
 * shader's entry (a uniform branch), and where one has another value the original's code runs; they
 * must be every_path, or known `anywhere`. Where the words have the values it computes the same
 * bits as the original, but for what float_zero permits.
 *
 * Integers, booleans, branches and loops that never turn are folded; of floats only what is exact:
 * comparisons, conversions to integers, x * 1, x + -0, what a zero makes of products, and x / 1 and
 * its like on drivers that compute it so; the rest stays for the device to compute. false:
 * PM_ERROR_INPUT for words that are no SPIR-V, a word that the shader does not load, one that is
 * there twice, or one that cannot be guarded; PM_ERROR_STATE where the output was not valid (a bug
 * of ours). */
bool pm_specialize_constants(const uint32_t *words, size_t count,
                             const struct pm_specialize_constants_info *info,
                             struct pm_specialized_constants *out, struct pm_error *error);
void pm_specialized_constants_finish(struct pm_specialized_constants *specialized);
