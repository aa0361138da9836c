/*
 * The report's page: self-contained HTML, no request to anywhere, dark and light; it opens on the
 * verdict, and what its script adds (finding, sorting) is not needed to read it.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "base/buffer.h"
#include "tools/report/report.h"

bool pm_report_page(const struct pm_report *report, struct pm_buffer *out);
