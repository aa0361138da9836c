/* A shader's control-flow graph. */
#pragma once

#include "base/buffer.h"
#include "tools/report/report.h"

/* Appends it as SVG. */
bool pm_report_graph(const struct pm_report_shader *shader, size_t index, struct pm_buffer *out);
