#include "tools/report/report_html.h"
#include "base/utf8.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

bool pm_html_escape(struct pm_buffer *out, const char *text)
{
    bool ok = true;
    while (ok && *text) {
        const size_t plain = strcspn(text, "<>&\"'"), good = pm_utf8_check(text, plain);
        ok = pm_buffer_append(out, text, good);
        text += good;
        if (ok && good < plain) { /* compilers mangle what is not ASCII in sources */
            ok = pm_buffer_append_string(out, "&#65533;");
            text++;
        } else if (ok && *text) {
            ok = pm_buffer_printf(out, "&#%d;", *text++);
        }
    }
    return ok;
}

void pm_report_anchor(const struct pm_report_shader *shader, char anchor[static PM_REPORT_ANCHOR])
{
    char key[PM_SHADER_KEY_TEXT];
    const struct pm_shader_estimates *estimates = shader->estimates;
    pm_shader_key_format(&estimates->key, key);
    const int used =
        snprintf(anchor, PM_REPORT_ANCHOR, "s%.12s-%u", key, estimates->environment.subgroup_size);
    if (estimates->flags)
        snprintf(anchor + used, PM_REPORT_ANCHOR - (size_t)used, "-%u", estimates->flags);
}

/* Up to once an invocation in five steps, then by powers of two to 32 runs. */
unsigned pm_report_heat_runs(double frequency)
{
    if (!(frequency > 0))
        return 0;
    return (unsigned)(frequency <= 1 ? fmax(1, round(5 * frequency))
                                     : fmin(5 + ceil(log2(frequency) * 4 / 5), 9));
}

void pm_report_heat(const struct pm_report_shader *shader, uint32_t block, double part,
                    char classes[static PM_REPORT_HEAT])
{
    if (!shader->blocks[block].sampled) {
        snprintf(classes, PM_REPORT_HEAT, "cx fx");
        return;
    }
    /* By the root, so that what is small can be told apart too. */
    const double level = 9 * sqrt(fmin(fmax(part, 0), 1));
    snprintf(classes, PM_REPORT_HEAT, "c%u f%u", (unsigned)(part > 0 ? fmax(1, round(level)) : 0),
             pm_report_heat_runs(shader->blocks[block].frequency.ratio));
}

bool pm_report_name(const struct pm_report_shader *shader, struct pm_buffer *out)
{
    char key[PM_SHADER_KEY_TEXT];
    if (shader->name)
        return pm_html_escape(out, shader->name);
    pm_shader_key_format(&shader->estimates->key, key);
    return pm_buffer_printf(out, "shader %.12s", key);
}

void pm_report_percent(double share, char text[static PM_REPORT_PERCENT])
{
    const double percent = 100 * share;
    if (percent > 0 && percent < 0.05)
        snprintf(text, PM_REPORT_PERCENT, "≈ 0 %%");
    else
        snprintf(text, PM_REPORT_PERCENT, percent >= 9.95 ? "%.0f %%" : "%.1f %%", percent);
}

const char *pm_report_stage(const struct pm_report_shader *shader)
{
    if (!shader->block_count)
        return "unknown";
    return shader->stage == PM_STAGE_COMPUTE ? "compute" : "fragment";
}

bool pm_report_note(struct pm_buffer *out, const char *what, const char *why)
{
    return pm_buffer_append_string(out, "<p class=note>") && pm_html_escape(out, what) &&
           pm_html_escape(out, why) && pm_buffer_append_string(out, "</p>");
}
