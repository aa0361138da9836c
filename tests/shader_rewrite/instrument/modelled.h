/*
 * Instrumented variants that the model runs, lanes of a subgroup together (lockstep.h), compared
 * with what it finds of the canonical module, one invocation after the other.
 */
#pragma once

#include "tests/shader_rewrite/instrument/exact.h"
#include "tests/shader_rewrite/instrument/model_dispatch.h"

/* A call of a shader. The caller fills in what is before the truth, zeroed. */
struct modelled {
    struct exact_shader shader;
    struct model_dispatch dispatch;
    uint32_t *buffers[MODEL_BUFFERS]; /* by binding; NULL: none */
    size_t words[MODEL_BUFFERS];
    uint32_t output; /* binding of the one that it writes */
    const uint32_t *push;
    size_t push_words;
    const uint32_t *uniform; /* a uniform buffer; NULL: none */
    uint32_t uniform_binding;
    size_t uniform_words;
    bool stand_ins;      /* model_use_stand_ins */
    uint32_t told;       /* that instrument_blocks is told of the subgroup size; 0: not known */
    uint32_t most_lanes; /* likewise, of lanes */
    bool without_arithmetic, sums_outlive_loops;

    struct exact_truth truth;
    uint32_t *expected; /* in the output; malloc'ed */
};

/* Runs the canonical module. The model's counts are then the truth, but for subgroups where lanes
 * do not meet again, and what it wrote is expected; until modelled_forget. */
void modelled_find_truth(struct modelled *call);
void modelled_forget(struct modelled *call);

/* A variant; it must write what is expected, and count what is true. */
void modelled_check(struct modelled *call, const struct exact_variant *variant);

/* All points, by 64-bit atomics, and lanes that follow from others; or by 32-bit ones that carry,
 * and turns. */
void modelled_check_all(struct modelled *call, bool wide);

/* The same where lanes that went different ways do not meet again: lanes are counted exactly all
 * the same. Not between modelled_find_truth and modelled_forget. */
void modelled_check_apart(struct modelled *call, bool wide);

/* What is counted of values that may be zero, all of them: that is what the model finds. Between
 * modelled_find_truth and modelled_forget. */
struct modelled_seen {
    uint64_t points, quads, writes, zero_writes, undecided; /* are added to */
};
void modelled_check_zeros(struct modelled *call, bool wide, bool copies,
                          struct modelled_seen *seen);

/* What is counted of all words of uniform buffers, while the one of the call has each of some
 * contents, of which none is uniform_words shorter: values by subgroups, of no word more than are
 * told apart. Not between these two. */
void modelled_check_words(struct modelled *call, const uint32_t *const *contents, uint32_t count,
                          uint32_t slots, bool wide, struct modelled_seen *seen);
