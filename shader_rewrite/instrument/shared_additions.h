/*
 * Numbers that are added by the lanes of a subgroup that are at one place: each takes the one of
 * its rank, and the one as many behind as there are lanes, until there are no more. The loop asks
 * behind each turn whether there is another, since drivers for CPUs run one turn more, for no lane,
 * where it is asked before.
 */
#pragma once

#include "shader_rewrite/instrument/instrument_module.h"

struct pm_shared_additions {
    struct pm_instrument *instrument;
    struct pm_ir_def *number; /* the lane's in this turn, */
    struct pm_ir_def *is_one; /* if it is one */
    /* for _end */
    struct pm_ir_def *next, *lanes, *bound;
    struct pm_ir_block *header, *again, *merge;
};

/* Begins a turn: afterwards the builder is inside. next: pm_instrument_variable. rank, lanes: of
 * those who are here and add; bound: how many numbers there are, the same in all lanes. Where there
 * are no lanes, only helper invocations may be here: they have no part in ballots, and some drivers
 * run them on (lavapipe 22.3), without end if there were no lanes to go on by; they have no number.
 */
struct pm_shared_additions pm_shared_additions_begin(struct pm_instrument *instrument,
                                                     struct pm_ir_def *next, struct pm_ir_def *rank,
                                                     struct pm_ir_def *lanes,
                                                     struct pm_ir_def *bound);

/* Ends it: afterwards the builder is behind the loop. */
void pm_shared_additions_end(struct pm_shared_additions *shared);
