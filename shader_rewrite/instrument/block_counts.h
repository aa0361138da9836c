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
 * entered whenever an earlier block is shares its counters.
 *
 * Nobody asks at all where all who enter a block leave together, among those who entered an earlier
 * one that runs once, or the shader: each lane notes that it entered, a field of a register, and
 * where they leave subgroup arithmetic says how many did (block_gathered.h). In a loop a lane has a
 * number instead, of blocks that are passed in each turn. Where lanes alone are counted that is how
 * all blocks are, wherever lanes leave.
 *
 * Where nothing but the shader's entry is counted it waits for nobody: it is added where the shader
 * begins (entry_counts.h).
 *
 * Added is one number where the subgroup has all the lanes that one is said to have
 * (info->subgroup_size), and two where it has not (instrument.h, struct pm_block_layout).
 *
 * On some drivers what a loop adds up cannot be read behind it (info->sums_outlive_loops): there
 * blocks in loops are counted at once.
 *
 * Counters have 64 bits. A number that waits for lanes to leave has 32, and so has what it comes to
 * over the lanes; nothing is added earlier, which would take a branch in each turn. So counts are
 * exact while no invocation enters a block 2^32 / lanes of a subgroup times, in all turns of all
 * loops around it, with all others or not: 2^25 times with 128 lanes, 2^26 with 64, 2^29 with 8.
 * Beyond that they are too small, by 2^32 each time. Outside of loops there is no bound: a bit or a
 * field is of one entry, and a field holds as many lanes as there may be.
 */
#pragma once

#include "shader_rewrite/instrument/block_state.h"

/* Of a module whose counting is ready; sets its stride and counts at entry. once: of each of the
 * info's points whether it runs at most once. company: NULL, or the caller's, of the function as
 * it is. false: out of memory. */
bool pm_block_counts_begin(struct pm_block_counts *counts, struct pm_instrument *instrument,
                           const bool *once, const struct pm_block_company *company);

/* Counts one of the info's points, that is not the entry block, at its block. */
void pm_block_counts_add(struct pm_block_counts *counts, uint32_t index, struct pm_ir_block *block);
/* The same where lanes come to an instruction, as pm_block_open_at takes one. */
void pm_block_counts_add_at(struct pm_block_counts *counts, uint32_t index, struct pm_ir_instr *at);

/* Once all are counted: lets what waits be added wherever lanes leave. */
void pm_block_counts_end(struct pm_block_counts *counts);
