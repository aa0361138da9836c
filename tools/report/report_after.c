/* The shader after specialize_zero: which values it tests, and what changes. */
#include "tools/report/report_after.h"
#include "tools/common/estimates.h"
#include "tools/report/report_diff.h"
#include "tools/report/report_html.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CONTEXT = 3, SHORTEST_SKIP = 8 }; /* lines */

static bool write_number(struct pm_buffer *out, double number)
{
    return isfinite(number) ? pm_buffer_printf(out, "<td>%.4g", number)
                            : pm_buffer_append_string(out, "<td>");
}

static bool write_tests(const struct pm_report_shader *shader, struct pm_buffer *out)
{
    const struct pm_report_specialized *after = &shader->specialized;
    char anchor[PM_REPORT_ANCHOR];
    pm_report_anchor(shader, anchor);
    bool ok = pm_buffer_append_string(
        out, "<div class=scroll tabindex=0 role=region aria-label='values that are tested'><table>"
             "<thead><tr><th>value tested<th>P(zero)<th>region<th>where it is zero<th>test"
             "<th>saved</tr></thead>");
    for (uint32_t i = 0; ok && i < after->test_count; i++) {
        const struct pm_report_test *test = &after->tests[i];
        ok = pm_buffer_append_string(out, "<tr><td class=key>");
        if (ok && test->line != UINT32_MAX)
            ok = pm_buffer_printf(out, "<a href='#%s-l%u'>", anchor, test->line);
        ok = ok && pm_html_escape(out, test->name) &&
             (test->line == UINT32_MAX || pm_buffer_append_string(out, "</a>")) &&
             pm_buffer_printf(out, "<td>%.3f", test->probability) &&
             write_number(out, test->region) && write_number(out, test->specialized) &&
             write_number(out, test->check) && write_number(out, test->saved) &&
             pm_buffer_append_string(out, "</tr>");
    }
    return ok && pm_buffer_append_string(
                     out, "</table></div><p class=note>Estimated cycles of a subgroup, with the "
                          "default cost table; a machine of the player's may decide "
                          "otherwise.</p>");
}

/* ---- the difference ---- */

struct change {
    const char **from, **to;
    bool *left, *kept;
    size_t from_count, to_count;
};

static const char **texts_of(const struct pm_report_line *lines, size_t count)
{
    const char **texts = calloc(count + 1, sizeof(*texts));
    for (size_t i = 0; texts && i < count; i++)
        texts[i] = lines[i].text;
    return texts;
}

/* Before on the left, after on the right; NULL: there is no such line. */
static bool write_row(struct pm_buffer *out, const char *before, const char *after)
{
    const bool same = before && after;
    return pm_buffer_printf(out, "<tr%s><td class='t%s'>", same ? "" : " class=changed",
                            before && !same ? " gone" : "") &&
           pm_html_escape(out, before ? before : "") &&
           pm_buffer_printf(out, "<td class='t%s'>", after && !same ? " new" : "") &&
           pm_html_escape(out, after ? after : "") && pm_buffer_append_string(out, "</tr>");
}

/* Lines that are in both, from `from` and `to` on: all but those near a change are said in one row.
 */
static bool write_same(const struct change *c, size_t from, size_t to, size_t count,
                       struct pm_buffer *out)
{
    const bool at_end = to + count == c->to_count;
    const size_t before = to == 0 ? 0 : CONTEXT, after = at_end ? 0 : CONTEXT;
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        const size_t skipped = count > before + after ? count - before - after : 0;
        if (i == before && skipped >= SHORTEST_SKIP) {
            ok = pm_buffer_printf(out, "<tr class=skip><td colspan=2>%zu lines as before</tr>",
                                  skipped);
            i += skipped - 1;
        } else {
            ok = write_row(out, c->from[from + i], c->to[to + i]);
        }
    }
    return ok;
}

