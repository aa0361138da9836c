/*
 * The points of a profile of turns, as a pass; points.h has the same for words.
 */
#pragma once

#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/analysis/pass.h"
#include "shader_rewrite/points/points.h"

/* Instructions of a loop's copies, all together. A loop of which two have more is no point. */
enum { PM_TURNS_MOST_INSTRUCTIONS = 768 };

/* Context: the struct pm_turn_points that it fills as pm_points_turns does; to be finished, also on
 * failure. Changes nothing. */
extern const struct pm_pass pm_pass_points_turns;
