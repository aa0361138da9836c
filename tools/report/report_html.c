#include "tools/report/report_html.h"
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
