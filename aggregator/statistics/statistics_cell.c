/* One cluster: its class, its bin, and how it is added to a cell; finding a cell. */
#include "aggregator/statistics/statistics_private.h"

#include <string.h>

unsigned pm_histogram_bin(uint64_t y, uint64_t x)
{
    if (y == 0)
        return 0;
    if (y < x)
        return 1 + (unsigned)(y < UINT64_C(1) << 60 ? y * 10 / x : (pm_uint128)y * 10 / x);
    if (y == x)
        return PM_HISTOGRAM_ONE;
    unsigned i = 0;
    while (i < PM_HISTOGRAM_EDGES && (pm_uint128)y * 2 > (pm_uint128)x * pm_histogram_half_edges[i])
        i++;
    return PM_HISTOGRAM_ONE + 1 + i;
}

const uint32_t pm_histogram_half_edges[PM_HISTOGRAM_EDGES] = {3,  4,  6,   8,   12,  16,
                                                              32, 64, 128, 512, 8192};

size_t pm_cell_lower_bound(const void *cells, size_t stride, size_t count, uint64_t key)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        uint64_t there;
        memcpy(&there, (const char *)cells + middle * stride, sizeof(there));
        if (there < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint64_t pm_cluster_ratio(uint64_t y, uint64_t x)
{
    if (y < UINT64_C(1) << 31 && x < UINT64_C(1) << 63) /* nearly always; 128 bits take long */
        return ((y << PM_STATISTICS_RATIO_BITS) + x / 2) / x;
    const pm_uint128 r = (((pm_uint128)y << PM_STATISTICS_RATIO_BITS) + x / 2) / x;
    return r > UINT64_MAX ? UINT64_MAX : (uint64_t)r;
}

/* The exponent of the largest power of four that is at most this; value > 0. */
static unsigned power_of_four(uint64_t value)
{
    return (63 - (unsigned)__builtin_clzll(value)) / 2;
}

unsigned pm_cell_class(uint64_t x, uint64_t r)
{
    const uint64_t usual = (uint64_t)PM_RATIO_USUAL << PM_STATISTICS_RATIO_BITS;
    const unsigned height = r <= usual ? 0 : 1 + power_of_four((r - 1) / usual);
    return height * PM_CELL_SIZES + power_of_four(x);
}

void pm_cell_add(struct pm_cell *cell, uint64_t y, uint64_t x, uint64_t r)
{
    const unsigned size = pm_cell_size(cell->key);
    const uint64_t half = UINT64_C(1) << (PM_STATISTICS_RATIO_BITS - 1);
    const uint64_t leading = size >= 3 ? x >> (2 * size - 6) : x << (6 - 2 * size);
    cell->n++;
    cell->squares += leading * leading;
    pm_wide_add_128(&cell->x, x);
    pm_wide_add_128(&cell->y, y);
    pm_wide_add_128(&cell->r, r);
    pm_wide_add_128(&cell->rr, ((pm_uint128)r * r + half) >> PM_STATISTICS_RATIO_BITS);
}

void pm_cell_add_cell(struct pm_cell *into, const struct pm_cell *from)
{
    into->n += from->n;
    into->squares += from->squares;
    pm_wide_add(&into->x, &from->x);
    pm_wide_add(&into->y, &from->y);
    pm_wide_add(&into->r, &from->r);
    pm_wide_add(&into->rr, &from->rr);
}
