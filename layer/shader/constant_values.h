/*
 * What this session has seen of the values of a shader's words (push constants, uniforms), by
 * point. Sampled calls put in what they find; the poller takes out how counts have grown for the
 * spool, which has no values (PM_KIND_CONSTANT), and the whole for this machine's own store
 * (profile/values_store.h).
 *
 * Thread safety: any thread; a lock that sampled calls and the poller take.
 */
#pragma once

#include "profile/values_store.h"
#include "shader_rewrite/shader_rewrite.h"
#include <pthread.h>
#include <stdatomic.h>

struct pm_constant_values;
struct pm_instance;

/* Reads what this machine knows of the game, unless it has, or neither kind nor use of constants is
 * configured; before any device is made. */
void pm_constant_values_open(struct pm_instance *instance);

/* NULL: out of memory. The points are copied. */
struct pm_constant_values *pm_constant_values_create(const struct pm_constant_points *points);
/* NULL is allowed. */
void pm_constant_values_destroy(struct pm_constant_values *values);

/* A call was sampled: the push constants that are known, as bits of their words. true: these are
 * the first since they were taken last. */
bool pm_constant_values_push(struct pm_constant_values *values, const uint32_t *words,
                             uint64_t known);

/* What a variant's counters of some words of uniforms have grown by since they were read last. */
struct pm_constant_loads {
    uint64_t calls, entry_lanes, entry_subgroups;
    const uint32_t *points; /* point_count of them */
    uint32_t point_count;
    /* Of each slot of the counters (shader_rewrite.h, struct pm_instrumented), `stride` units
     * further on: as they are now, and as they were. */
    const uint64_t *now, *before;
    uint32_t slot_count, stride;
};

/* Adds them. true: as above. */
bool pm_constant_values_count(struct pm_constant_values *values,
                              const struct pm_constant_loads *loads);

/* How counts grew since they were taken last: a point each of which any loads were seen, into
 * points (room for all); returns how many. */
size_t pm_constant_values_take(struct pm_constant_values *values, struct pm_point_counts *points);

/* All that was seen goes into the store. */
void pm_constant_values_keep(struct pm_constant_values *values, struct pm_values_store *store,
                             const struct pm_shader_key *key);
