/*
 * Of the blocks that are counted, and of all others, the counted one that the same lanes entered
 * before (analysis_together.h), so that its ballot tells which they are.
 */
#pragma once

#include "shader_rewrite/instrument/instrument_module.h"

/* In place of one of the info's points. */
#define PM_COMPANY_NONE UINT32_MAX
#define PM_COMPANY_ENTRY (UINT32_MAX - 1) /* the lanes that began the shader */

struct pm_block_company {
    uint32_t *of_point; /* by point of the info: an earlier one */
    uint32_t *of_block; /* by block: a point, which may be its own */
    /* By point: an earlier one that is entered whenever it is, so that both are counted there, or
     * the entry. PM_COMPANY_NONE: none. */
    uint32_t *leader;
    /* By point: whoever has entered it only leaves together with all who entered this one, which
     * all who enter the point did before, once at most. PM_COMPANY_NONE: not so of any. */
    uint32_t *gathers;
    /* By point: it is in one loop, and passed in each turn that leads to another: who enters it has
     * entered it in all turns before. */
    bool *each_turn;
};

/* blocks: by point of the info, ascending. Of the function as it is, with what analysis_together.h
 * requires; in the module's arena. false: out of memory. */
bool pm_block_company_find(struct pm_block_company *company, const struct pm_instrument *instrument,
                           struct pm_ir_block *const *blocks);

/* By block of the function as it is, likewise: whether all lanes that begin the shader are in it,
 * together and once, and are there all along. NULL: out of memory. */
bool *pm_entry_company_find(const struct pm_instrument *instrument);