/* What went and what came in its place stand beside each other. */
static bool write_change(const struct change *c, struct pm_buffer *out)
{
    size_t i = 0, j = 0;
    bool ok = true;
    while (ok && (i < c->from_count || j < c->to_count)) {
        size_t same = 0;
        while (j + same < c->to_count && c->kept[j + same] && i + same < c->from_count &&
               c->left[i + same])
            same++;
        ok = write_same(c, i, j, same, out);
        i += same;
        j += same;
        for (;;) {
            const bool gone = i < c->from_count && !c->left[i],
                       new = j < c->to_count && !c->kept[j];
            if (!ok || (!gone && !new))
                break;
            ok = write_row(out, gone ? c->from[i] : NULL, new ? c->to[j] : NULL);
            i += gone;
            j += new;
        }
    }
    return ok;
}

static bool write_difference(const struct pm_report_shader *shader, struct pm_buffer *out)
{
    const struct pm_report_specialized *after = &shader->specialized;
    struct change c = {
        .from = texts_of(shader->lines, shader->line_count),
        .to = texts_of(after->lines, after->line_count),
        .left = calloc(shader->line_count + 1, sizeof(*c.left)),
        .kept = calloc(after->line_count + 1, sizeof(*c.kept)),
        .from_count = shader->line_count,
        .to_count = after->line_count,
    };
    bool ok =
        c.from && c.to && c.left && c.kept &&
        pm_report_diff(c.from, c.from_count, c.to, c.to_count, c.left, c.kept) &&
        pm_buffer_append_string(out, "<div class=lines tabindex=0 role=region "
                                     "aria-label='GLSL before and after'>"
                                     "<table class='glsl change'><thead><tr><th>the game's own"
                                     "<th>specialized</tr></thead>") &&
        write_change(&c, out) && pm_buffer_append_string(out, "</table></div>");
    free(c.from);
    free(c.to);
    free(c.left);
    free(c.kept);
    return ok;
}

/* Beside all that is estimated. */
static bool write_measured(const struct pm_report_shader *shader, struct pm_buffer *out)
{
    char text[PM_TIMING_TEXT], key[PM_SHADER_KEY_TEXT], note[PM_TIMING_TEXT + 64];
    const struct pm_shader_estimates *timing = NULL;
    while (shader->timings &&
           (timing = pm_estimates_next_timing(shader->timings, shader->estimates, timing))) {
        pm_estimates_describe_timing(timing, text);
        pm_shader_key_format(&timing->key, key);
        snprintf(note, sizeof(note), "%s, as shader %.12s", text, key);
        if (!pm_report_note(out, "Once specialized for zeros: ", note))
            return false;
    }
    return true;
}

static bool write_after(const struct pm_report_shader *shader, struct pm_buffer *out)
{
    const struct pm_report_specialized *after = &shader->specialized;
    if (after->why)
        return pm_report_note(out, "No specialized version: ", after->why);
    if (!shader->zero_estimates || shader->why_no_lines)
        return true;
    if (!after->lines)
        return pm_report_note(out, "Nothing here is worth specializing for zeros.", "");
    return pm_buffer_printf(out, "<h3>Specialized for zeros: %u value%s tested</h3>",
                            after->transforms, after->transforms == 1 ? "" : "s") &&
           write_tests(shader, out) &&
           pm_buffer_append_string(
               out, "<details open class=code><summary>Before and after</summary>") &&
           write_difference(shader, out) && pm_buffer_append_string(out, "</details>");
}

/* As the shader's code has it; without it, as most sessions said. */
static bool write_left_out(const struct pm_report_shader *shader, struct pm_buffer *out)
{
    const struct pm_shader_estimates *said = shader->zero_estimates;
    uint32_t measured = shader->zeros_measured, left_out = shader->zeros_left_out;
    char note[128];
    if (measured == 0 && left_out == 0 && said && said->candidates != 0) {
        measured = said->space;
        left_out = said->candidates - said->space;
    }
    if (left_out == 0)
        return true;
    snprintf(note, sizeof(note), "%u are; %u are left out, as not worth it were they always zero.",
             measured, left_out);
    return pm_report_note(out, "Values that may be zero, measured: ", note);
}

bool pm_report_after(const struct pm_report_shader *shader, struct pm_buffer *out)
{
    return write_left_out(shader, out) && write_measured(shader, out) && write_after(shader, out);
}
