/*
 * The report's page: self-contained HTML, no script, no request to anywhere; dark and light.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "tools/report/report_shader.h"

struct pm_report_coverage {
    int64_t time; /* seconds since the epoch */
    uint64_t uploads, points_covered, points;
};

struct pm_report {
    const char *game, *origin;
    const struct pm_database *database;
    const struct pm_report_coverage *coverage;
    size_t coverage_count;
    const struct pm_report_shader *shaders; /* the hottest first */
    size_t shader_count;
    size_t shown; /* how many of them get a section of their own */
};

bool pm_report_page(const struct pm_report *report, struct pm_buffer *out);

/* Appends text with <, >, & and quotes escaped. */
bool pm_html_escape(struct pm_buffer *out, const char *text);

/* The colour of a frequency: CSS hsl(), cold to hot; sampled false gives the colour of the unknown.
 */
void pm_report_colour(char *css, size_t size, bool sampled, double frequency);

/* "fragment", "compute", or "unknown" where the shader is not in the store. */
const char *pm_report_stage(const struct pm_report_shader *shader);

/* A paragraph beside the figures. */
bool pm_report_note(struct pm_buffer *out, const char *what, const char *why);

/* report_section.c: appends what there is of one of the report's shaders. Its elements have ids:
 * s3 of the fourth shader, s3g5 its block 5 in the graph, s3b5 in the GLSL, s3l17 a line. */
bool pm_report_section(const struct pm_report *report, size_t index, struct pm_buffer *out);

/* report_graph.c: appends the control-flow graph as SVG. */
bool pm_report_graph(const struct pm_report_shader *shader, size_t index, struct pm_buffer *out);

/* report_after.c: appends what the shader becomes; nothing where it has no zero profile. */
bool pm_report_after(const struct pm_report_shader *shader, size_t index, struct pm_buffer *out);

/* report_chart.c: appends the coverage over time as SVG. */
bool pm_report_chart(const struct pm_report_coverage *samples, size_t count, struct pm_buffer *out);
