/*
 * Counting blocks with few atomics, and exactly.
 *
 * Nearly always a subgroup enters a block whole: with every lane that began the shader. Whether it
 * does all its lanes know, and nothing can be entered so any more once a lane has left. So these
 * entries wait in registers that are the same in all lanes, a bit for a block that runs at most
 * once and a number for one in a loop, until the subgroup's first lane leaves: by return or kill,
 * or by becoming a helper. Then the lanes that leave with it share the bits among them and add one
 * each, so that one atomic instruction serves as many blocks as there are lanes. What is entered
 * otherwise is added at once, by an elected lane.
 *
 * A ballot tells which lanes enter, but where these are known to be those that entered an earlier
 * block: there that block's tells it (block_company.h). Where they are those that began the shader
 * the entry is whole, and is only noted. So it is where they are those of a block that runs once
 * and leave together: then what they noted is added as whole or not, by what they are. What is
 * entered whenever an earlier block is shares its register, and its code.
 *
 * Added is one number where the subgroup has all the lanes that one is said to have
 * (info->subgroup_size), and two where it has not (instrument.h, struct pm_block_layout).
 *
 * On some drivers what a loop adds up cannot be read behind it (info->sums_outlive_loops): there
 * blocks in loops are counted at once. A number in a register has 32 bits: a lane may turn 2^32 /
 * 128 times in a loop.
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
    struct pm_block_layout layout;
    const bool *once;         /* by point of the info: it runs at most once; the caller's */
    const bool *counts_lanes; /* by the module's points: it does; NULL: all do */
    bool waits;   /* entries may wait: no function is called, in which lanes could leave */
    bool demotes; /* lanes become helpers on the way */
    struct pm_block_leaving *places; /* where lanes leave */
    uint32_t place_count;
    struct pm_block_entered *entered;       /* by point of the info, once it is counted */
    const struct pm_block_company *company; /* NULL: nothing is known */
    struct pm_counting_slot slot;
    struct pm_ir_def *live; /* the lane is no helper; NULL: it has to be asked each time */
    struct pm_ir_def *entry_ballot, *entry_lanes, *is_full;
    struct pm_ir_def *is_first; /* of the lanes that count at entry */
    struct pm_ir_def **marks;   /* variables: bits, by unit / 32 */
    struct pm_ir_def **turns;   /* variables, by unit; NULL: none */
    struct pm_ir_def *next;     /* variable: the unit that a lane looks at */
};

/* Of a module whose counting is ready; sets its stride and counts at entry. once: of each of the
 * info's points whether it runs at most once. company: NULL, or the caller's, of the function as
 * it is. false: out of memory. */
bool pm_block_counts_begin(struct pm_block_counts *counts, struct pm_instrument *instrument,
                           const bool *once, const struct pm_block_company *company);

/* A variable of the function, a 32-bit number that is 0 at its entry. */
struct pm_ir_def *pm_block_counts_variable(const struct pm_block_counts *counts);

/* Counts one of the info's points, that is not the entry block, at its block. */
void pm_block_counts_add(struct pm_block_counts *counts, uint32_t index, struct pm_ir_block *block);
/* The same where lanes come to an instruction, as pm_block_open_at takes one. */
void pm_block_counts_add_at(struct pm_block_counts *counts, uint32_t index, struct pm_ir_instr *at);

/* Once all are counted: lets what waits be added wherever lanes leave. */
void pm_block_counts_end(struct pm_block_counts *counts);
