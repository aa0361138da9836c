/*
 * How the report's GLSL comes to know its lines' blocks, and to look like what the author wrote.
 *
 * SPIRV-Cross says nothing of where a line of its output comes from, but it passes line directives
 * on: every instruction of a function gets an OpLine whose line number is its place in the module,
 * and the #line directives in the output say which instructions the line after them was made of. An
 * expression that SPIRV-Cross folds into a later statement belongs to that statement's line.
 *
 * It folds every value that is used once, however long the statement becomes. A value that has a
 * name (canonical_names.h) was a statement of the author's: it is stored to a variable too, so that
 * it is used twice and stays a statement. The stores, which name that variable, are to be dropped
 * from the output.
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/ir/ir_module.h"

/* In lines that are to be dropped. */
#define PM_REPORT_KEPT "piecemeal_kept_"

/* Marks a valid module as it was read, and writes it to words, to be finished by the caller. */
bool pm_report_mark(struct pm_ir_module *module, struct pm_words *marked, struct pm_error *error);

/* report_numbers.c: makes the decimal numbers of a line as short as their single-precision values
 * allow, in place: SPIRV-Cross writes 0.1 as 0.100000001490116119384765625. */
void pm_report_shorten_numbers(char *line);
