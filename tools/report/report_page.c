#include "tools/report/report_page.h"
#include "report_script.h" /* generated from report.js: script[] */
#include "report_style.h"  /* generated from report.css: style[] */
#include "tools/common/estimates.h"
#include "tools/report/report_chart.h"
#include "tools/report/report_html.h"
#include "tools/report/report_section.h"
#include "tools/report/report_verdict.h"
#include <stdio.h>

/* ---- the table ---- */

static double lanes_of_all(const struct pm_report *report)
{
    double sum = 0;
    for (size_t i = 0; i < report->shader_count; i++)
        sum += (double)report->shaders[i].estimates->entry_lanes;
    return sum;
}

/* What its author calls it, and by what else it is told from others. */
static bool write_what(const struct pm_report *report, size_t index, struct pm_buffer *out)
{
    const struct pm_report_shader *shader = &report->shaders[index];
    const bool linked = index < report->shown;
    char key[PM_SHADER_KEY_TEXT], anchor[PM_REPORT_ANCHOR];
    pm_shader_key_format(&shader->estimates->key, key);
    pm_report_anchor(shader, anchor);
    bool ok = pm_buffer_append_string(out, "<tr><td class=what>") &&
              (!linked || pm_buffer_printf(out, "<a href='#%s'>", anchor)) &&
              pm_report_name(shader, out) && (!linked || pm_buffer_append_string(out, "</a>")) &&
              pm_buffer_printf(out, "<small>%s <span class=key title='%s'>%.12s</span>",
                               pm_report_stage(shader), key, key);
    if (ok && !shader->block_count)
        ok = pm_buffer_append_string(out, ", not in the store");
    if (ok && shader->uses && *shader->uses)
        ok = pm_buffer_append_string(out, ", uses ") && pm_html_escape(out, shader->uses);
    return ok && pm_buffer_append_string(out, "</small>");
}

