/*
 * Why a shader is not published: the first condition that fails, by how much, and when it will be
 * met at the present rate.
 *
 * Thread safety: no state.
 */
#pragma once

#include "aggregator/curation/curate.h"

enum pm_reason_kind {
    PM_REASON_NONE,     /* it is published, or will be with the next publication */
    PM_REASON_TOKENS,   /* distinct tokens of one day */
    PM_REASON_SESSIONS, /* sessions that entered a point that has not run */
    PM_REASON_PAIRS,    /* timed pairs */
    PM_REASON_INTERVAL, /* half of the widest interval, which has to become narrower */
    PM_REASONS,
};

struct pm_reason {
    enum pm_reason_kind kind;
    uint32_t point;       /* the one that is furthest from it; of tokens 0 */
    float have, need;     /* of what the kind names */
    float sessions_a_day; /* of the shader, since its first day within the retention */
    float days;           /* until it is met, at that rate; infinite: it cannot be told */
    float players; /* of an interval where more days of the same players do not help (estimate.h):
                      so many on one day would; else 0 */
};

/* "tokens", "sessions", "pairs", "interval"; NULL for none. */
const char *pm_reason_name(enum pm_reason_kind kind);

struct pm_reason pm_reason_of(const struct pm_curator *curator, const struct pm_judged *judged);
