/* From sums over all clusters, as the first version of the encoding had them, to cells. */
#include "aggregator/statistics/statistics_private.h"

/* sum / by, rounded down. */
static struct pm_wide divide(const struct pm_wide *sum, uint64_t by)
{
    struct pm_wide out;
    pm_uint128 rest = 0;
    for (int i = 2; i >= 0; i--) {
        rest = rest << 64 | sum->limbs[i];
        out.limbs[i] = (uint64_t)(rest / by);
        rest %= by;
    }
    return out;
}

/* Fits: it is a part of a sum. */
static struct pm_wide multiply(const struct pm_wide *value, uint64_t by)
{
    struct pm_wide out;
    pm_uint128 carry = 0;
    for (int i = 0; i < 3; i++) {
        carry += (pm_uint128)value->limbs[i] * by;
        out.limbs[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return out;
}

/* from -= part, which is not above it. */
static void subtract(struct pm_wide *from, const struct pm_wide *part)
{
    uint64_t borrow = 0;
    for (int i = 0; i < 3; i++) {
        const pm_uint128 taken = (pm_uint128)part->limbs[i] + borrow;
        borrow = taken > from->limbs[i];
        from->limbs[i] -= (uint64_t)taken;
    }
}

static bool fits(const struct pm_wide *value)
{
    return (value->limbs[1] | value->limbs[2]) == 0;
}

/* n clusters that are alike. */
static bool fill(struct pm_cell *cell, uint64_t n, const struct pm_whole_sums *sums)
{
    const struct pm_wide x = divide(&sums->x, n), r = divide(&sums->r, n);
    if (!fits(&x) || !fits(&r) || x.limbs[0] == 0)
        return false;
    struct pm_cell one = {.key = pm_cell_class(x.limbs[0], r.limbs[0])};
    pm_cell_add(&one, 0, x.limbs[0], 0);
    *cell = (struct pm_cell){.key = one.key,
                             .n = n,
                             .squares = n * one.squares,
                             .x = sums->x,
                             .y = sums->y,
                             .r = sums->r,
                             .rr = sums->rr};
    return true;
}

/* Takes so many of n clusters out of the sums, with x = 1. */
static bool take_small(struct pm_cell *cell, uint64_t small, uint64_t n, struct pm_whole_sums *sums)
{
    const struct pm_wide r = divide(&sums->r, n), rr = divide(&sums->rr, n);
    struct pm_whole_sums part = {
        .x.limbs = {small}, .r = multiply(&r, small), .rr = multiply(&rr, small)};
    part.y.limbs[0] = part.r.limbs[0] >> PM_STATISTICS_RATIO_BITS |
                      part.r.limbs[1] << (64 - PM_STATISTICS_RATIO_BITS);
    part.y.limbs[1] = part.r.limbs[1] >> PM_STATISTICS_RATIO_BITS;
    if (pm_wide_above(&part.y, &sums->y))
        part.y = sums->y;
    if (!fill(cell, small, &part))
        return false;
    subtract(&sums->x, &part.x);
    subtract(&sums->y, &part.y);
    subtract(&sums->r, &part.r);
    subtract(&sums->rr, &part.rr);
    return true;
}

unsigned pm_cells_of_sums(uint64_t n, const struct pm_whole_sums *sums, struct pm_cell cells[2])
{
    struct pm_whole_sums left = *sums;
    left.rr = divide(&sums->rr, UINT64_C(1) << PM_STATISTICS_RATIO_BITS);
    struct pm_cell small;
    if (n > PM_CLUSTERS_MOST || pm_wide_above(&(struct pm_wide){{n}}, &sums->x) ||
        pm_wide_is_zero(&sums->xx))
        return 0;
    if (n == 1) {
        if (!fits(&sums->x) || !fits(&sums->y))
            return 0;
        const uint64_t x = sums->x.limbs[0], y = sums->y.limbs[0], r = pm_cluster_ratio(y, x);
        cells[0] = (struct pm_cell){.key = pm_cell_class(x, r)};
        pm_cell_add(&cells[0], y, x, r);
        return 1;
    }
    const long double x = pm_wide_value(&sums->x);
    const long double effective = roundl(x / pm_wide_value(&sums->xx) * x);
    uint64_t alike = effective < 2 ? 2 : effective > n ? n : (uint64_t)effective;
    if (n - alike == 1) /* one cluster is its x and y, and no more */
        alike = n;
    if (n > alike && !take_small(&small, n - alike, n, &left))
        return 0;
    if (!fill(&cells[0], alike, &left))
        return 0;
    if (n == alike)
        return 1;
    if (small.key == cells[0].key) {
        pm_cell_add_cell(&cells[0], &small);
        return 1;
    }
    cells[1] = small;
    if (small.key < cells[0].key) {
        cells[1] = cells[0];
        cells[0] = small;
    }
    return 2;
}
