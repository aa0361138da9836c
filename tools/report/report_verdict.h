/*
 * What the page opens on: how many more frames there are, which shaders made them, what was never
 * run, and how sure all of that is.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "base/buffer.h"
#include "tools/report/report.h"

bool pm_report_verdict(const struct pm_report *report, struct pm_buffer *out);

/* The lists that it leads to: blocks that never ran, and such without a sample. */
bool pm_report_never(const struct pm_report *report, struct pm_buffer *out);

/* Cycles of all shaders in the sampled calls. */
double pm_report_heat_of_all(const struct pm_report *report);
