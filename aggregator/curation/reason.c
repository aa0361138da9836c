#include "aggregator/curation/reason.h"

#include <math.h>

const char *pm_reason_name(enum pm_reason_kind kind)
{
    static const char *const names[PM_REASONS] = {[PM_REASON_TOKENS] = "tokens",
                                                  [PM_REASON_SESSIONS] = "sessions",
                                                  [PM_REASON_PAIRS] = "pairs",
                                                  [PM_REASON_INTERVAL] = "interval"};
    return names[kind];
}

/* How many times more sessions a point needs; 1: no more. */
static double lacks(const struct pm_curator *curator, const struct pm_shader_estimates *shader,
                    uint32_t i, struct pm_reason *reason)
{
    const struct pm_point_estimate *point = &shader->points[i];
    const struct pm_coverage_rules *rules = &curator->rules;
    const bool timing = shader->kind == PM_KIND_TIMING;
    reason->point = i;
    if (!pm_is_covered(rules, shader->kind, point)) {
        reason->kind = timing ? PM_REASON_PAIRS : PM_REASON_SESSIONS;
        reason->have = (float)(timing ? point->calls : point->sessions);
        reason->need = (float)(timing ? rules->pairs_for_timing : rules->sessions_for_never);
        return reason->have > 0 ? (double)reason->need / (double)reason->have : HUGE_VAL;
    }
    const struct pm_width widest = pm_widest(rules, shader->kind, point);
    reason->kind = PM_REASON_INTERVAL;
    reason->have = (float)widest.have;
    reason->need = (float)widest.need;
    /* Intervals narrow with the square root of the sessions. */
    const double times = widest.have / widest.need;
    return times > 1 ? times * times : 1;
}

/* Of the points that lack samples, the one that takes longest. */
static struct pm_reason longest(const struct pm_curator *curator, const struct pm_judged *judged)
{
    const struct pm_shader_estimates *shader = judged->shader;
    struct pm_reason most = {.kind = PM_REASON_NONE};
    double sessions = -1;
    for (uint32_t i = 0; i < shader->space; i++) {
        struct pm_reason one = {.kind = PM_REASON_NONE};
        if (!shader->deficit || (shader->deficit[i / 8] >> i % 8 & 1) == 0)
            continue;
        const double times = lacks(curator, shader, i, &one);
        const double has = shader->points[i].sessions > 0 ? shader->points[i].sessions : 1;
        const double more = isinf(times) ? (double)one.need : (times - 1) * has;
        if (more <= sessions)
            continue;
        sessions = more;
        most = one;
    }
    most.days = (float)sessions; /* of the rate: the caller's */
    return most;
}

struct pm_reason pm_reason_of(const struct pm_curator *curator, const struct pm_judged *judged)
{
    const double days = judged->days > 0 ? judged->days : 1;
    double most = 0;
    struct pm_reason reason = {.kind = PM_REASON_NONE};
    for (size_t i = 0; i < judged->statistics->count; i++)
        most = fmax(most, judged->shader->points[judged->statistics->points[i].point].sessions);
    if (!judged->vouched) {
        reason = (struct pm_reason){.kind = PM_REASON_TOKENS,
                                    .have = (float)judged->tokens,
                                    .need = (float)curator->min_tokens,
                                    .days = INFINITY};
    } else if (judged->lacking > 0) {
        reason = longest(curator, judged);
        /* As many times more independent clusters as the square of what it is too wide by. */
        if (reason.kind == PM_REASON_INTERVAL && curator->strangers) {
            const double times = (double)reason.have / (double)reason.need;
            reason.players = (float)ceil(judged->clusters_a_day * fmax(times * times, 1));
            reason.days = INFINITY;
        }
        reason.days = most > 0 ? (float)((double)reason.days * days / most) : INFINITY;
    }
    reason.sessions_a_day = (float)(most / days);
    return reason;
}
