/*
 * Counting zeros with few atomics, and exactly.
 *
 * A candidate that is written wherever the shader is entered, once, by all lanes that began it
 * together is written as often as the shader is entered: of it only the zeros are counted, and
 * together with the entry, where the last of these candidates is written (entry_counts.h). So the
 * first of them takes nothing more than the entry does: which counters the entry is added to says
 * whether it was zero. All others have one counter of writes that were zero and one of those that
 * were not, so that a write is one number to add.
 *
 * Numbers to add at one place are shared by the lanes that are there, one each: one atomic in the
 * code, again and again where there are more numbers than lanes.
 */
#pragma once

#include "shader_rewrite/instrument/instrument_module.h"

struct pm_zero_counts {
    struct pm_instrument *instrument;
    struct pm_zero_layout *layout; /* the caller's */
    struct pm_ir_def *next;        /* variable: the number that a lane looks at; NULL: none yet */
};

/* Numbers the counters of the info's points, of which some are `entered` as above. Sets the stride
 * of a module whose counting is ready. false: out of memory. */
bool pm_zero_counts_begin(struct pm_zero_counts *counts, struct pm_instrument *instrument,
                          struct pm_zero_layout *layout, const bool *entered);

/* Counts the entry, before an instruction that all lanes come to which began the shader, and what
 * is entered: by point, whether it was zero, the same in all lanes that are no helpers. */
void pm_zero_counts_entry(struct pm_zero_counts *counts, struct pm_ir_instr *at,
                          struct pm_ir_def *const *zero);

/* Counts a write of each of the info's points from `first` on, none of which is entered: where the
 * builder is, at the end of a block without a terminator that is to lead to `rest`. zero: of
 * these. */
void pm_zero_counts_writes(struct pm_zero_counts *counts, uint32_t first, uint32_t count,
                           struct pm_ir_def *const *zero, struct pm_ir_block *rest);
/* So many at once at most. */
enum { PM_ZERO_TOGETHER = 32 };
