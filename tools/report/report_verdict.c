#include "tools/report/report_verdict.h"
#include "tools/common/estimates.h"
#include "tools/report/report_html.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

double pm_report_heat_of_all(const struct pm_report *report)
{
    double sum = 0;
    for (size_t i = 0; i < report->shader_count; i++)
        sum += report->shaders[i].heat;
    return sum;
}

/* ---- how many more frames ---- */

/* Sessions from which on they say more than the pairs of the last one. */
enum { ENOUGH_SESSIONS = 3 };

/* What is known best: of all sessions, or of the one. */
static struct pm_paired best_of(const struct pm_gain *gain)
{
    return gain->session_count >= ENOUGH_SESSIONS
               ? pm_gain_over_sessions(gain)
               : (struct pm_paired){gain->ratio, gain->low, gain->high, gain->pairs};
}

static bool is_measurable(const struct pm_gain *gain)
{
    const struct pm_paired best = best_of(gain);
    return pm_gain_answer(best.low, best.high) == PM_GAIN_CHANGED;
}

static bool write_frames(const struct pm_gain *gain, struct pm_buffer *out)
{
    const struct pm_paired best = best_of(gain);
    const double percent = pm_gain_percent(best.ratio);
    const double low = pm_gain_percent(best.high), high = pm_gain_percent(best.low);
    if (is_measurable(gain))
        return pm_buffer_printf(
            out,
            "<p class=verdict><b>%+.1f %%</b> frames a second with specialized shaders</p>"
            "<p>Between %+.1f and %+.1f %% (95 %% interval).",
            percent, low, high);
    const bool narrow = pm_gain_answer(best.low, best.high) == PM_GAIN_NO_CHANGE;
    return pm_buffer_printf(
        out,
        "<p class=verdict><b>%s</b> %s specialized shaders</p>"
        "<p>%+.1f %% frames a second, but it may be anything between %+.1f and %+.1f %% (95 %% "
        "interval)%s.",
        narrow ? "No measurable change" : "Not known yet",
        narrow ? "with" : "whether frames are faster with", percent, low, high,
        narrow ? "" : "; more or longer sessions, or a quieter machine, say more");
}

/* What the interval is of. */
static bool write_what_of(const struct pm_gain *gain, struct pm_buffer *out)
{
    return gain->session_count >= ENOUGH_SESSIONS
               ? pm_buffer_printf(out, " It is of %u sessions. In the last one a frame",
                                  gain->session_count)
               : pm_buffer_append_string(
                     out, " It is of one session, and another one may find something else. A frame");
}

static bool write_gain(const struct pm_gain *gain, struct pm_buffer *out)
{
    char when[32];
    time_t at = (time_t)gain->at;
    struct tm parts;
    gmtime_r(&at, &parts);
    strftime(when, sizeof(when), "%Y-%m-%d", &parts);
    return write_frames(gain, out) && write_what_of(gain, out) &&
           pm_buffer_printf(
               out, " took %.2f ms, and takes %.2f ms. Measured on %s over %llu frames on ",
               gain->original / 1e6, gain->optimized / 1e6, when,
               (unsigned long long)gain->frames) &&
           pm_html_escape(out, gain->device) && pm_buffer_append_string(out, ".</p>");
}

static bool write_no_gain(struct pm_buffer *out)
{
    return pm_buffer_append_string(out, "<p class=verdict><b>Frames were not compared "
                                        "yet</b></p><p><code>piecemeal run --local --ab -- "
                                        "PROGRAM</code> plays with the game's own shaders and with "
                                        "specialized ones in turn, and says how many more "
                                        "frames that makes.</p>");
}

/* ---- the shaders that made it ---- */

/* What is known of a shader once it is specialized. */
struct part {
    bool in_use;                  /* while frames were compared */
    const struct pm_ratio *timed; /* its time over its own before; NULL: not timed */
    double
        saved; /* share of its cycles that specializing saves; estimated where it was not timed */
};

static bool was_in_use(const struct pm_report *report, const struct pm_report_shader *shader)
{
    for (uint32_t i = 0; report->gain && i < report->gain->shader_count; i++)
        if (pm_shader_key_equal(&report->gain->shaders[i], &shader->estimates->key))
            return true;
    return false;
}

/* The published timing with most sessions, of all its devices. */
static const struct pm_ratio *timing_of(const struct pm_report_shader *shader)
{
    const struct pm_ratio *best = NULL;
    const struct pm_shader_estimates *timing = NULL;
    while (shader->timings &&
           (timing = pm_estimates_next_timing(shader->timings, shader->estimates, timing))) {
        const struct pm_ratio *time =
            timing->points ? &timing->points[0].measures[PM_MEASURE_TIME] : NULL;
        if (time && time->clusters > 0 && (!best || time->clusters > best->clusters))
            best = time;
    }
    return best;
}

