#include "aggregator/statistics/shift.h"

#include "base/student.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct pm_shift_day {
    double n, r, rr; /* clusters, Σr, Σr² */
};

struct pm_shift_before {
    double w, ww, r;  /* Σw, Σw², Σwr */
    double wwr, wwrr; /* Σw²r, Σw²r² */
    double low, high; /* of the means of days */
    bool known;       /* there were such */
};

/* A mean and how sure it is. */
struct level {
    double mean, variance; /* the latter of a cluster */
    double clusters;       /* effective */
};

static size_t cells_of(const struct pm_shift *shift)
{
    return (size_t)shift->space * shift->measures;
}

void pm_shift_finish(struct pm_shift *shift)
{
    for (unsigned i = 0; i < PM_SHIFT_DAYS; i++)
        free(shift->days[i]);
    free(shift->before);
    *shift = (struct pm_shift){.half_life = shift->half_life};
}

/* ---- days ---- */

static void age(struct pm_shift *shift, uint32_t day)
{
    const double w = shift->half_life == 0 || day <= shift->newest
                         ? 1
                         : exp2(-(double)(day - shift->newest) / shift->half_life);
    for (size_t i = 0; w < 1 && i < cells_of(shift); i++) {
        struct pm_shift_before *before = &shift->before[i];
        before->w *= w;
        before->r *= w;
        before->ww *= w * w;
        before->wwr *= w * w;
        before->wwrr *= w * w;
    }
    shift->newest = day;
}

/* The oldest of the last days is one of those before. */
static bool move_oldest(struct pm_shift *shift)
{
    struct pm_shift_day *oldest = shift->days[0];
    if (!shift->before) {
        shift->before = calloc(cells_of(shift), sizeof(*shift->before));
        if (!shift->before)
            return false;
    }
    age(shift, shift->dates[0]);
    for (size_t i = 0; i < cells_of(shift); i++) {
        struct pm_shift_before *before = &shift->before[i];
        if (oldest[i].n >= PM_SHIFT_CLUSTERS) {
            const double mean = oldest[i].r / oldest[i].n;
            before->low = before->known ? fmin(before->low, mean) : mean;
            before->high = before->known ? fmax(before->high, mean) : mean;
            before->known = true;
        }
        before->w += oldest[i].n;
        before->ww += oldest[i].n;
        before->r += oldest[i].r;
        before->wwr += oldest[i].r;
        before->wwrr += oldest[i].rr;
    }
    memset(oldest, 0, cells_of(shift) * sizeof(*oldest));
    for (unsigned i = 1; i < PM_SHIFT_DAYS; i++) {
        shift->days[i - 1] = shift->days[i];
        shift->dates[i - 1] = shift->dates[i];
    }
    shift->days[PM_SHIFT_DAYS - 1] = oldest;
    shift->count--;
    return true;
}

static struct pm_shift_day *place_of(struct pm_shift *shift, uint32_t day)
{
    if (shift->count > 0 && shift->dates[shift->count - 1] == day)
        return shift->days[shift->count - 1];
    if (shift->count == PM_SHIFT_DAYS && !move_oldest(shift))
        return NULL;
    if (!shift->days[shift->count])
        shift->days[shift->count] = calloc(cells_of(shift) + 1, sizeof(**shift->days));
    if (!shift->days[shift->count])
        return NULL;
    shift->dates[shift->count] = day;
    return shift->days[shift->count++];
}

bool pm_shift_add(struct pm_shift *shift, const struct pm_statistics *statistics, uint32_t day,
                  struct pm_error *error)
{
    if (statistics->space == 0)
        return true;
    if (shift->space == 0) {
        shift->space = statistics->space;
        shift->measures = pm_measure_count(statistics->kind);
    }
    struct pm_shift_day *days = place_of(shift, day);
    if (!days)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u points", shift->space);
    for (size_t i = 0; i < statistics->cell_count; i++) {
        const struct pm_cell *cell = &statistics->cells[i];
        const uint32_t point = pm_cell_point(cell->key);
        struct pm_shift_day *of =
            &days[(size_t)point * shift->measures + pm_cell_measure(cell->key)];
        if (point >= shift->space)
            continue;
        of->n += (double)cell->n;
        of->r += (double)ldexpl(pm_wide_value(&cell->r), -PM_STATISTICS_RATIO_BITS);
        of->rr += (double)ldexpl(pm_wide_value(&cell->rr), -PM_STATISTICS_RATIO_BITS);
    }
    return true;
}

/* ---- looking ---- */

static struct level level_before(const struct pm_shift_before *before)
{
    const double mean = before->r / before->w, clusters = before->w * before->w / before->ww;
    const double spread =
        fmax(before->wwrr - 2 * mean * before->wwr + mean * mean * before->ww, 0) / before->ww;
    return (struct level){mean, clusters > 1 ? spread * clusters / (clusters - 1) : spread,
                          clusters};
}

/* Of the last days. false: one of them says too little. */
static bool level_after(const struct pm_shift *shift, size_t i, struct level *level)
{
    double n = 0, r = 0, rr = 0;
    for (unsigned j = 0; j < PM_SHIFT_DAYS; j++) {
        const struct pm_shift_day *day = &shift->days[j][i];
        if (day->n < PM_SHIFT_CLUSTERS)
            return false;
        n += day->n;
        r += day->r;
        rr += day->rr;
    }
    const double mean = r / n;
    *level = (struct level){mean, fmax(rr - n * mean * mean, 0) / (n - 1), n};
    return true;
}

/* Of the mean, with a little for what was not seen. scale: of the ratios. */
static double variance_of(const struct level *level, double scale)
{
    return (level->variance + scale * scale / (4 * (level->clusters + 4))) / level->clusters;
}

static bool is_shift(const struct pm_shift *shift, size_t i, double allowed)
{
    struct level after;
    if (!shift->before[i].known || !level_after(shift, i, &after))
        return false;
    const struct level before = level_before(&shift->before[i]);
    const double difference = after.mean - before.mean;
    const double least = fmax(PM_SHIFT_LEAST, PM_SHIFT_LEAST_RELATIVE * before.mean);
    if (before.clusters < PM_SHIFT_CLUSTERS || fabs(difference) < least)
        return false;
    for (unsigned j = 0; j < PM_SHIFT_DAYS; j++) {
        const double mean = shift->days[j][i].r / shift->days[j][i].n;
        if (difference > 0 ? mean < shift->before[i].high + least / 2
                           : mean > shift->before[i].low - least / 2)
            return false;
    }
    const double scale = fmax(1, fmax(before.mean, after.mean));
    const double v = variance_of(&before, scale), w = variance_of(&after, scale);
    /* Satterthwaite's. */
    const double degrees =
        (v + w) * (v + w) /
        (v * v / fmax(before.clusters - 1, 1) + w * w / fmax(after.clusters - 1, 1));
    return fabs(difference) > sqrt(v + w) * pm_student_t(allowed, degrees);
}

bool pm_shift_find(struct pm_shift *shift, uint32_t *since)
{
    const double allowed = PM_SHIFT_ERROR / PM_SHIFT_LOOKS / (double)(cells_of(shift) + 1);
    bool found = false;
    if (!shift->before || shift->count < PM_SHIFT_DAYS)
        return false;
    for (size_t i = 0; !found && i < cells_of(shift); i++)
        found = is_shift(shift, i, allowed);
    if (!found)
        return false;
    *since = shift->dates[0];
    free(shift->before);
    shift->before = NULL;
    return true;
}
