#include "aggregator/statistics/estimate.h"

#include "base/student.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What an unbounded ratio's floor stands for: see the header. */
#define IMAGINED 2.0
#define IMAGINED_LEAST 0.5
#define HALVINGS 30 /* of what t may be */
/* A log-normal distribution's skewness over s/r, where s is small. */
#define SKEWNESS 3.0

/* The clusters of an estimate, each weighing u. */
struct sample {
    double clusters; /* effective: (Σu)² / Σu² */
    double lopsided; /* Σu Σu³ / (Σu²)²: how many times as skewed as that of so many equal ones */
    double variance; /* of a cluster */
};

/* t: Student's, of the error that it may have. */
static void interval(const struct sample *sample, double estimate, bool bounded, double t,
                     double *low, double *high)
{
    const double clusters = sample->clusters, variance = sample->variance;
    if (bounded) {
        const double imagined = t * t, all = clusters + imagined;
        const double center = (clusters * estimate + imagined / 2) / all;
        const double square = (clusters * (variance + estimate * estimate) + imagined / 2) / all;
        const double half = t * sqrt(fmax(square - center * center, 0) / all);
        *low = fmax(center - half, 0);
        *high = fmin(center + half, 1);
    } else {
        const double far = fmax(estimate, IMAGINED_LEAST), all = clusters + IMAGINED;
        const double center = (clusters * estimate + IMAGINED * far) / all;
        const double error = sqrt(variance / clusters + IMAGINED * far * far / (all * all));
        const double skewness = SKEWNESS * sample->lopsided * error / center;
        *low = fmax(center - t * error, 0);
        *high = center + t * error * (1 + skewness * (t / 3 + 1 / (6 * t)));
    }
    *low = fmin(*low, estimate);
    *high = fmax(*high, estimate);
}

/* ---- how much is believed ---- */

/* What a cell's clusters are on average, and how much they weigh all together. */
struct level {
    long double value, w;
};

/* Descending; equal ones too have one order, since sums depend on it. */
static int compare_levels(const void *first, const void *second)
{
    const struct level *a = first, *b = second;
    return a->value != b->value ? (a->value < b->value) - (a->value > b->value)
                                : (a->w < b->w) - (a->w > b->w);
}

/* The cap K that is `believed` times the mean of min(value, K). Sorts the levels. */
static long double find_cap(struct level *levels, size_t count, double believed)
{
    long double w = 0, sum = 0, largest = 0, above = 0;
    for (size_t i = 0; i < count; i++) {
        w += levels[i].w;
        sum += levels[i].w * levels[i].value;
        largest = fmaxl(largest, levels[i].value);
    }
    if (largest * w <= believed * sum)
        return believed * sum / w;
    qsort(levels, count, sizeof(*levels), compare_levels);
    long double level = largest;
    for (size_t i = 0; i < count; i++) {
        /* With all before this one brought down to it, is it still not above its cap? Then K lies
         * between them and it. */
        if (i > 0 && believed * (sum + above * levels[i].value) >= w * levels[i].value)
            break;
        level = levels[i].value;
        sum -= levels[i].w * level;
        above += levels[i].w;
    }
    const long double left = w - believed * above;
    return left > 0 ? fminl(believed * fmaxl(sum, 0) / left, level) : level;
}

struct caps {
    long double size, ratio; /* of x; of r */
};

static long double find_size_cap(const struct pm_aged_cell *cells, size_t count, double believed)
{
    struct level levels[PM_CELL_CLASSES];
    for (size_t i = 0; i < count; i++)
        levels[i] = (struct level){cells[i].x / cells[i].w, cells[i].w};
    return find_cap(levels, count, believed);
}

static struct caps find_caps(const struct pm_aged_cell *cells, size_t count, double believed)
{
    struct level levels[PM_CELL_CLASSES];
    struct caps caps = {.size = find_size_cap(cells, count, believed), .ratio = INFINITY};
    /* Cells are ordered by height: without a high one nothing is above what is usual. */
    if (pm_cell_height(cells[count - 1].key) > 0) {
        for (size_t i = 0; i < count; i++)
            levels[i] = (struct level){cells[i].r / cells[i].w, cells[i].w};
        caps.ratio = fmaxl(find_cap(levels, count, believed), PM_RATIO_USUAL);
    }
    return caps;
}

/* ---- estimates ---- */

