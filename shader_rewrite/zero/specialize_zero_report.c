#include "shader_rewrite/zero/specialize_zero_report.h"

#include "base/buffer.h"
#include "shader_rewrite/zero/choose/filter.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

enum { REPORT_CAP = 64 << 20 }; /* bytes */

struct report {
    struct pm_buffer text;
    bool ok;
};

static void say(struct report *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct report *r, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    r->ok = r->ok && length >= 0 && length < (int)sizeof(line) &&
            pm_buffer_append(&r->text, line, (size_t)length);
}

/* JSON has no infinities; a profile's numbers may have made some. */
static void say_number(struct report *r, const char *name, double number)
{
    if (isfinite(number))
        say(r, ",\"%s\":%.6g", name, number);
    else
        say(r, ",\"%s\":null", name);
}

static void say_candidate(struct report *r, const struct pm_zero_account *a, uint32_t i)
{
    const struct pm_zero_candidate *c = &a->points->candidates[i];
    const struct pm_zero_verdict *v = &a->verdicts[i];
    const struct pm_zero_estimate *e = &v->opportunity.estimate;
    say(r, "%s{\"id\":%u,\"values\":[", i ? "," : "", i);
    for (uint32_t k = 0; k < c->value_count; k++)
        say(r, "%s%u", k ? "," : "", c->values[k]);
    say(r, "],\"components\":%u,\"block\":%u", c->components, c->block);
    if (v->of != PM_ZERO_NO_OTHER)
        say(r, ",\"copy_of\":%u", v->of);
    say_number(r, "P(zero)", a->zero[i]);
    if (v->now < a->zero[i] || v->now > a->zero[i])
        say_number(r, "P(zero) now", v->now);
    if (v->opportunity.estimated) {
        say_number(r, "T_R", e->t_r);
        say_number(r, "T_S", e->t_s);
        say_number(r, "T_check", e->t_check);
        say_number(r, "saved", e->saved);
        say_number(r, "su", e->su);
        say_number(r, "su_threshold", e->threshold);
        say_number(r, "MemKilled", e->memory_killed);
        say_number(r, "blocks_S", e->blocks);
        if (v->opportunity.extent.start != PM_NO_BLOCK || v->opportunity.extent.end != PM_NO_BLOCK)
            say(r, ",\"fitted\":true");
    }
    if (v->follows != PM_ZERO_FOLLOWS_NONE)
        say(r, ",\"follows\":%u", v->follows);
    if (v->round && v->with != PM_ZERO_NO_OTHER)
        say(r, ",\"with\":%u", v->with);
    say(r, ",\"taken\":%u,\"reason\":\"%s\"}", v->round,
        v->reason ? v->reason : "there were transforms enough");
}

char *pm_zero_report_write(const struct pm_zero_account *a)
{
    struct report r = {.ok = true};
    pm_buffer_init(&r.text, REPORT_CAP);
    say(&r, "{\"transforms\":%u", a->transforms);
    say_number(&r, "T_shader", a->cycles);
    say_number(&r, "saved", a->saved);
    say(&r, ",\"work\":%llu,\"candidates\":[", (unsigned long long)a->work);
    for (uint32_t i = 0; i < a->points->count; i++)
        say_candidate(&r, a, i);
    say(&r, "]}");
    if (!r.ok)
        pm_buffer_finish(&r.text);
    return (char *)r.text.data;
}
