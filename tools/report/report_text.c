#include "tools/report/report_text.h"
#include "tools/report/report_html.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CONSIDERED 0.32 /* AZP's threshold of P(zero) */
#define SHOWN_AS_ZERO 0.0005

/* One text that is written. */
struct writing {
    const struct pm_report_shader *shader;
    const char *anchor;
    const struct pm_report_line *lines;
    size_t count;
    double most; /* the dearest line's cost */
    bool main;   /* the GLSL: with what is zero, and what links lead to */
};

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

/* ---- lines ---- */

/* The cells of a block's number and frequency, on the first of the lines that belong to it. */
static bool write_block(const struct writing *w, uint32_t number, bool first_of_all,
                        struct pm_buffer *out)
{
    const struct pm_report_block *block = &w->shader->blocks[number];
    char id[PM_REPORT_ANCHOR + 24] = "", value[32] = "?";
    if (w->main && first_of_all)
        snprintf(id, sizeof(id), " id='%s-b%u'", w->anchor, number);
    if (block->sampled)
        snprintf(value, sizeof(value), "%.4g×", block->frequency.ratio);
    return pm_buffer_printf(out, "<td class=n%s><a href='#%s-g%u'>%u</a><td class=n>%s", id,
                            w->anchor, number, number, value);
}

static bool write_cost(const struct pm_report_line *line, struct pm_buffer *out)
{
    char cost[PM_REPORT_PERCENT] = "";
    if (line->block != PM_NO_BLOCK && line->cost >= 0.0005)
        pm_report_percent(line->cost, cost);
    return pm_buffer_printf(out, "<td class=n>%s", cost);
}

/* shown: the block of the line before that belongs to one. */
static bool write_line(const struct writing *w, size_t at, uint32_t shown, bool first_of_all,
                       struct pm_buffer *out)
{
    const struct pm_report_line *line = &w->lines[at];
    const bool owned = line->block != PM_NO_BLOCK;
    char heat[PM_REPORT_HEAT], id[PM_REPORT_ANCHOR + 32] = "";
    bool ok;
    if (owned) {
        pm_report_heat(w->shader, line->block, w->most > 0 ? line->cost / w->most : 0, heat);
        if (w->main)
            snprintf(id, sizeof(id), " id='%s-l%zu'", w->anchor, at);
        ok = pm_buffer_printf(out, "<tr%s class='on %s'>", id, heat);
    } else {
        ok = pm_buffer_append_string(out, "<tr>");
    }
    ok = ok &&
         (owned && line->block != shown ? write_block(w, line->block, first_of_all, out)
                                        : pm_buffer_append_string(out, "<td class=n><td class=n>"));
    return ok && write_cost(line, out) && (!w->main || write_zeros(w->shader, line, out)) &&
           pm_buffer_append_string(out, "<td class=t>") && pm_html_escape(out, line->text) &&
           pm_buffer_append_string(out, "</tr>");
}

static bool is_first_of_block(const struct writing *w, size_t begin, size_t at)
{
    for (size_t i = begin; i < at; i++)
        if (w->lines[i].block == w->lines[at].block)
            return false;
    return true;
}

static bool write_declarations(const struct writing *w, size_t count, struct pm_buffer *out)
{
    bool ok = pm_buffer_printf(out, "<details><summary>%zu lines before</summary><pre>", count);
    for (size_t i = 0; ok && i < count; i++)
        ok = pm_html_escape(out, w->lines[i].text) && pm_buffer_append_string(out, "\n");
    return ok && pm_buffer_append_string(out, "</pre></details>");
}

/* begin: what comes before are declarations. */
static bool write_lines(struct writing *w, size_t begin, struct pm_buffer *out)
{
    uint32_t shown = PM_NO_BLOCK;
    bool ok = begin == 0 || write_declarations(w, begin, out);
    for (size_t i = begin; i < w->count; i++)
        w->most = fmax(w->most, w->lines[i].cost);
    ok = ok && pm_buffer_printf(
                   out, "<table class=glsl><thead><tr><th>block<th>runs<th>cost%s<th></tr></thead>",
                   w->main ? "<th>P(zero)" : "");
    for (size_t i = begin; ok && i < w->count; i++) {
        ok = write_line(w, i, shown, w->main && is_first_of_block(w, begin, i), out);
        if (w->lines[i].block != PM_NO_BLOCK)
            shown = w->lines[i].block;
    }
    return ok && pm_buffer_append_string(out, "</table>");
}

/* Where the first function begins. */
static size_t first_owned(const struct writing *w)
{
    size_t at = 0;
    while (at < w->count && w->lines[at].block == PM_NO_BLOCK &&
           !strstr(w->lines[at].text, "void main("))
        at++;
    return at < w->count ? at : 0;
}

/* As far before it as a function's head may be; all, where little would be hidden. */
static size_t first_shown(const struct writing *w)
{
    enum { HEAD = 3, FEW = 8 };
    const size_t first = first_owned(w);
    return first > FEW ? first - HEAD : 0;
}

/* ---- panels ---- */

static bool begin_panel(bool open, const char *title, const char *what, struct pm_buffer *out)
{
    return pm_buffer_printf(out, "<details class=code%s><summary>", open ? " open" : "") &&
           pm_html_escape(out, title) &&
           pm_buffer_printf(
               out,
               " <small>%s</small></summary><div class=lines tabindex=0 role=region aria-label='",
               what) &&
           pm_html_escape(out, title) && pm_buffer_append_string(out, "'>");
}

static bool end_panel(struct pm_buffer *out)
{
    return pm_buffer_append_string(out, "</div></details>");
}

static bool write_files(const struct pm_report_shader *shader, const char *anchor,
                        struct pm_buffer *out)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < shader->file_count; i++) {
        const struct pm_report_text *file = &shader->files[i];
        struct writing w = {shader, anchor, file->lines, file->line_count, 0, false};
        ok = begin_panel(i == 0, file->name, "as it was written", out) &&
             write_lines(&w, first_shown(&w), out) && end_panel(out);
    }
    return ok;
}

static bool write_glsl(const struct pm_report_shader *shader, const char *anchor,
                       struct pm_buffer *out)
{
    struct writing w = {shader, anchor, shader->lines, shader->line_count, 0, true};
    if (shader->why_no_lines)
        return pm_report_note(out, "No GLSL: ", shader->why_no_lines);
    return begin_panel(true, "GLSL", "as it is counted", out) &&
           write_lines(&w, first_owned(&w), out) && end_panel(out);
}

static bool write_spirv(const struct pm_report_shader *shader, const char *anchor,
                        struct pm_buffer *out)
{
    const struct pm_report_text *spirv = &shader->spirv;
    struct writing w = {shader, anchor, spirv->lines, spirv->line_count, 0, false};
    return spirv->line_count == 0 || (begin_panel(false, "SPIR-V", "as it is counted", out) &&
                                      write_lines(&w, first_owned(&w), out) && end_panel(out));
}

bool pm_report_texts(const struct pm_report_shader *shader, struct pm_buffer *out)
{
    char anchor[PM_REPORT_ANCHOR];
    pm_report_anchor(shader, anchor);
    return pm_buffer_append_string(out, "<div class=texts>") && write_files(shader, anchor, out) &&
           write_glsl(shader, anchor, out) && write_spirv(shader, anchor, out) &&
           pm_buffer_append_string(out, "</div>");
}
