#include "tools/report_page.h"
#include "report_style.h" /* generated from report.css: style[] */
#include "tools/estimates.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

bool pm_html_escape(struct pm_buffer *out, const char *text)
{
    bool ok = true;
    while (ok && *text) {
        size_t plain = strcspn(text, "<>&\"'");
        ok = pm_buffer_append(out, text, plain);
        text += plain;
        if (ok && *text)
            ok = pm_buffer_printf(out, "&#%d;", *text++);
    }
    return ok;
}

void pm_report_colour(char *css, size_t size, bool sampled, double frequency)
{
    if (!sampled) {
        snprintf(css, size, "#b8bcc4");
        return;
    }
    /* Up to once an invocation from blue to orange, then by powers of two to red at 32 runs. */
    double hot = frequency <= 1 ? 0 : fmin(log2(frequency) / 5, 1);
    double once = fmin(fmax(frequency, 0), 1);
    double hue = hot > 0 ? 38 - 38 * hot : 210 - 172 * once;
    snprintf(css, size, "hsl(%.0f %.0f%% %.0f%%)", hue, 35 + 50 * fmax(once, hot),
             82 - 14 * once - 6 * hot);
}

static const char *stage_name(enum pm_stage stage)
{
    return stage == PM_STAGE_COMPUTE ? "compute" : "fragment";
}

static bool write_table(const struct pm_report *report, struct pm_buffer *out)
{
    bool ok = pm_buffer_append_string(
        out, "<h2>Shaders, the hottest first</h2><div "
             "class=scroll><table><tr><th>shader<th>stage<th>blocks<th>covered"
             "<th>sampled calls a block<th>sampled invocations<th>state</tr>");
    for (size_t i = 0; ok && i < report->shader_count; i++) {
        const struct pm_report_shader *shader = &report->shaders[i];
        char key[PM_SHADER_KEY_TEXT];
        struct pm_coverage coverage;
        pm_shader_key_format(&shader->estimates->key, key);
        ok = pm_estimates_coverage(shader->estimates, &coverage) &&
             pm_buffer_append_string(out, "<tr><td class=key>");
        if (ok && i < report->shown)
            ok = pm_buffer_printf(out, "<a href='#s%s'>%.12s</a>", key, key);
        else if (ok)
            ok = pm_buffer_printf(out, "%.12s", key);
        ok = ok && pm_buffer_printf(
                       out, "<td>%s<td>%u<td>%u<td>%u to %u, median %u<td>%llu<td>%s</tr>",
                       shader->block_count ? stage_name(shader->stage) : "not in the store",
                       coverage.points, coverage.covered, coverage.calls_least, coverage.calls_most,
                       coverage.calls_median, (unsigned long long)shader->estimates->entry_lanes,
                       shader->estimates->published ? "published" : "needs samples");
    }
    return ok && pm_buffer_append_string(out, "</table></div>");
}

/* The likeliest zero of the line; the pointer rests on it for all of them. */
static bool write_zeros(const struct pm_report_shader *shader, const struct pm_report_line *line,
                        struct pm_buffer *out)
{
    if (line->zero_count == 0)
        return pm_buffer_append_string(out, "<td class=n>");
    const struct pm_report_zero *zeros = &shader->zeros[line->first_zero];
    bool ok = pm_buffer_append_string(out, "<td class=n title='");
    for (uint32_t i = 0; ok && i < line->zero_count; i++)
        ok = pm_buffer_printf(out, "%s%s: %.3f (%.3f to %.3f), %u calls", i ? "&#10;" : "",
                              zeros[i].name, zeros[i].zero.ratio, zeros[i].zero.ratio_low,
                              zeros[i].zero.ratio_high, zeros[i].calls);
    return ok && pm_buffer_printf(out, "'>%.3g", zeros[0].zero.ratio);
}

static bool write_line(const struct pm_report_shader *shader, const struct pm_report_line *line,
                       bool repeats, struct pm_buffer *out)
{
    bool ok;
    if (line->block == PM_NO_BLOCK) {
        ok = pm_buffer_append_string(out, "<tr><td class=n><td class=n>");
    } else {
        const struct pm_report_block *block = &shader->blocks[line->block];
        char colour[48], number[16] = "", value[32] = "";
        pm_report_colour(colour, sizeof(colour), block->sampled, block->frequency.ratio);
        if (!repeats) {
            snprintf(number, sizeof(number), "%u", line->block);
            if (block->sampled)
                snprintf(value, sizeof(value), "%.4g", block->frequency.ratio);
            else
                snprintf(value, sizeof(value), "?");
        }
        ok =
            pm_buffer_printf(out, "<tr class=on style='background:%s'><td class=n>%s<td class=n>%s",
                             colour, number, value);
    }
    return ok && write_zeros(shader, line, out) && pm_buffer_append_string(out, "<td class=t>") &&
           pm_html_escape(out, line->text) && pm_buffer_append_string(out, "</tr>");
}

