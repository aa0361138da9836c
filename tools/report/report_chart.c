#include "tools/report/report_chart.h"
#include <stdio.h>
#include <time.h>

enum { WIDTH = 720, HEIGHT = 200, LEFT = 66, BOTTOM = 30, TOP = 10, RIGHT = 12 };

static void time_text(char *text, size_t size, int64_t seconds)
{
    time_t time = (time_t)seconds;
    struct tm parts;
    gmtime_r(&time, &parts);
    strftime(text, size, "%Y-%m-%d %H:%M:%S", &parts);
}

static double share(const struct pm_report_coverage *sample)
{
    return sample->points ? (double)sample->points_covered / (double)sample->points : 0;
}

bool pm_report_chart(const struct pm_report_coverage *samples, size_t count, struct pm_buffer *out)
{
    if (count == 0)
        return pm_buffer_append_string(out, "<p>No coverage was recorded yet.</p>");
    char first[32], last[32];
    time_text(first, sizeof(first), samples[0].time);
    time_text(last, sizeof(last), samples[count - 1].time);
    double span = (double)(samples[count - 1].time - samples[0].time);
    double width = WIDTH - LEFT - RIGHT, height = HEIGHT - TOP - BOTTOM;
    bool ok = pm_buffer_printf(
        out,
        "<svg class=chart role=img aria-label='coverage over time' viewBox='0 0 %d %d' "
        "width='%d'>",
        WIDTH, HEIGHT, WIDTH);
    for (int percent = 0; ok && percent <= 100; percent += 25) {
        double y = TOP + height * (1 - percent / 100.0);
        ok = pm_buffer_printf(
            out,
            "<path class=grid d='M%d %.1fH%d'/><text class='axis end' x='%d' y='%.1f'>"
            "%d %%</text>",
            LEFT, y, WIDTH - RIGHT, LEFT - 6, y + 4, percent);
    }
    ok = ok && pm_buffer_append_string(out, "<path class=line d='");
    for (size_t i = 0; ok && i < count; i++) {
        /* Samples of one second would share an x: their order is their place then. */
        double at = span > 0 ? (double)(samples[i].time - samples[0].time) / span
                             : (count > 1 ? (double)i / (double)(count - 1) : 1);
        double x = LEFT + width * at, y = TOP + height * (1 - share(&samples[i]));
        ok = i == 0 ? pm_buffer_printf(out, "M%.1f %.1f", x, y)
                    : pm_buffer_printf(out, "H%.1fV%.1f", x, y);
    }
    const struct pm_report_coverage *end = &samples[count - 1];
    ok = ok && pm_buffer_printf(out, "'/><circle class=dot cx='%.1f' cy='%.1f' r='3.5'/>",
                                LEFT + width, TOP + height * (1 - share(end)));
    return ok && pm_buffer_printf(out,
                                  "<text class='axis start' x='%d' y='%d'>%s</text><text "
                                  "class='axis end' x='%d' y='%d'>"
                                  "%s UTC</text></svg><p>%llu of %llu points covered (%.1f "
                                  "%%).</p>",
                                  LEFT, HEIGHT - 8, first, WIDTH - RIGHT, HEIGHT - 8, last,
                                  (unsigned long long)end->points_covered,
                                  (unsigned long long)end->points, 100 * share(end));
}
