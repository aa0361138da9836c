/*
 * What the passes that count share: from words to words, early tests, and, but for
 * instrument_blocks (block_counts.h), the normalization counters at shader entry and the place
 * where one lane of a subgroup counts.
 *
 * Who counts calls begin, runs its passes, and calls end, whatever failed before. The first pass
 * finds the points; the one that rewrites calls ready, entry, then enter and leave at each place.
 */
#pragma once

#include "shader_rewrite/analysis/pass.h"
#include "shader_rewrite/instrument/instrument_counters.h"

struct pm_instrument {
    const struct pm_instrument_info *info;
    const uint32_t *words; /* of the module that is instrumented; the caller's */
    size_t word_count;
    struct pm_pass_runner passes;
    struct pm_ir_module *module;
    struct pm_ir_function *function; /* of the entry point */
    enum pm_stage stage;
    struct pm_counting counting;
    struct pm_ir_builder builder;
};

/* Reads the module. */
bool pm_instrument_begin(struct pm_instrument *instrument, const uint32_t *words, size_t count,
                         const struct pm_instrument_info *info, struct pm_error *error);

/* Checks the info against the number of points there are, and readies the module to count. */
bool pm_instrument_ready(struct pm_instrument *instrument, uint32_t space,
                         struct pm_instrumented *out, struct pm_error *error);

/* A variable of the function, a 32-bit number that is 0 at its entry. */
struct pm_ir_def *pm_instrument_variable(const struct pm_instrument *instrument);

/* Index of an instrumented point's first counter in its slot; of constants. */
uint32_t pm_instrument_counter(uint32_t point);

/* Counts at the entry block. */
void pm_instrument_entry(struct pm_instrument *instrument);

/* Between enter and leave one lane of each subgroup counts, which is no helper. The builder is at
 * the end of a block that has no terminator yet; `rest` is where it shall lead. */
struct pm_instrument_place {
    struct pm_ir_block *rest, *merge;
    struct pm_counting_slot slot;
    struct pm_ir_def *lanes; /* active ones that are no helpers */
};
struct pm_instrument_place pm_instrument_enter(struct pm_instrument *instrument,
                                               struct pm_ir_block *rest);
void pm_instrument_leave(struct pm_instrument *instrument, const struct pm_instrument_place *place);

/* Emits and validates when ok, and frees. Returns whether there is an output. */
bool pm_instrument_end(struct pm_instrument *instrument, bool ok, struct pm_instrumented *out,
                       struct pm_error *error);
