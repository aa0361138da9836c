/*
 * Which parts of a memory are free, by offset; knows neither the memory nor Vulkan.
 *
 * Thread safety: the caller's.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A free range. The list is sorted by offset, and no two ranges touch. */
struct pm_range {
    struct pm_range *next;
    uint64_t offset, bytes;
};

/* Adds a part that is free: all of it at first, then what was taken. Out of memory: the part stays
 * lost. */
void pm_ranges_give(struct pm_range **ranges, uint64_t offset, uint64_t bytes);

/* Takes the first `bytes` that are free in one part, none of them before `from`. false: nowhere are
 * so many. */
bool pm_ranges_take(struct pm_range **ranges, uint64_t from, uint64_t bytes, uint64_t *offset);

void pm_ranges_finish(struct pm_range **ranges);
