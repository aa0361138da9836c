/* A shader's control-flow graph; a large one is folded (report_fold.h), with the whole one to open.
 */
#pragma once

#include "base/buffer.h"
#include "tools/report/report.h"

/* Appends it as SVG. */
bool pm_report_graph(const struct pm_report_shader *shader, struct pm_buffer *out);
