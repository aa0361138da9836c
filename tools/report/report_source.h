/* A module as GLSL, with the block that each line came from. */
#pragma once

#include "tools/report/report.h"

/* By SPIRV-Cross, of a module whose instructions are marked with line directives (report_marks.h).
 * words: canonical, names kept where there are any; blocks in the points' order. */
bool pm_report_source_lines(const uint32_t *words, size_t count,
                            const struct pm_block_points *points, struct pm_arena *arena,
                            struct pm_report_line **lines, size_t *line_count,
                            struct pm_error *error);
