/* Blocks that no sampled call ran. */
#include "tools/report/report_html.h"
#include "tools/report/report_verdict.h"
#include <string.h>

static bool never_ran(const struct pm_report_block *block)
{
    return block->sampled && !(block->frequency.ratio > 0);
}

static const char *first_line(const struct pm_report_shader *shader, uint32_t block)
{
    for (size_t i = 0; i < shader->line_count; i++)
        if (shader->lines[i].block == block)
            return shader->lines[i].text + strspn(shader->lines[i].text, " \t");
    return NULL;
}

/* Of its author's, where debug information has one: FILE:LINE and the text. false: there is none,
 * or out of memory, as *ok says. */
static bool write_original(const struct pm_report_shader *shader, uint32_t block,
                           struct pm_buffer *out, bool *ok)
{
    for (uint32_t f = 0; f < shader->file_count; f++) {
        const struct pm_report_text *file = &shader->files[f];
        for (size_t i = 0; i < file->line_count; i++) {
            if (file->lines[i].block != block)
                continue;
            *ok = pm_buffer_append_string(out, " <small>") && pm_html_escape(out, file->name) &&
                  pm_buffer_printf(out, ":%zu</small> <code>", i + 1) &&
                  pm_html_escape(out, file->lines[i].text + strspn(file->lines[i].text, " \t")) &&
                  pm_buffer_append_string(out, "</code>");
            return *ok;
        }
    }
    return false;
}

static bool write_block(const struct pm_report_shader *shader, bool linked, uint32_t number,
                        struct pm_buffer *out)
{
    const char *line = first_line(shader, number);
    char anchor[PM_REPORT_ANCHOR];
    pm_report_anchor(shader, anchor);
    bool ok = linked ? pm_buffer_printf(out, "<li><a href='#%s-%c%u'>block %u</a>", anchor,
                                        line ? 'b' : 'g', number, number)
                     : pm_buffer_printf(out, "<li>block %u", number);
    if (ok && !shader->blocks[number].sampled)
        ok = pm_buffer_append_string(out, ", without a sample");
    if (!ok || write_original(shader, number, out, &ok))
        return ok;
    return ok && (!line || (pm_buffer_append_string(out, " <code>") && pm_html_escape(out, line) &&
                            pm_buffer_append_string(out, "</code>")));
}

static bool write_shader(const struct pm_report_shader *shader, bool linked, struct pm_buffer *out)
{
    bool any = false, ok = true;
    for (uint32_t i = 0; ok && i < shader->block_count; i++) {
        if (shader->blocks[i].sampled && !never_ran(&shader->blocks[i]))
            continue;
        if (!any)
            ok = pm_buffer_append_string(out, "<details open><summary>") &&
                 pm_report_name(shader, out) &&
                 pm_buffer_append_string(out, "</summary><ul class=blocks>");
        any = true;
        ok = ok && write_block(shader, linked, i, out);
    }
    return ok && (!any || pm_buffer_append_string(out, "</ul></details>"));
}

bool pm_report_never(const struct pm_report *report, struct pm_buffer *out)
{
    struct pm_buffer list;
    pm_buffer_init(&list, (size_t)1 << 26);
    bool ok = true;
    for (size_t i = 0; ok && i < report->shader_count; i++)
        ok = write_shader(&report->shaders[i], i < report->shown, &list);
    ok = ok && pm_buffer_append_string(out, "<h2 id=never>Never run</h2>");
    if (ok && list.size == 0)
        ok = pm_buffer_append_string(out, "<p>Every block that has samples ran at least once.</p>");
    else if (ok)
        ok = pm_buffer_append_string(
                 out, "<p class=note>Blocks that no sampled draw or dispatch ran. What a longer or "
                      "another session does may run them.</p>") &&
             pm_buffer_append(out, list.data, list.size);
    pm_buffer_finish(&list);
    return ok;
}
