/*
 * The report's page: self-contained HTML, no script, no request to anywhere; dark and light.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "base/buffer.h"
#include "tools/report/report.h"

bool pm_report_page(const struct pm_report *report, struct pm_buffer *out);
