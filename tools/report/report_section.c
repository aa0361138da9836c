#include "tools/report/report_section.h"
#include "tools/common/grouped.h"
#include "tools/report/report_after.h"
#include "tools/report/report_graph.h"
#include "tools/report/report_html.h"
#include "tools/report/report_text.h"
#include <stdio.h>

static bool write_names(const char *what, const char *names, struct pm_buffer *out)
{
    if (!names || !*names)
        return true;
    return pm_buffer_printf(out, "%s <code>", what) && pm_html_escape(out, names) &&
           pm_buffer_append_string(out, "</code>. ");
}

static bool write_neighbour(const struct pm_report *report, size_t index, const char *what,
                            struct pm_buffer *out)
{
    char anchor[PM_REPORT_ANCHOR];
    pm_report_anchor(&report->shaders[index], anchor);
    return pm_buffer_printf(out, " <a href='#%s'>%s</a>", anchor, what);
}

static bool write_title(const struct pm_report *report, size_t index, struct pm_buffer *out)
{
    const struct pm_report_shader *shader = &report->shaders[index];
    char key[PM_SHADER_KEY_TEXT], anchor[PM_REPORT_ANCHOR], lanes[PM_GROUPED_TEXT];
    pm_shader_key_format(&shader->estimates->key, key);
    pm_report_anchor(shader, anchor);
    bool ok = pm_buffer_printf(out, "<h2 id='%s'>%zu. ", anchor, index + 1) &&
              pm_report_name(shader, out) &&
              pm_buffer_printf(out,
                               " <small>%s, <span class=key>%.12s</span></small>"
                               "<span class=nav><a href='#shaders'>all</a>",
                               pm_report_stage(shader), key);
    if (ok && index > 0)
        ok = write_neighbour(report, index - 1, "previous", out);
    if (ok && index + 1 < report->shown)
        ok = write_neighbour(report, index + 1, "next", out);
    return ok && pm_buffer_append_string(out, "</span></h2><p class=note>") &&
           write_names("Writes", shader->writes, out) && write_names("Uses", shader->uses, out) &&
           pm_buffer_printf(out,
                            "%u block%s, %s sampled invocations, subgroups of %u lanes%s. Key "
                            "<span class=key>%s</span>.</p>",
                            shader->estimates->space, shader->estimates->space == 1 ? "" : "s",
                            pm_grouped(shader->estimates->entry_lanes, lanes),
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
             pm_report_graph(shader, out) && pm_buffer_append_string(out, "</div>");
    return ok && pm_report_texts(shader, out) && pm_buffer_append_string(out, "</div>") &&
           pm_report_after(shader, out);
}
