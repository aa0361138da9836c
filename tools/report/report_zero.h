/* The shader's zeros: which values were zero, and what specialize_zero makes of that. */
#pragma once

#include "tools/report/report.h"

/* shader->zeros and shader->specialized, once its lines are there. words: the module that the lines
 * are of, which is valid for the target. */
bool pm_report_zero_build(const struct pm_words *words, const struct pm_target *target,
                          struct pm_arena *arena, struct pm_report_shader *shader,
                          struct pm_error *error);
