#include "tools/report/report_page.h"
#include "report_style.h" /* generated from report.css: style[] */
#include "tools/common/estimates.h"
#include "tools/report/report_chart.h"
#include "tools/report/report_html.h"
#include "tools/report/report_section.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the table ---- */

static double total_heat(const struct pm_report *report)
{
    double sum = 0;
    for (size_t i = 0; i < report->shader_count; i++)
        sum += report->shaders[i].heat;
    return sum;
}

/* By what its author tells it from others. */
static bool write_what(const struct pm_report_shader *shader, struct pm_buffer *out)
{
    bool ok = pm_buffer_printf(out, "<td class=what>%s", pm_report_stage(shader));
    if (!shader->block_count)
        return ok && pm_buffer_append_string(out, ", not in the store");
    if (ok && shader->writes && *shader->writes)
        ok = pm_buffer_append_string(out, " → <b>") && pm_html_escape(out, shader->writes) &&
             pm_buffer_append_string(out, "</b>");
    if (ok && shader->uses && *shader->uses)
        ok = pm_buffer_append_string(out, "<small>uses ") && pm_html_escape(out, shader->uses) &&
             pm_buffer_append_string(out, "</small>");
    return ok;
}

static bool write_share(const struct pm_report_shader *shader, double heat, struct pm_buffer *out)
{
    const double share = heat > 0 ? 100 * shader->heat / heat : 0;
    if (!shader->block_count)
        return pm_buffer_append_string(out, "<td>–");
    return pm_buffer_printf(out, "<td class=share><span style='width:%.1f%%'></span><b>%.1f %%</b>",
                            share / 2, share);
}

static bool write_zeros(const struct pm_report_shader *shader, struct pm_buffer *out)
{
    const uint32_t tests = shader->specialized.transforms;
    if (!shader->block_count)
        return pm_buffer_append_string(out, "<td>–");
    if (!shader->zero_estimates)
        return pm_buffer_append_string(out, "<td>not profiled");
    if (shader->specialized.why)
        return pm_buffer_append_string(out, "<td>not possible");
    if (tests == 0)
        return pm_buffer_append_string(out, "<td>nothing worth it");
    return pm_buffer_printf(out, "<td>%u value%s tested", tests, tests == 1 ? "" : "s");
}

static bool write_row(const struct pm_report *report, size_t index, double heat,
                      struct pm_buffer *out)
{
    const struct pm_report_shader *shader = &report->shaders[index];
    char key[PM_SHADER_KEY_TEXT];
    struct pm_coverage coverage;
    pm_shader_key_format(&shader->estimates->key, key);
    bool ok = pm_estimates_coverage(shader->estimates, &coverage) &&
              pm_buffer_append_string(out, "<tr><td class=key>");
    if (ok && index < report->shown)
        ok = pm_buffer_printf(out, "<a href='#s%zu'>%.12s</a>", index, key);
    else if (ok)
        ok = pm_buffer_printf(out, "%.12s", key);
    return ok && write_what(shader, out) && write_share(shader, heat, out) &&
           pm_buffer_printf(
               out, "<td>%u of %u<td title='%u to %u sampled calls a block'>%u<td>%llu",
               coverage.covered, coverage.points, coverage.calls_least, coverage.calls_most,
               coverage.calls_median, (unsigned long long)shader->estimates->entry_lanes) &&
           write_zeros(shader, out) &&
           pm_buffer_printf(out, "<td>%s</tr>",
                            shader->estimates->published ? "published" : "needs samples");
}

static bool write_table(const struct pm_report *report, struct pm_buffer *out)
{
    const double heat = total_heat(report);
    bool ok = pm_buffer_append_string(
        out, "<h2 id=shaders>Shaders, the hottest first</h2><div class=scroll tabindex=0 "
             "role=region aria-label='table of shaders'><table class=shaders><thead><tr><th>shader"
             "<th>what it is<th>instructions run<th>blocks covered<th>calls a block"
             "<th>invocations<th>zeros<th>state</tr></thead>");
    for (size_t i = 0; ok && i < report->shader_count; i++)
        ok = write_row(report, i, heat, out);
    return ok && pm_buffer_append_string(
                     out, "</table></div><p class=note>Instructions run: the share of all that the "
                          "sampled invocations ran. Calls a block: the median of sampled draws and "
                          "dispatches that counted a block.</p>");
}

/* ---- the page ---- */

static bool write_legend(struct pm_buffer *out)
{
    static const double marks[] = {0, 0.25, 0.5, 0.75, 1, 4, 32};
    char colour[48];
    bool ok = pm_buffer_append_string(
        out, "<h2>How to read a shader</h2><p class=legend>A block runs so often per invocation: ");
    for (size_t i = 0; ok && i < sizeof(marks) / sizeof(marks[0]); i++) {
        pm_report_colour(colour, sizeof(colour), true, marks[i]);
        ok = pm_buffer_printf(out, "<span style='background:%s'>%g×</span>", colour, marks[i]);
    }
    pm_report_colour(colour, sizeof(colour), false, 0);
    return ok &&
           pm_buffer_printf(
               out,
               "<span style='background:%s'>no sample</span></p><p class=note>The graph and the "
               "GLSL have the same colours and numbers, and lead to each other. Thick frames: in a "
               "loop; dashed lines lead back. The GLSL is what the profile counts: functions are "
               "inlined, and a variable that is written several times has a number behind its "
               "name. "
               "P(zero): how often a value that the line writes is zero in every lane of a "
               "subgroup; "
               "where a line writes several, the likeliest stands there, and opening it shows all, "
               "with 95&#160;%% intervals. From 0.32 on, in bold, a value is considered for "
               "specializing.</p>",
               colour);
}

static bool write_head(const struct pm_report *report, struct pm_buffer *out)
{
    return pm_buffer_append_string(
               out, "<!doctype html><html lang=en><head><meta charset=utf-8><meta name=viewport "
                    "content='width=device-width,initial-scale=1'><title>") &&
           pm_html_escape(out, report->game) &&
           pm_buffer_append_string(out, " – Piecemeal</title><style>") &&
           pm_buffer_append_string(out, style) &&
           pm_buffer_append_string(
               out, "</style></head><body><svg width=0 height=0 class=defs "
                    "aria-hidden=true><defs><marker "
                    "id=arrow viewBox='0 0 8 8' refX=6 refY=4 markerWidth=7 markerHeight=7 "
                    "orient=auto><path class=head d='M0 0L8 4L0 8z'/></marker></defs></svg><h1>") &&
           pm_html_escape(out, report->game) &&
           pm_buffer_append_string(out,
                                   "</h1><p class=note>A profile of its shaders, from <code>") &&
           pm_html_escape(out, report->origin) && pm_buffer_append_string(out, "</code>.</p>");
}

bool pm_report_page(const struct pm_report *report, struct pm_buffer *out)
{
    bool ok = write_head(report, out) &&
              pm_buffer_append_string(out, "<h2>Coverage over time</h2>") &&
              pm_report_chart(report->coverage, report->coverage_count, out) &&
              write_table(report, out) && write_legend(out);
    for (size_t i = 0; ok && i < report->shown; i++)
        ok = pm_report_section(report, i, out);
    return ok && pm_buffer_append_string(out, "</body></html>\n");
}
