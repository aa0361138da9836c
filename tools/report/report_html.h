/* What several parts of the report's page are written with. */
#pragma once

#include "base/buffer.h"
#include "tools/report/report.h"

/* Appends text with <, >, & and quotes escaped, and a mark for each byte that is no UTF-8. */
bool pm_html_escape(struct pm_buffer *out, const char *text);

/* What the ids of a shader's parts begin with: its key, as far as links show it, and its
 * environment, so that a link stays valid from report to report. The section itself has it as its
 * id, -g5 behind it is block 5 in the graph, -b5 in the GLSL, -l17 a line. */
enum { PM_REPORT_ANCHOR = 48 };
void pm_report_anchor(const struct pm_report_shader *shader, char anchor[static PM_REPORT_ANCHOR]);

/* CSS classes for how hot something of a block is: c0 to c9 by its cost, as a part of the dearest
 * of its kind, f0 to f9 by how often the block runs; cx fx: it has no sample. */
enum { PM_REPORT_HEAT = 16 };
void pm_report_heat(const struct pm_report_shader *shader, uint32_t block, double part,
                    char classes[static PM_REPORT_HEAT]);
/* The second of the two. */
unsigned pm_report_heat_runs(double frequency);

/* What people call it; where it is not in the store, its key. */
bool pm_report_name(const struct pm_report_shader *shader, struct pm_buffer *out);

/* "fragment", "compute", or "unknown" where the shader is not in the store. */
const char *pm_report_stage(const struct pm_report_shader *shader);

/* "in per cent", with few digits; a small number of UTF-8. */
enum { PM_REPORT_PERCENT = 16 };
void pm_report_percent(double share, char text[static PM_REPORT_PERCENT]);

/* A paragraph beside the figures. */
bool pm_report_note(struct pm_buffer *out, const char *what, const char *why);
