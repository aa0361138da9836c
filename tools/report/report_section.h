/* One shader of the report's page, with all that is known of it. */
#pragma once

#include "base/buffer.h"
#include "tools/report/report.h"

/* Appends what there is of one of the report's shaders; its ids are those of pm_report_anchor. */
bool pm_report_section(const struct pm_report *report, size_t index, struct pm_buffer *out);