static struct part part_of(const struct pm_report *report, const struct pm_report_shader *shader)
{
    struct part part = {.in_use = was_in_use(report, shader), .timed = timing_of(shader)};
    double saved = 0;
    for (uint32_t i = 0; i < shader->specialized.test_count; i++)
        if (isfinite(shader->specialized.tests[i].saved))
            saved += shader->specialized.tests[i].saved;
    part.saved = part.timed           ? 1 - part.timed->mean
                 : shader->cycles > 0 ? fmin(saved / shader->cycles, 1)
                                      : 0;
    return part;
}

/* Those that were in use, and where nothing was compared those that would be. */
static bool takes_part(const struct pm_report *report, const struct pm_report_shader *shader,
                       const struct part *part)
{
    return report->gain ? part->in_use : part->timed || shader->specialized.transforms > 0;
}

static bool write_part(const struct pm_report *report, size_t index, const struct part *part,
                       double all, double saved, struct pm_buffer *out)
{
    const struct pm_report_shader *shader = &report->shaders[index];
    char anchor[PM_REPORT_ANCHOR], text[PM_REPORT_PERCENT];
    char key[PM_SHADER_KEY_TEXT];
    pm_report_anchor(shader, anchor);
    pm_shader_key_format(&shader->estimates->key, key);
    bool ok = pm_buffer_append_string(out, "<tr><td>") &&
              (index >= report->shown || pm_buffer_printf(out, "<a href='#%s'>", anchor)) &&
              pm_report_name(shader, out) &&
              (index >= report->shown || pm_buffer_append_string(out, "</a>")) &&
              pm_buffer_printf(out, " <small class=key>%.12s</small>", key);
    pm_report_percent(all > 0 ? shader->heat / all : 0, text);
    ok = ok && pm_buffer_printf(out, "<td>%s", text);
    if (ok && part->timed && part->timed->clusters == 1)
        ok = pm_buffer_printf(out, "<td>%.2f, one session", part->timed->mean);
    else if (ok && part->timed)
        ok = pm_buffer_printf(out, "<td>%.2f [%.2f, %.2f]", part->timed->mean,
                              part->timed->mean_low, part->timed->mean_high);
    else if (ok && part->saved > 0)
        ok = pm_buffer_printf(out, "<td>%.2f, estimated", 1 - part->saved);
    else
        ok = ok && pm_buffer_append_string(out, "<td>not timed");
    pm_report_percent(saved > 0 ? fmax(shader->heat * part->saved, 0) / saved : 0, text);
    return ok && pm_buffer_printf(out, "<td>%s</tr>",
                                  saved > 0 && part->saved > 0 ? text
                                  : part->timed                ? "0 %" /* and no faster */
                                                               : "–");
}

static bool write_parts(const struct pm_report *report, struct pm_buffer *out)
{
    double all = pm_report_heat_of_all(report), saved = 0;
    size_t count = 0, unknown = 0;
    for (size_t i = 0; i < report->shader_count; i++) {
        const struct part part = part_of(report, &report->shaders[i]);
        if (takes_part(report, &report->shaders[i], &part)) {
            saved += fmax(report->shaders[i].heat * part.saved, 0);
            unknown += !part.timed && !(part.saved > 0);
            count++;
        }
    }
    bool ok = pm_buffer_printf(out, "<section class=parts><h3>%s</h3>",
                               !report->gain                 ? "What could be specialized"
                               : is_measurable(report->gain) ? "The shaders that made it"
                                                             : "The specialized shaders");
    if (ok && count == 0)
        return pm_buffer_append_string(out, "<p>None of the shaders known here.</p></section>");
    ok = ok &&
         pm_buffer_printf(out,
                          "<div class=scroll><table><thead><tr><th>shader<th>cost<th>time "
                          "once specialized<th>part of the %s</tr></thead>",
                          report->gain && is_measurable(report->gain) ? "gain" : "estimated gain");
    for (size_t i = 0; ok && i < report->shader_count; i++) {
        const struct part part = part_of(report, &report->shaders[i]);
        if (takes_part(report, &report->shaders[i], &part))
            ok = write_part(report, i, &part, all, saved, out);
    }
    return ok && pm_buffer_printf(out,
                                  "</table></div><p class=note>Cost: its share of all shaders' "
                                  "estimated cycles. Time: of its own before, with the 95&#160;%% "
                                  "interval where it was timed. The parts follow from both%s.</p>"
                                  "</section>",
                                  unknown ? "; –: not known, since only what is saved by zeros is "
                                            "estimated without timing"
                                          : "");
}

