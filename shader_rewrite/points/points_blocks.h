/*
 * The points of a block profile, as a pass; points.h has the same for words.
 *
 * Points are blocks of the entry point's own function. Canonicalization inlines every call; should
 * one remain, the blocks of the called function are no points: they have no number that two recipes
 * would agree on, and a block of theirs may run several times per invocation outside any loop. The
 * block that calls is counted like any other.
 */
#pragma once

#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/analysis/pass.h"
#include "shader_rewrite/points/points.h"

/* Context: the struct pm_block_points that it fills as pm_points_blocks does, of the function that
 * pm_entry_function finds; to be finished, also on failure. Changes nothing. */
extern const struct pm_pass pm_pass_points_blocks;
