/*
 * The report's page: self-contained HTML, no script, no request to anywhere; dark and light.
 *
 * Thread safety: one thread.
 */
#pragma once

#include "tools/report_shader.h"

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

/* report_graph.c: appends the control-flow graph as SVG. */
bool pm_report_graph(const struct pm_report_shader *shader, struct pm_buffer *out);

/* report_chart.c: appends the coverage over time as SVG. */
bool pm_report_chart(const struct pm_report_coverage *samples, size_t count, struct pm_buffer *out);
