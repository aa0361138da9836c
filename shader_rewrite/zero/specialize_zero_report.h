/*
 * What specialize_zero says in the end: why each candidate was taken or not, as JSON (zero.h,
 * struct pm_specialized).
 *
 * Thread safety: no state.
 */
#pragma once

#include "shader_rewrite/zero/choose/opportunity.h"

#define PM_ZERO_NO_OTHER UINT32_MAX

/* What is said of a candidate. */
struct pm_zero_verdict {
    const char *reason; /* NULL: not yet */
    uint32_t follows;   /* another candidate, from which it follows; or PM_ZERO_FOLLOWS_NONE */
    uint32_t round;     /* 1…: in which it was taken; 0: it was not */
    uint32_t with;      /* where it was taken: the other of its pair, or PM_ZERO_NO_OTHER */
    uint32_t of; /* the point of whose value it is a copy, or PM_ZERO_NO_OTHER: it is a point */
    double now;  /* P(zero), where the checks before it have left it */
    struct pm_zero_opportunity opportunity; /* the last */
};

struct pm_zero_account {
    const struct pm_zero_points *points;
    const double *zero;                     /* by candidate: P(zero) when it came */
    const struct pm_zero_verdict *verdicts; /* by candidate */
    uint32_t transforms;
    uint64_t work;
    double cycles, saved; /* what the shader costs as it was, and what the transforms save */
};

/* Text to be freed by the caller. NULL: out of memory. */
char *pm_zero_report_write(const struct pm_zero_account *account);
