/* A shader's section of the page: its graph beside its GLSL, and what it becomes. */
#include "tools/report/report_section.h"
#include "tools/report/report_after.h"
#include "tools/report/report_graph.h"
#include "tools/report/report_html.h"
#include <stdio.h>
#include <string.h>

#define CONSIDERED 0.32 /* AZP's threshold of P(zero) */
#define SHOWN_AS_ZERO 0.0005

/* ---- P(zero) ---- */

static const char *emphasis(double probability)
{
    return probability >= CONSIDERED ? " class=likely" : "";
}

/* A line's likeliest value; opened, all of them. */
static bool write_zeros(const struct pm_report_shader *shader, const struct pm_report_line *line,
                        struct pm_buffer *out)
{
    if (line->zero_count == 0)
        return pm_buffer_append_string(out, "<td class=z>");
    const struct pm_report_zero *zeros = &shader->zeros[line->first_zero];
    const double most = zeros[0].zero.ratio;
    if (most < SHOWN_AS_ZERO)
        return pm_buffer_printf(out, "<td class=z title='%u value%s, never zero'>0",
                                line->zero_count, line->zero_count == 1 ? "" : "s");
    bool ok = pm_buffer_printf(out, "<td class=z><details><summary%s>%.3f", emphasis(most), most);
    if (ok && line->zero_count > 1)
        ok = pm_buffer_printf(out, "<small>+%u</small>", line->zero_count - 1);
    ok = ok && pm_buffer_append_string(out, "</summary><table>");
    for (uint32_t i = 0; ok && i < line->zero_count; i++)
        ok = pm_buffer_append_string(out, "<tr><td>") && pm_html_escape(out, zeros[i].name) &&
             pm_buffer_printf(out, "<td>%.3f<td>%.3f to %.3f<td>%u calls</tr>", zeros[i].zero.ratio,
                              zeros[i].zero.ratio_low, zeros[i].zero.ratio_high, zeros[i].calls);
    return ok && pm_buffer_append_string(out, "</table></details>");
}

/* ---- GLSL ---- */

/* The cells of a block's number and frequency, on the first of the lines that belong to it. */
static bool write_block(const struct pm_report_shader *shader, size_t index, uint32_t number,
                        bool first_of_all, struct pm_buffer *out)
{
    const struct pm_report_block *block = &shader->blocks[number];
    char id[48] = "", value[32] = "?";
    if (first_of_all)
        snprintf(id, sizeof(id), " id='s%zub%u'", index, number);
    if (block->sampled)
        snprintf(value, sizeof(value), "%.4g×", block->frequency.ratio);
    return pm_buffer_printf(out, "<td class=n%s><a href='#s%zug%u'>%u</a><td class=n>%s", id, index,
                            number, number, value);
}

/* shown: the block of the line before that belongs to one. */
static bool write_line(const struct pm_report_shader *shader, size_t index, size_t at,
                       uint32_t shown, bool first_of_all, struct pm_buffer *out)
{
    const struct pm_report_line *line = &shader->lines[at];
    const bool owned = line->block != PM_NO_BLOCK;
    char colour[48] = "";
    if (owned)
        pm_report_colour(colour, sizeof(colour), shader->blocks[line->block].sampled,
                         shader->blocks[line->block].frequency.ratio);
    bool ok = owned ? pm_buffer_printf(out, "<tr id='s%zul%zu' class=on style='--c:%s'>", index, at,
                                       colour)
                    : pm_buffer_append_string(out, "<tr>");
    ok = ok &&
         (owned && line->block != shown ? write_block(shader, index, line->block, first_of_all, out)
                                        : pm_buffer_append_string(out, "<td class=n><td class=n>"));
    return ok && write_zeros(shader, line, out) && pm_buffer_append_string(out, "<td class=t>") &&
           pm_html_escape(out, line->text) && pm_buffer_append_string(out, "</tr>");
}

/* Where the first function begins: what comes before are declarations. */
static size_t first_owned(const struct pm_report_shader *shader)
{
    size_t at = 0;
    while (at < shader->line_count && !strstr(shader->lines[at].text, "void main("))
        at++;
    return at < shader->line_count ? at : 0;
}