static bool write_share(const struct pm_report_shader *shader, double heat, struct pm_buffer *out)
{
    const double share = heat > 0 ? 100 * shader->heat / heat : 0;
    if (!shader->block_count)
        return pm_buffer_append_string(out, "<td data-v=-1>–");
    return pm_buffer_printf(
        out, "<td class=share data-v=%.6g><span style='width:%.1f%%'></span><b>%.1f %%</b>", share,
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

static bool write_row(const struct pm_report *report, size_t index, double heat, double lanes,
                      struct pm_buffer *out)
{
    const struct pm_report_shader *shader = &report->shaders[index];
    const double invocations = (double)shader->estimates->entry_lanes;
    struct pm_coverage coverage;
    return pm_estimates_coverage(shader->estimates, &coverage) && write_what(report, index, out) &&
           write_share(shader, heat, out) &&
           pm_buffer_printf(out, "<td data-v=%.0f title='%.0f sampled invocations'>%.1f %%",
                            invocations, invocations, lanes > 0 ? 100 * invocations / lanes : 0) &&
           pm_buffer_printf(
               out, "<td data-v=%u>%u of %u<td data-v=%u title='%u to %u sampled calls a block'>%u",
               coverage.points, coverage.covered, coverage.points, coverage.calls_median,
               coverage.calls_least, coverage.calls_most, coverage.calls_median) &&
           write_zeros(shader, out) &&
           pm_buffer_printf(out, "<td>%s</tr>",
                            shader->estimates->published ? "enough" : "needs more");
}

static bool write_table(const struct pm_report *report, struct pm_buffer *out)
{
    const double heat = pm_report_heat_of_all(report), lanes = lanes_of_all(report);
    bool ok = pm_buffer_append_string(
        out, "<h2 id=shaders>Shaders, the hottest first</h2><div class=scroll tabindex=0 "
             "role=region aria-label='table of shaders'><table class='shaders "
             "sortable'><thead><tr><th>shader"
             "<th>cost<th>invocations<th>blocks measured<th>calls a block"
             "<th>zeros<th>samples</tr></thead><tbody>");
    for (size_t i = 0; ok && i < report->shader_count; i++)
        ok = write_row(report, i, heat, lanes, out);
    return ok && pm_buffer_append_string(out, "</tbody></table></div><p class=note>Cost is what "
                                              "hot means here and in <code>piecemeal db "
                                              "show</code>: the share of all shaders' estimated "
                                              "cycles in the sampled calls. Invocations: the "
                                              "share of all that were sampled. Calls a block: the "
                                              "median of sampled draws and dispatches that "
                                              "counted a block.</p>");
}

/* ---- the page ---- */

static bool write_legend(struct pm_buffer *out)
{
    static const double marks[] = {0, 0.25, 0.5, 1, 2, 4, 32};
    bool ok =
        pm_buffer_append_string(out, "<h2>How to read a shader</h2><p class='legend "
                                     "by-cost'>Colours are cost, of the dearest line or block: ");
    for (unsigned level = 0; ok && level <= 9; level++)
        ok = pm_buffer_printf(out, "<span class='c%u'>%.0f %%</span>", level,
                              100.0 * level * level / 81);
    ok = ok &&
         pm_buffer_append_string(
             out,
             "</p><p class='legend by-runs'>Colours are how often a block runs per invocation: ");
    for (size_t i = 0; ok && i < sizeof(marks) / sizeof(marks[0]); i++)
        ok = pm_buffer_printf(out, "<span class='f%u'>%g×</span>", pm_report_heat_runs(marks[i]),
                              marks[i]);
    return ok &&
           pm_buffer_append_string(
               out,
               " <span class=fx>no sample</span></p><p class=note>Cost: estimated cycles by how "
               "often subgroups run them, or lanes in a shader of which that is not known. "
               "The graph and the text have the same numbers, and lead to each other. Thick "
               "frames: in a loop; dashed "
               "lines lead back; round boxes hold several blocks. The GLSL is what the profile "
               "counts: functions are "
               "inlined, and a variable that is written several times has a number behind its "
               "name. "
               "P(zero): how often a value that the line writes is zero in every lane of a "
               "subgroup; "
               "where a line writes several, the likeliest stands there, and opening it shows all, "
               "with 95&#160;% intervals. From 0.32 on, in bold, a value is considered for "
               "specializing.</p>");
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
           pm_html_escape(out, report->game) && pm_buffer_append_string(out, "</h1>");
}

/* It holds for the whole page, also without the script. */
static bool write_switch(struct pm_buffer *out)
{
    return pm_buffer_append_string(
        out, "<form class=bar><span>Colour by <label><input type=radio name=heat id=by-cost "
             "checked>cost</label> "
             "<label><input type=radio name=heat id=by-runs>how often it runs</label></span> "
             "<label class=script hidden>Find <input type=search id=find autocomplete=off "
             "spellcheck=false "
             "placeholder='name, resource, key'></label></form>");
}

static bool write_origin(const struct pm_report *report, struct pm_buffer *out)
{
    return pm_buffer_append_string(out, "<h2>Coverage over time</h2>") &&
           pm_report_chart(report->coverage, report->coverage_count, out) &&
           pm_buffer_append_string(out, "<p class=note>A profile from <code>") &&
           pm_html_escape(out, report->origin) && pm_buffer_append_string(out, "</code>.</p>");
}

bool pm_report_page(const struct pm_report *report, struct pm_buffer *out)
{
    bool ok = write_head(report, out) && pm_report_verdict(report, out) && write_switch(out) &&
              write_table(report, out) && write_legend(out);
    for (size_t i = 0; ok && i < report->shown; i++)
        ok = pm_report_section(report, i, out);
    return ok && pm_report_never(report, out) && write_origin(report, out) &&
           pm_buffer_append_string(out, "<script>") && pm_buffer_append_string(out, script) &&
           pm_buffer_append_string(out, "</script></body></html>\n");
}