static uint32_t clamp(uint64_t value)
{
    return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* A measure's cells, brought down to the caps, and added up. */
struct sums {
    long double w, ww, r, wwr, wwrr; /* as in struct pm_aged_cell; of r at most the cap */
    long double v, vr, vv;           /* Σwv, Σwvr, Σw²v² */
    long double vvr, vvrr;           /* Σw²v²r, Σw²v²r² */
    long double www, vvv;            /* Σw³, Σw³v³ */
};

/* The least size that no cluster of the cell has. */
static long double above_sizes(const struct pm_aged_cell *cell)
{
    return ldexpl(1, 2 * (int)pm_cell_size(cell->key) + 2);
}

/* v: x, but where a cluster of that size could be above the cap, what the cell's are on average,
 * at most the cap: so that none of them is above it. */
static void add_cell(struct sums *sums, const struct pm_aged_cell *cell, const struct caps *caps)
{
    const long double x = cell->x / cell->w, mean = cell->r / cell->w;
    const bool whole = above_sizes(cell) <= caps->size;
    const bool high = mean > caps->ratio;
    const long double v = x < caps->size ? x : caps->size;
    const long double r = high ? cell->w * caps->ratio : cell->r;
    const long double wwr = high ? cell->ww * caps->ratio : cell->wwr;
    const long double wwrr = high ? cell->ww * caps->ratio * caps->ratio : cell->wwrr;
    const long double square = whole ? cell->xx / cell->ww : v * v;
    const long double size = whole ? cell->x : cell->w * v, sizes = cell->ww * square;
    sums->w += cell->w;
    sums->ww += cell->ww;
    sums->r += r;
    sums->wwr += wwr;
    sums->wwrr += wwrr;
    sums->v += size;
    sums->vr += !whole ? v * r : high ? cell->x * caps->ratio : cell->y;
    sums->vv += sizes;
    sums->vvr += wwr * square;
    sums->vvrr += wwrr * square;
    /* At least so much (Cauchy and Schwarz), and in one cell not much more. */
    sums->www += cell->ww / cell->w * cell->ww;
    sums->vvv += sizes / size * sizes;
}

/* Σ(value - mean)², the sums being Σ1, Σvalue and Σvalue². */
static long double spread(long double ones, long double values, long double squares,
                          long double mean)
{
    return fmaxl(squares - 2 * mean * values + mean * mean * ones, 0);
}

/* Both estimates, and what their intervals are made of. */
struct summary {
    struct sample equals, sized;
    double mean, ratio;
};

/* count: not 0. */
static struct summary summarize(const struct pm_aged_cell *cells, size_t count,
                                const struct pm_estimate_basis *basis)
{
    struct sums sums = {0};
    const struct caps caps = find_caps(
        cells, count, basis->strangers ? PM_ESTIMATE_STRANGERS_BELIEVED : PM_ESTIMATE_BELIEVED);
    for (size_t i = 0; i < count; i++)
        add_cell(&sums, &cells[i], &caps);
    /* long double: the differences of large sums below keep half of its 64 bits. */
    const long double n = (long double)basis->clusters;
    const long double equal = fminl(fmaxl(sums.w / sums.ww * sums.w, 1), n);
    const long double effective = fminl(fmaxl(sums.v / sums.vv * sums.v, 1), n);
    const long double mean = sums.r / sums.w, ratio = sums.vr / sums.v;
    /* The share of the clusters that is independent of the others. */
    const double own = fmin(fmax(basis->independent, 1) / (double)equal, 1);

    struct summary out = {.mean = (double)mean, .ratio = (double)ratio};
    out.equals.clusters = (double)equal * own;
    out.equals.lopsided = (double)(sums.www / sums.ww * (sums.w / sums.ww));
    out.sized.clusters = fmax((double)effective * own, 1);
    out.sized.lopsided = (double)(sums.vvv / sums.vv * (sums.v / sums.vv));
    if (equal > 1) {
        out.equals.variance =
            (double)(equal * equal / (equal - 1) *
                     (spread(sums.ww, sums.wwr, sums.wwrr, mean) / sums.w / sums.w));
        out.sized.variance =
            (double)(effective * equal / (equal - 1) *
                     (spread(sums.vv, sums.vvr, sums.vvrr, ratio) / sums.v / sums.v));
    }
    return out;
}

struct pm_ratio pm_estimate_cells(const struct pm_aged_cell *cells, size_t count,
                                  const struct pm_estimate_basis *basis)
{
    struct pm_ratio out = {.mean_high = 1, .ratio_high = 1};
    const double error = basis->error > 0 ? basis->error : PM_ESTIMATE_ERROR;
    if (count == 0)
        return out;
    const struct summary found = summarize(cells, count, basis);
    out.clusters = clamp(basis->clusters);
    out.mean = found.mean;
    out.ratio = found.ratio;
    interval(&found.equals, found.mean, basis->bounded,
             pm_student_t(error, found.equals.clusters - 1), &out.mean_low, &out.mean_high);
    interval(&found.sized, found.ratio, basis->bounded,
             pm_student_t(error, found.sized.clusters - 1), &out.ratio_low, &out.ratio_high);
    return out;
}

/* The error of the interval that is `half` wide on each side; `least`: it is narrower at that. */
static double error_of(const struct sample *sample, double estimate, bool bounded, double half,
                       double least)
{
    double low, high, below = 0, above = pm_student_t(least, sample->clusters - 1);
    interval(sample, estimate, bounded, above, &low, &high);
    if (high - low <= 2 * half)
        return least;
    for (int i = 0; i < HALVINGS; i++) {
        const double t = (below + above) / 2;
        interval(sample, estimate, bounded, t, &low, &high);
        if (high - low <= 2 * half)
            below = t;
        else
            above = t;
    }
    return fmax(pm_student_error(below, sample->clusters - 1), least);
}

bool pm_estimate_is_narrow(double estimate, double low, double high, double absolute,
                           double relative)
{
    const double half = (high - low) / 2;
    return half <= absolute || half <= relative * estimate;
}

bool pm_estimate_is_share(enum pm_kind kind, unsigned measure)
{
    switch (kind) {
    case PM_KIND_BLOCK:
    case PM_KIND_TURNS:
        return measure == PM_MEASURE_UNIFORM;
    case PM_KIND_ZERO:
        return measure == PM_MEASURE_ZERO;
    case PM_KIND_CONSTANT:
        return measure == PM_MEASURE_SAME || measure == PM_MEASURE_SAME_ZERO;
    case PM_KIND_VARIANT:
        return true;
    case PM_KIND_TIMING:
        break;
    }
    return false;
}

/* A block that runs at most once per invocation may still be entered by several parts of one
 * subgroup, one after the other: then the share of subgroups is above 1, and no share. */
static bool is_bounded(enum pm_kind kind, unsigned measure, bool once, bool above_one)
{
    return (once || pm_estimate_is_share(kind, measure)) && !above_one;
}

bool pm_estimate_is_bounded(const struct pm_aged *aged, const struct pm_aged_point *point,
                            unsigned measure)
{
    return is_bounded(aged->kind, measure, pm_aged_is_at_most_once(aged, point->point),
                      point->measures[measure].above_one);
}

/* The end of the cells from `first` on that are of this measure of this point. */
static size_t end_of(const struct pm_aged *aged, size_t first, uint32_t point, unsigned measure)
{
    const uint64_t end = pm_cell_key(point, measure + 1, 0);
    while (first < aged->cell_count && aged->cells[first].key < end)
        first++;
    return first;
}

static size_t first_of(const struct pm_aged *aged, uint32_t point)
{
    return pm_cell_lower_bound(aged->cells, sizeof(*aged->cells), aged->cell_count,
                               pm_cell_key(point, 0, 0));
}

/* Of the clusters of all days, where the same players may have come on each. */
static double independent_of(const struct pm_aged_measure *measure)
{
    const long double players = measure->roots > 0 ? measure->w / measure->roots : 0;
    return (double)(players * players);
}

static struct pm_estimate_basis basis_of(const struct pm_aged *aged,
                                         const struct pm_aged_point *point, unsigned measure)
{
    const struct pm_aged_measure *counts = &point->measures[measure];
    return (struct pm_estimate_basis){.clusters = counts->n,
                                      .independent =
                                          aged->strangers ? independent_of(counts) : INFINITY,
                                      .bounded = pm_estimate_is_bounded(aged, point, measure),
                                      .strangers = aged->strangers};
}

void pm_estimate_aged_errors(const struct pm_aged *aged, const struct pm_aged_point *point,
                             const struct pm_half_widths halves[static PM_MEASURES], double least,
                             double errors[static PM_MEASURES])
{
    size_t at = first_of(aged, point->point);
    for (unsigned i = 0; i < PM_MEASURES; i++) {
        const size_t end =
            i < pm_measure_count(aged->kind) ? end_of(aged, at, point->point, i) : at;
        errors[i] = 0;
        if (end > at) {
            const struct pm_estimate_basis basis = basis_of(aged, point, i);
            const struct summary found = summarize(aged->cells + at, end - at, &basis);
            errors[i] =
                fmax(error_of(&found.equals, found.mean, basis.bounded, halves[i].mean, least),
                     error_of(&found.sized, found.ratio, basis.bounded, halves[i].ratio, least));
        }
        at = end;
    }
}

/* ---- other caps ---- */

/* A cell as add_cell takes it, and what does not hang on the cap of its size. */
struct fixed_cell {
    long double above, own; /* the least size that none has; what they have on average */
    long double w, x, y, r; /* y, r: with ratios of at most their cap */
};

static struct fixed_cell fix_cell(const struct pm_aged_cell *cell, const struct caps *caps)
{
    const bool high = cell->r / cell->w > caps->ratio;
    return (struct fixed_cell){.above = above_sizes(cell),
                               .own = cell->x / cell->w,
                               .w = cell->w,
                               .x = cell->x,
                               .y = high ? cell->x * caps->ratio : cell->y,
                               .r = high ? cell->w * caps->ratio : cell->r};
}

/* The ratio of sums where no size is above this cap. */
static void widen(struct pm_ratio_span *span, const struct fixed_cell *cells, size_t count,
                  long double cap)
{
    long double sizes = 0, values = 0;
    for (size_t i = 0; i < count; i++) {
        const struct fixed_cell *cell = &cells[i];
        const bool whole = cell->above <= cap;
        const long double v = cell->own < cap ? cell->own : cap;
        sizes += whole ? cell->x : cell->w * v;
        values += whole ? cell->y : v * cell->r;
    }
    const double ratio = (double)(values / sizes);
    span->low = ratio < span->low ? ratio : span->low;
    span->high = ratio > span->high ? ratio : span->high;
}

/* Between those at which a cell is brought down or taken as it is, the ratio rises or falls. */
struct pm_ratio_span pm_estimate_ratio_span(const struct pm_aged *aged,
                                            const struct pm_aged_point *point, unsigned measure,
                                            double share)
{
    const size_t first = pm_cell_lower_bound(aged->cells, sizeof(*aged->cells), aged->cell_count,
                                             pm_cell_key(point->point, measure, 0));
    const size_t count = end_of(aged, first, point->point, measure) - first;
    const struct pm_aged_cell *cells = aged->cells + first;
    const double believed = aged->strangers ? PM_ESTIMATE_STRANGERS_BELIEVED : PM_ESTIMATE_BELIEVED;
    const struct caps caps = find_caps(cells, count, believed);
    const long double least = find_size_cap(cells, count, believed / (1 + (believed - 1) * share));
    struct pm_ratio_span span = {INFINITY, -INFINITY};
    struct fixed_cell fixed[PM_CELL_CLASSES];
    for (size_t i = 0; i < count; i++)
        fixed[i] = fix_cell(&cells[i], &caps);
    widen(&span, fixed, count, caps.size);
    if (fixed[count - 1].above <= least) /* cells of a height ascend by size */
        return span;
    const long double most = find_size_cap(cells, count, believed / (1 - share));
    widen(&span, fixed, count, least);
    widen(&span, fixed, count, most);
    for (size_t i = 0; i < count; i++) {
        const long double own = fixed[i].own, above = fixed[i].above;
        if (own > least && own < most)
            widen(&span, fixed, count, own);
        if (above > least && above < most) {
            widen(&span, fixed, count, above);
            widen(&span, fixed, count, nextafterl(above, 0));
        }
    }
    return span;
}

void pm_estimate_aged_point(const struct pm_aged *aged, const struct pm_aged_point *point,
                            struct pm_point_estimate *out)
{
    const double usual[PM_MEASURES] = {0};
    pm_estimate_aged_point_at(aged, point, usual, out);
}

void pm_estimate_aged_point_at(const struct pm_aged *aged, const struct pm_aged_point *point,
                               const double errors[static PM_MEASURES],
                               struct pm_point_estimate *out)
{
    memset(out, 0, sizeof(*out));
    out->calls = clamp(point->calls);
    out->sessions = clamp(point->sessions);
    size_t at = first_of(aged, point->point);
    for (unsigned i = 0; i < pm_measure_count(aged->kind); i++) {
        const size_t end = end_of(aged, at, point->point, i);
        struct pm_estimate_basis basis = basis_of(aged, point, i);
        basis.error = errors[i];
        out->measures[i] = pm_estimate_cells(aged->cells + at, end - at, &basis);
        at = end;
    }
}

void pm_estimate_point(const struct pm_statistics *statistics,
                       const struct pm_point_statistics *point, struct pm_point_estimate *out)
{
    memset(out, 0, sizeof(*out));
    out->calls = clamp(point->calls);
    out->sessions = clamp(point->sessions);
    const bool once = pm_statistics_is_at_most_once(statistics, point->point);
    for (unsigned i = 0; i < pm_measure_count(statistics->kind); i++) {
        struct pm_aged_cell aged[PM_CELL_CLASSES];
        const struct pm_measure_counts *counts = &point->measures[i];
        size_t count;
        const struct pm_cell *cells = pm_statistics_cells(statistics, point->point, i, &count);
        for (size_t j = 0; j < count; j++)
            aged[j] = pm_aged_cell_of(&cells[j]);
        const struct pm_estimate_basis basis = {
            .clusters = counts->n,
            .independent = INFINITY,
            .bounded = is_bounded(statistics->kind, i, once, pm_counts_above_one(counts))};
        out->measures[i] = pm_estimate_cells(aged, count, &basis);
    }
}
