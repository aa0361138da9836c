/*
 * The candidates for zero-value specialization, on a module that was read already; points.h
 * has the same for words (AZP 3.1).
 */
#pragma once

#include "shader_rewrite/points/points_blocks.h"

/* As pm_points_zero, of a module's entry function as pm_entry_function says; nothing of the module
 * may have been changed since it was read. The caller finishes *out. */
bool pm_points_zero_of(struct pm_ir_function *function, enum pm_stage stage,
                       struct pm_zero_points *out, struct pm_error *error);
