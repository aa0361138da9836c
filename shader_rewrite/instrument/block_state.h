/*
 * What is known while blocks are counted: of the code, and of what was built (block_counts.h).
 */
#pragma once

#include "shader_rewrite/instrument/block_company.h"
#include "shader_rewrite/instrument/instrument_module.h"

/* Which lanes entered a point's block. */
struct pm_block_entered {
    struct pm_ir_def *ballot;
    struct pm_ir_def *whole; /* all that began the shader; NULL: so by the code */
};

/* Where lanes leave, and the point that is entered by the same: as struct pm_block_company. */
struct pm_block_leaving {
    struct pm_ir_instr *at;
    uint32_t with;
};

struct pm_block_counts {
    struct pm_instrument *instrument;
    struct pm_block_layout layout; /* the caller's to keep, or to free */
    uint32_t *point_of; /* by unit but 0: the first of the info's points that it counts */
    const bool *once;   /* by point of the info: it runs at most once; the caller's */
    bool *counts_lanes; /* by unit: lanes of its entries that are not whole are counted, too */
    bool waits;         /* entries may wait: no function is called, in which lanes could leave */
    bool demotes;       /* lanes become helpers on the way */
    struct pm_block_leaving *places; /* where lanes leave */
    uint32_t place_count;
    struct pm_block_entered *entered; /* by point of the info, once it is counted */
    bool *is_asked; /* by point: others are entered by the same lanes, and have to know which */
    const struct pm_block_company *company; /* NULL: nothing is known */
    struct pm_counting_slot slot;
    struct pm_ir_def *live; /* the lane is no helper; NULL: it has to be asked each time */
    struct pm_ir_def *entry_ballot, *entry_lanes, *is_full;
    struct pm_ir_def *is_first; /* of the lanes that count at entry */
    struct pm_ir_def **marks;   /* variables: bits, by unit / 32 */
    struct pm_ir_def **turns;   /* variables, by unit; NULL: none */
    /* Units from 1 on have each lane's entry in a field of these variables, so many bits each; the
     * last units have a number of each lane in `turns`. */
    struct pm_ir_def **fields;
    uint32_t field_count, field_bits, turning_count;
    struct pm_ir_def *next; /* variable: the item that a lane looks at */
};
