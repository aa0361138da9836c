/*
 * What the passes that count share (instrument_blocks, instrument_zero): from words to words, the
 * normalization counters at shader entry, early tests, and the place where one lane of a subgroup
 * counts.
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
    uint32_t units; /* 64-bit units of a point; 0: PM_COUNTS. To be set before _ready */
    struct pm_counting counting;
    struct pm_ir_builder builder;
    struct pm_ir_def *entry_lanes; /* active lanes at entry, of which helpers are none; dominates
                                      every block */
};

/* Reads the module. */
bool pm_instrument_begin(struct pm_instrument *instrument, const uint32_t *words, size_t count,
                         const struct pm_instrument_info *info, struct pm_error *error);

/* Checks the info against the number of points there are, and readies the module to count. */
bool pm_instrument_ready(struct pm_instrument *instrument, uint32_t space,
                         struct pm_instrumented *out, struct pm_error *error);

/* Index of an instrumented point's first counter in its slot. */
uint32_t pm_instrument_counter(const struct pm_instrument *instrument, uint32_t point);

/* Counts at the entry block. also: what else is counted there, on the elected lane; NULL: nothing.
 */
void pm_instrument_entry(struct pm_instrument *instrument,
                         void (*also)(struct pm_instrument *instrument,
                                      struct pm_counting_slot slot, struct pm_ir_def *lanes));

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
