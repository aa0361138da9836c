/* A shader's text with its profile beside it: the author's files, the GLSL that is counted, its
 * SPIR-V. */
#pragma once

#include "base/buffer.h"
#include "tools/report/report.h"

/* Appends them, each to be opened and closed. The ids that links lead to are the GLSL's; where
 * there is none, its lines' absence is said. */
bool pm_report_texts(const struct pm_report_shader *shader, struct pm_buffer *out);
