/* How many points were covered, over time. */
#pragma once

#include "base/buffer.h"
#include "tools/report/report.h"

/* Appends it as SVG. */
bool pm_report_chart(const struct pm_report_coverage *samples, size_t count, struct pm_buffer *out);
