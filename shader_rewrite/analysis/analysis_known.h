/*
 * What a compiler may know of a function's values beyond the constants: what it computes of these,
 * what it loads from a table of them, and what is one in some turn of a loop, which it may copy. By
 * that it may compute otherwise than the device does (HAZARDS 3).
 *
 * Thread safety: as the module, whose marks it sets; PM_ANALYSIS_LOOPS of the function is required.
 */
#pragma once

#include "shader_rewrite/analysis/analysis.h"

enum pm_known {
    PM_KNOWN_NOT,
    PM_KNOWN_IN_PART, /* in one turn, one component, or one element of an array */
    PM_KNOWN_ALWAYS,
    PM_KNOWN_CONSTANT, /* the module says so */
};

/* Marks the function's instructions: in a loop what is known once its turns are. Of PM_NO_LOOP the
 * whole function. */
void pm_known_mark(const struct pm_ir_function *function, uint32_t loop);

/* Then, behind the loop, what follows from its last turn; false: nothing, as it is not known which
 * turn is the last. */
bool pm_known_mark_behind(const struct pm_ir_function *function, uint32_t loop);

/* Of what was marked, or a constant. */
enum pm_known pm_known_of(const struct pm_ir_instr *instr);

/* Whether float arithmetic may be computed otherwise for what is known of its operands; of some a
 * compiler may make another instruction, as x * x of pow(x, 2) (seen). */
bool pm_known_is_inexact(const struct pm_ir_instr *instr);

/* The variable that a pointer leads to, where it is the function's own or Private: what is stored
 * there a compiler may know. NULL: another one. */
struct pm_ir_instr *pm_known_variable(const struct pm_ir_instr *pointer);