/* ---- what was never run ---- */

static bool write_never(const struct pm_report *report, struct pm_buffer *out)
{
    uint64_t blocks = 0, never = 0, unknown = 0;
    size_t with = 0, absent = 0;
    for (size_t i = 0; i < report->shader_count; i++) {
        const struct pm_report_shader *shader = &report->shaders[i];
        uint64_t before = never;
        for (uint32_t b = 0; b < shader->block_count; b++) {
            never += shader->blocks[b].sampled && !(shader->blocks[b].frequency.ratio > 0);
            unknown += !shader->blocks[b].sampled;
        }
        blocks += shader->block_count;
        with += never > before;
        absent += shader->block_count == 0;
    }
    bool ok = pm_buffer_append_string(out, "<section><h3>Never run</h3><p>");
    if (ok && blocks == unknown)
        ok = pm_buffer_append_string(out, "No block has samples yet.");
    else if (ok && never == 0)
        ok = pm_buffer_printf(out, "All %llu blocks that have samples ran.",
                              (unsigned long long)(blocks - unknown));
    else if (ok)
        ok = pm_buffer_printf(
            out,
            "<b>%llu of %llu blocks</b>, in %zu of %zu shaders: <a href='#never'>the list</a>.",
            (unsigned long long)never, (unsigned long long)blocks, with, report->shader_count);
    if (ok && unknown > 0 && unknown < blocks)
        ok = pm_buffer_printf(out, " %llu ha%s no sample yet.", (unsigned long long)unknown,
                              unknown == 1 ? "s" : "ve");
    if (ok && absent > 0)
        ok = pm_buffer_printf(out, " Of %zu shader%s this machine has no code.", absent,
                              absent == 1 ? "" : "s");
    return ok && pm_buffer_append_string(out, "</p></section>");
}

/* ---- how sure it is ---- */

static bool is_software(const char *device)
{
    static const char *const names[] = {"llvmpipe", "lavapipe", "SwiftShader"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strstr(device, names[i]))
            return true;
    return false;
}

static bool write_sessions(const struct pm_report *report, struct pm_buffer *out)
{
    uint64_t points = 0, covered = 0;
    uint32_t sessions = 0;
    size_t ready = 0;
    for (size_t i = 0; i < report->shader_count; i++) {
        const struct pm_shader_estimates *estimates = report->shaders[i].estimates;
        struct pm_coverage coverage;
        if (!pm_estimates_coverage(estimates, &coverage))
            return false;
        points += coverage.points;
        covered += coverage.covered;
        ready += estimates->published;
        for (uint32_t p = 0; estimates->points && p < estimates->space; p++)
            if (estimates->points[p].sessions > sessions)
                sessions = estimates->points[p].sessions;
    }
    return pm_buffer_printf(out,
                            "<li>The profile is of %s%u session%s; %llu of %llu blocks have "
                            "samples, and %zu of %zu "
                            "shaders enough of them to go by.",
                            sessions == 1 ? "" : "up to ", sessions, sessions == 1 ? "" : "s",
                            (unsigned long long)covered, (unsigned long long)points, ready,
                            report->shader_count) &&
           (sessions != 1 ||
            pm_buffer_append_string(out,
                                    "<li>One session says nothing of how far others are from it."));
}

static bool write_sure(const struct pm_report *report, struct pm_buffer *out)
{
    bool ok = pm_buffer_append_string(out, "<section><h3>How sure</h3><ul>");
    if (ok && report->gain)
        ok = pm_buffer_printf(out,
                              "<li>Frames were compared in %u pairs of blocks of %u frames that "
                              "took turns, within one "
                              "session: another scene, driver or machine may gain more or less.",
                              report->gain->pairs, report->gain->block);
    if (ok && report->gain && is_software(report->gain->device))
        ok = pm_buffer_append_string(
            out, "<li>The driver computes in software; a GPU spends its time otherwise.");
    return ok && write_sessions(report, out) &&
           pm_buffer_append_string(
               out,
               "<li>Costs are estimated from the shaders' instructions, not timed.</ul></section>");
}

bool pm_report_verdict(const struct pm_report *report, struct pm_buffer *out)
{
    return pm_buffer_append_string(out, "<div class=first><section class=gain>") &&
           (report->gain ? write_gain(report->gain, out) : write_no_gain(out)) &&
           pm_buffer_append_string(out, "</section>") && write_parts(report, out) &&
           write_never(report, out) && write_sure(report, out) &&
           pm_buffer_append_string(out, "</div>");
}
