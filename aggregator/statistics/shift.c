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

/* A space costs an uploader nothing: only what was seen has a row. */
struct pm_shift_row {
    uint64_t cell;                           /* as cell_of() says */
    struct pm_shift_day days[PM_SHIFT_DAYS]; /* the last ones, the oldest first */
    struct pm_shift_before before;
};

static uint64_t cell_of(const struct pm_shift *shift, const struct pm_cell *cell)
{
    return (uint64_t)pm_cell_point(cell->key) * shift->measures + pm_cell_measure(cell->key);
}

void pm_shift_finish(struct pm_shift *shift)
{
    free(shift->rows);
    *shift = (struct pm_shift){.half_life = shift->half_life};
}

/* ---- days ---- */

static void age(struct pm_shift *shift, uint32_t day)
{
    const double w = shift->half_life == 0 || day <= shift->newest
                         ? 1
                         : exp2(-(double)(day - shift->newest) / shift->half_life);
    for (size_t i = 0; w < 1 && i < shift->row_count; i++) {
        struct pm_shift_before *before = &shift->rows[i].before;
        before->w *= w;
        before->r *= w;
        before->ww *= w * w;
        before->wwr *= w * w;
        before->wwrr *= w * w;
    }
    shift->newest = day;
}

/* The oldest of the last days is one of those before. */
static void move_oldest(struct pm_shift *shift)
{
    age(shift, shift->dates[0]);
    for (size_t i = 0; i < shift->row_count; i++) {
        struct pm_shift_row *row = &shift->rows[i];
        const struct pm_shift_day oldest = row->days[0];
        struct pm_shift_before *before = &row->before;
        if (oldest.n >= PM_SHIFT_CLUSTERS) {
            const double mean = oldest.r / oldest.n;
            before->low = before->known ? fmin(before->low, mean) : mean;
            before->high = before->known ? fmax(before->high, mean) : mean;
            before->known = true;
        }
        before->w += oldest.n;
        before->ww += oldest.n;
        before->r += oldest.r;
        before->wwr += oldest.r;
        before->wwrr += oldest.rr;
        memmove(row->days, row->days + 1, (PM_SHIFT_DAYS - 1) * sizeof(*row->days));
        row->days[PM_SHIFT_DAYS - 1] = (struct pm_shift_day){0};
    }
    memmove(shift->dates, shift->dates + 1, (PM_SHIFT_DAYS - 1) * sizeof(*shift->dates));
    shift->has_before = true;
    shift->count--;
}

/* Which of the last days it is. */
static unsigned place_of(struct pm_shift *shift, uint32_t day)
{
    if (shift->count > 0 && shift->dates[shift->count - 1] == day)
        return shift->count - 1;
    if (shift->count == PM_SHIFT_DAYS)
        move_oldest(shift);
    shift->dates[shift->count] = day;
    return shift->count++;
}

/* Cells of the statistics that are of the space, and of another point or measure than the one
 * before. */
static bool begins(const struct pm_shift *shift, const struct pm_statistics *statistics, size_t i)
{
    const struct pm_cell *cell = &statistics->cells[i];
    return pm_cell_point(cell->key) < shift->space &&
           (i == 0 || cell_of(shift, cell) != cell_of(shift, cell - 1));
}

/* A row for each of the statistics' cells. Both ascend: from the back, so that it works in place.
 */
static bool add_rows(struct pm_shift *shift, const struct pm_statistics *statistics)
{
    size_t fresh = 0, at = 0;
    for (size_t i = 0; i < statistics->cell_count; i++) {
        if (!begins(shift, statistics, i))
            continue;
        const uint64_t cell = cell_of(shift, &statistics->cells[i]);
        while (at < shift->row_count && shift->rows[at].cell < cell)
            at++;
        fresh += at == shift->row_count || shift->rows[at].cell != cell;
    }
    if (fresh == 0)
        return true;
    struct pm_shift_row *rows = reallocarray(shift->rows, shift->row_count + fresh, sizeof(*rows));
    if (!rows)
        return false;
    shift->rows = rows;
    size_t old = shift->row_count, out = old + fresh;
    shift->row_count = out;
    for (size_t i = statistics->cell_count; out > old && i > 0; i--) {
        if (!begins(shift, statistics, i - 1))
            continue;
        const uint64_t cell = cell_of(shift, &statistics->cells[i - 1]);
        while (old > 0 && rows[old - 1].cell > cell)
            rows[--out] = rows[--old];
        if (old == 0 || rows[old - 1].cell != cell)
            rows[--out] = (struct pm_shift_row){.cell = cell};
    }
    return true;
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
    const unsigned place = place_of(shift, day);
    if (!add_rows(shift, statistics))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu points", statistics->count);
    for (size_t i = 0, at = 0; i < statistics->cell_count; i++) {
        const struct pm_cell *cell = &statistics->cells[i];
        if (pm_cell_point(cell->key) >= shift->space)
            continue;
        while (shift->rows[at].cell < cell_of(shift, cell))
            at++;
        struct pm_shift_day *of = &shift->rows[at].days[place];
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
static bool level_after(const struct pm_shift_row *row, struct level *level)
{
    double n = 0, r = 0, rr = 0;
    for (unsigned j = 0; j < PM_SHIFT_DAYS; j++) {
        const struct pm_shift_day *day = &row->days[j];
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

static bool is_shift(const struct pm_shift_row *row, double allowed)
{
    struct level after;
    if (!row->before.known || !level_after(row, &after))
        return false;
    const struct level before = level_before(&row->before);
    const double difference = after.mean - before.mean;
    const double least = fmax(PM_SHIFT_LEAST, PM_SHIFT_LEAST_RELATIVE * before.mean);
    if (before.clusters < PM_SHIFT_CLUSTERS || fabs(difference) < least)
        return false;
    for (unsigned j = 0; j < PM_SHIFT_DAYS; j++) {
        const double mean = row->days[j].r / row->days[j].n;
        if (difference > 0 ? mean < row->before.high + least / 2
                           : mean > row->before.low - least / 2)
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
    const double cells = (double)shift->space * shift->measures;
    const double allowed = PM_SHIFT_ERROR / PM_SHIFT_LOOKS / (cells + 1);
    bool found = false;
    if (!shift->has_before || shift->count < PM_SHIFT_DAYS)
        return false;
    for (size_t i = 0; !found && i < shift->row_count; i++)
        found = is_shift(&shift->rows[i], allowed);
    if (!found)
        return false;
    *since = shift->dates[0];
    for (size_t i = 0; i < shift->row_count; i++)
        shift->rows[i].before = (struct pm_shift_before){0};
    shift->has_before = false;
    return true;
}