static bool write_declarations(const struct pm_report_shader *shader, size_t count,
                               struct pm_buffer *out)
{
    bool ok =
        pm_buffer_printf(out, "<details><summary>%zu lines of declarations</summary><pre>", count);
    for (size_t i = 0; ok && i < count; i++)
        ok = pm_html_escape(out, shader->lines[i].text) && pm_buffer_append_string(out, "\n");
    return ok && pm_buffer_append_string(out, "</pre></details>");
}

static bool is_first_of_block(const struct pm_report_shader *shader, size_t begin, size_t at)
{
    for (size_t i = begin; i < at; i++)
        if (shader->lines[i].block == shader->lines[at].block)
            return false;
    return true;
}

static bool write_source(const struct pm_report_shader *shader, size_t index, struct pm_buffer *out)
{
    if (shader->why_no_lines)
        return pm_report_note(out, "No GLSL: ", shader->why_no_lines);
    const size_t begin = first_owned(shader);
    bool ok = pm_buffer_append_string(out, "<div class=code tabindex=0 role=region "
                                           "aria-label='GLSL with its profile'>") &&
              (begin == 0 || write_declarations(shader, begin, out)) &&
              pm_buffer_append_string(out, "<table class=glsl><thead><tr><th>block<th>runs"
                                           "<th>P(zero)<th></tr></thead>");
    uint32_t shown = PM_NO_BLOCK;
    for (size_t i = begin; ok && i < shader->line_count; i++) {
        ok = write_line(shader, index, i, shown, is_first_of_block(shader, begin, i), out);
        if (shader->lines[i].block != PM_NO_BLOCK)
            shown = shader->lines[i].block;
    }
    return ok && pm_buffer_append_string(out, "</table></div>");
}

/* ---- the section ---- */

static bool write_names(const char *what, const char *names, struct pm_buffer *out)
{
    if (!names || !*names)
        return true;
    return pm_buffer_printf(out, "%s <code>", what) && pm_html_escape(out, names) &&
           pm_buffer_append_string(out, "</code>. ");
}

static bool write_title(const struct pm_report *report, size_t index, struct pm_buffer *out)
{
    const struct pm_report_shader *shader = &report->shaders[index];
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&shader->estimates->key, key);
    bool ok = pm_buffer_printf(out,
                               "<h2 id='s%zu'>%zu. %s shader <span class=key>%.12s</span>"
                               "<span class=nav><a href='#shaders'>all</a>",
                               index, index + 1, pm_report_stage(shader), key);
    if (ok && index > 0)
        ok = pm_buffer_printf(out, " <a href='#s%zu'>previous</a>", index - 1);
    if (ok && index + 1 < report->shown)
        ok = pm_buffer_printf(out, " <a href='#s%zu'>next</a>", index + 1);
    return ok && pm_buffer_append_string(out, "</span></h2><p class=note>") &&
           write_names("Writes", shader->writes, out) && write_names("Uses", shader->uses, out) &&
           pm_buffer_printf(out,
                            "%u blocks, %llu sampled invocations, subgroups of %u lanes%s. Key "
                            "<span class=key>%s</span>.</p>",
                            shader->estimates->space,
                            (unsigned long long)shader->estimates->entry_lanes,
                            shader->estimates->environment.subgroup_size,
                            shader->estimates->flags & PM_PROFILE_OCCLUDED
                                ? "; pixels that fail a later test are counted too"
                                : "",
                            key);
}

bool pm_report_section(const struct pm_report *report, size_t index, struct pm_buffer *out)
{
    const struct pm_report_shader *shader = &report->shaders[index];
    bool ok = write_title(report, index, out) && pm_buffer_append_string(out, "<div class=pair>");
    if (ok && shader->block_count)
        ok = pm_buffer_append_string(out, "<div class=flow tabindex=0 role=region "
                                          "aria-label='control-flow graph'>") &&
             pm_report_graph(shader, index, out) && pm_buffer_append_string(out, "</div>");
    return ok && write_source(shader, index, out) && pm_buffer_append_string(out, "</div>") &&
           pm_report_after(shader, index, out);
}
