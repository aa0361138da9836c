/* What several parts of the report's page are written with. */
#pragma once

#include "base/buffer.h"
#include "tools/report/report.h"

/* Appends text with <, >, & and quotes escaped. */
bool pm_html_escape(struct pm_buffer *out, const char *text);

/* The colour of a frequency: CSS hsl(), cold to hot; sampled false gives the colour of the unknown.
 */
void pm_report_colour(char *css, size_t size, bool sampled, double frequency);

/* "fragment", "compute", or "unknown" where the shader is not in the store. */
const char *pm_report_stage(const struct pm_report_shader *shader);

/* A paragraph beside the figures. */
bool pm_report_note(struct pm_buffer *out, const char *what, const char *why);
