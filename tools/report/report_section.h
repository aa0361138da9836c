/* One shader of the report's page, with all that is known of it. */
#pragma once

#include "base/buffer.h"
#include "tools/report/report.h"

/* Appends what there is of one of the report's shaders. Its elements have ids: s3 of the fourth
 * shader, s3g5 its block 5 in the graph, s3b5 in the GLSL, s3l17 a line. */
bool pm_report_section(const struct pm_report *report, size_t index, struct pm_buffer *out);
