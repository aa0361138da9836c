/*
 * How often loops turn, where the module says so, and whether it may be told to a compiler.
 *
 * Thread safety: as the module. PM_ANALYSIS_LOOPS is required of the function.
 */
#pragma once

#include "shader_rewrite/analysis/analysis.h"
#include "shader_rewrite/analysis/analysis_memory.h"

/* A loop with more turns is one of which it is not known. */
enum { PM_MOST_TURNS = 256 };

/* Of a loop by its index: an integer of the header's begins with a constant, changes by one each
 * turn, and its comparison with a third is the one way out. 0: none, or not known. */
uint32_t pm_loop_turns(const struct pm_ir_function *function, uint32_t loop);

/* How often whoever comes to the loop comes to the block that leads back: one more than the above
 * where that block has the comparison (do … while). 0: not known, or there is another way out, be
 * it a return, a kill, or one out of a loop around it. */
uint32_t pm_loop_turns_always(const struct pm_ir_function *function, uint32_t loop);

/* How many ways lead out of it, ends of the lane among them. */
uint32_t pm_loop_ways_out(const struct pm_ir_function *function, uint32_t loop);

/* Whether it shows that what leads to a loop's exit, and to its first turn, runs once more than the
 * rest: it has an effect, or a value of its own is used behind the loop. SPIRV-Tools' unroller
 * leaves that last time out (LoopUnrollerUtilsImpl::FullyUnroll, v2025.1). Of a loop with several
 * exits, which it does not unroll: false. PM_ANALYSIS_DOMINATORS is required, too. */
bool pm_loop_needs_last_test(const struct pm_ir_function *function, const struct pm_memory *memory,
                             uint32_t loop);

/* Whether a compiler that unrolls the loop, or copies some of its turns, would find constants in
 * float arithmetic that it may compute in another way than the device does (HAZARDS 3); as well
 * where they are in one turn alone, one operand, a part of a vector, a table in memory, or behind
 * the loop. Sums and products are none, so what is NoContraction keeps its bits. Marks the
 * function's instructions. */
bool pm_loop_is_risky(const struct pm_ir_function *function, uint32_t loop);

/* Whether there is float arithmetic in the loop that is NoContraction, which copies of it need not
 * be: SPIRV-Tools' unroller does not copy decorations (v2025.1), and then two turns of x *= c become
 * x * (c * c), and a * b + a * c of several a * (b + c). */
bool pm_loop_needs_exactness(const struct pm_ir_function *function, uint32_t loop);

/* The block that leads back to the loop's header, of which SPIR-V has one (2.11.2). NULL: none can
 * be reached. */
const struct pm_ir_block *pm_loop_latch(const struct pm_ir_function *function, uint32_t loop);

/* How many instructions are in it; of all loops at once, by their indices. */
uint32_t pm_loop_size(const struct pm_ir_function *function, uint32_t loop);
void pm_loop_sizes(const struct pm_ir_function *function, uint32_t *sizes);
