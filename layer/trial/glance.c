#include "layer/trial/glance.h"

#include <math.h>

enum {
    EVERY = 256,           /* heartbeats between two, at first */
    LEAST_OFTEN = 1 << 14, /* the same where they were followed by trials in vain */
    UNDRAWN = 1 << 11,     /* the same at most of what is not drawn with */
    ODD = 32,              /* pairs whose halves are of two sizes, at most */
    TRACKED = 64,          /* heartbeats within which a half begins, if any does */
    RESULTS = 512,         /* and within which a pair's times are there */
};

/* Of the sum: more is hardly chance. Simulated, as all three below, in test_glance_alarms.c. */
#define ALARM 2.9
/* A pair counts as 1 from so many times the usual difference on. */
#define WHOLE 2.25
/* With each pair the usual difference grows or shrinks by so much, toward the median. */
#define FOLLOWS 1.15
/* So much of `every` there is for each pair; what was not needed is saved, up to so many times
 * `every`. */
#define REST 0.78
#define SAVED 2.0

void pm_glance_init(struct pm_glance *glance)
{
    *glance = (struct pm_glance){.every = EVERY, .wait = EVERY};
}

void pm_glance_go_on(struct pm_glance *glance, uint32_t uses, uint64_t lot)
{
    atomic_store(&glance->skipped, uses > 1 ? (uint32_t)(lot % uses) : 0);
    atomic_store(&glance->pair, PM_GLANCE_NONE);
}

void pm_glance_begin(struct pm_glance *glance, int64_t charged, uint32_t uses, uint64_t lot)
{
    glance->told = true;
    glance->odd = 0;
    atomic_store(&glance->charged, charged);
    atomic_store(&glance->prepaid, charged);
    atomic_store(&glance->denied, false);
    pm_glance_go_on(glance, uses, lot);
    atomic_store(&glance->on, true);
}

int64_t pm_glance_end(struct pm_glance *glance)
{
    atomic_store(&glance->on, false);
    atomic_store(&glance->prepaid, 0);
    return atomic_exchange(&glance->charged, 0);
}

/* A longer rest is over: it was had before this one began. */
static void wait_longer(struct pm_glance *glance)
{
    const uint32_t longer = glance->wait < UNDRAWN / 2 ? 2 * glance->wait : UNDRAWN;
    glance->wait = longer > glance->every ? longer : glance->every;
}

bool pm_glance_finds_nothing(struct pm_glance *glance, uint64_t idle)
{
    const bool whole = atomic_load(&glance->pair) == PM_GLANCE_WHOLE,
               denied = atomic_load(&glance->denied);
    if (idle < (whole ? RESULTS : TRACKED))
        return false;
    glance->undrawn = !whole && !denied;
    if (!denied)
        wait_longer(glance);
    return true;
}

bool pm_glance_is_odd(struct pm_glance *glance)
{
    if (++glance->odd < ODD)
        return false;
    wait_longer(glance);
    return true;
}

/* How much a pair says, of either side: -1 to 1. */
static double says(struct pm_glance *glance, double log_ratio)
{
    const double size = fabs(log_ratio);
    if (!isfinite(size))
        return isnan(size) ? 0 : copysign(1, log_ratio); /* a time of 0 */
    if (!(glance->usual > 0))
        glance->usual = size;
    if (!(size > 0))
        return 0;
    const double share = fmin(size / (WHOLE * glance->usual), 1);
    glance->usual *= size > glance->usual ? FOLLOWS : 1 / FOLLOWS;
    return copysign(share, log_ratio);
}

/* For all pairs since the last rest. */
static uint32_t rest(struct pm_glance *glance)
{
    const double due = fmax(glance->due + REST * glance->pairs - 1, -SAVED);
    glance->pairs = 0;
    glance->due = fmin(due, 0);
    return (uint32_t)fmax(fmin((1 + fmax(due, 0)) * glance->every, LEAST_OFTEN), glance->every);
}

enum pm_glance_says pm_glance_take(struct pm_glance *glance, double log_ratio, int64_t charged)
{
    atomic_fetch_sub(&glance->charged, charged);
    glance->undrawn = false;
    glance->pairs++;
    glance->slower = fmax(glance->slower + says(glance, log_ratio), 0);
    glance->alarmed = glance->slower >= ALARM;
    glance->wait = glance->slower > 0 ? glance->every : rest(glance);
    return glance->alarmed      ? PM_GLANCE_ALARM
           : glance->slower > 0 ? PM_GLANCE_GOES_ON
                                : PM_GLANCE_RESTS;
}

void pm_glance_was_tried(struct pm_glance *glance)
{
    if (glance->alarmed && glance->every < LEAST_OFTEN)
        glance->every *= 2;
    else if (!glance->alarmed && glance->every > EVERY)
        glance->every /= 2;
    glance->alarmed = false;
    glance->undrawn = false;
    glance->slower = 0;
    glance->pairs = 0;
    glance->wait = glance->every;
}

bool pm_glance_begin_pair(struct pm_glance *glance)
{
    if (!pm_glance_is_on(glance))
        return true;
    if (atomic_load(&glance->pair) != PM_GLANCE_NONE)
        return false;
    uint32_t left = atomic_load(&glance->skipped), none = PM_GLANCE_NONE;
    if (left > 0) {
        atomic_compare_exchange_strong(&glance->skipped, &left, left - 1);
        return false;
    }
    return atomic_compare_exchange_strong(&glance->pair, &none, PM_GLANCE_HALF);
}

void pm_glance_charge_pair(struct pm_glance *glance, int64_t charged)
{
    atomic_fetch_add(&glance->charged, charged);
    atomic_store(&glance->denied, false);
}

void pm_glance_deny_pair(struct pm_glance *glance, bool spent)
{
    if (spent)
        atomic_store(&glance->denied, true);
    atomic_store(&glance->pair, PM_GLANCE_NONE);
}

void pm_glance_second_half(struct pm_glance *glance)
{
    uint32_t half = PM_GLANCE_HALF;
    atomic_compare_exchange_strong(&glance->pair, &half, PM_GLANCE_WHOLE);
}