static bool write_note(struct pm_buffer *out, const char *what, const char *why)
{
    return pm_buffer_append_string(out, "<p class=note>") && pm_html_escape(out, what) &&
           pm_html_escape(out, why) && pm_buffer_append_string(out, "</p>");
}

static bool write_source(const struct pm_report_shader *shader, struct pm_buffer *out)
{
    if (shader->why_no_lines)
        return write_note(out, "No GLSL: ", shader->why_no_lines);
    bool ok = pm_buffer_append_string(
        out, "<div class=scroll><table class=glsl><tr><td class=n>block<td class=n>runs"
             "<td class=n>zero<td></tr>");
    for (size_t i = 0; ok && i < shader->line_count; i++)
        ok = write_line(shader, &shader->lines[i],
                        i > 0 && shader->lines[i - 1].block == shader->lines[i].block, out);
    return ok && pm_buffer_append_string(out, "</table></div>");
}

/* What the shader becomes; nothing where it has no zero profile. */
static bool write_specialized(const struct pm_report_shader *shader, struct pm_buffer *out)
{
    const struct pm_report_specialized *after = &shader->specialized;
    if (after->why)
        return write_note(out, "No specialized version: ", after->why);
    if (!shader->zero_estimates || shader->why_no_lines)
        return true;
    if (!after->lines)
        return write_note(out, "Nothing here is worth specializing for zeros.", "");
    bool ok = pm_buffer_printf(out,
                               "<details><summary>After specializing for zeros: %u value%s "
                               "tested</summary><div class=scroll><table class=glsl>",
                               after->transforms, after->transforms == 1 ? "" : "s");
    for (size_t i = 0; ok && i < after->line_count; i++)
        ok = pm_buffer_append_string(out, "<tr><td class=t>") &&
             pm_html_escape(out, after->lines[i].text) && pm_buffer_append_string(out, "</tr>");
    return ok && pm_buffer_append_string(out, "</table></div></details>");
}

static bool write_shader(const struct pm_report_shader *shader, struct pm_buffer *out)
{
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&shader->estimates->key, key);
    bool ok = pm_buffer_printf(
        out,
        "<h2 id='s%s'>%s shader <span class=key>%.12s</span></h2><p class=note>key <span "
        "class=key>%s</span>, subgroup size %u, %u blocks, %llu sampled invocations%s</p>",
        key, shader->block_count ? stage_name(shader->stage) : "Unknown", key, key,
        shader->estimates->environment.subgroup_size, shader->estimates->space,
        (unsigned long long)shader->estimates->entry_lanes,
        shader->estimates->flags & PM_PROFILE_OCCLUDED
            ? "; pixels that fail a later test are counted too"
            : "");
    if (ok && shader->block_count)
        ok = pm_buffer_append_string(out, "<div class=scroll>") && pm_report_graph(shader, out) &&
             pm_buffer_append_string(out, "</div>");
    return ok && write_source(shader, out) && write_specialized(shader, out);
}

static bool write_legend(struct pm_buffer *out)
{
    static const double marks[] = {0, 0.25, 0.5, 0.75, 1, 4, 32};
    char colour[48];
    bool ok =
        pm_buffer_append_string(out, "<p class=legend>How often a block runs per invocation: ");
    for (size_t i = 0; ok && i < sizeof(marks) / sizeof(marks[0]); i++) {
        pm_report_colour(colour, sizeof(colour), true, marks[i]);
        ok = pm_buffer_printf(out, "<span style='background:%s'>%g</span>", colour, marks[i]);
    }
    pm_report_colour(colour, sizeof(colour), false, 0);
    return ok &&
           pm_buffer_printf(
               out,
               "<span style='background:%s'>no sample</span> Thick frames: in a loop. Numbers are "
               "ratios of sums; rest the pointer on a block for its interval. Zero: the share of a "
               "subgroup's writes in which a value written in the line is zero in every lane; rest "
               "the pointer on it for all the line's values.</p>",
               colour);
}

bool pm_report_page(const struct pm_report *report, struct pm_buffer *out)
{
    bool ok = pm_buffer_append_string(
                  out, "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport "
                       "content='width=device-width'><title>") &&
              pm_html_escape(out, report->game) &&
              pm_buffer_append_string(out, " – Piecemeal</title>") &&
              pm_buffer_append_string(out, "<style>") && pm_buffer_append_string(out, style) &&
              pm_buffer_append_string(out, "</style>") && pm_buffer_append_string(out, "<h1>") &&
              pm_html_escape(out, report->game) &&
              pm_buffer_append_string(out, "</h1><p class=note>From <code>") &&
              pm_html_escape(out, report->origin) &&
              pm_buffer_append_string(out, "</code>.</p><h2>Coverage over time</h2>") &&
              pm_report_chart(report->coverage, report->coverage_count, out) &&
              write_table(report, out) && write_legend(out);
    for (size_t i = 0; ok && i < report->shown; i++)
        ok = write_shader(&report->shaders[i], out);
    return ok && pm_buffer_append_string(out, "</html>\n");
}
