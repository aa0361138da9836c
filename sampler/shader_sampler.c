#include "sampler/sampler.h"

#include "base/random.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A list of batches that calls go through; every `count` calls take each once. */
struct cycle {
    uint32_t *batches; /* NULL: the list is 0 … count-1 */
    uint32_t count;
    uint64_t seed;
    _Atomic uint64_t calls;
};

struct pm_shader_sampler {
    uint32_t *points;  /* batch after batch */
    uint32_t *offsets; /* batch i is points[offsets[i]] … points[offsets[i + 1] - 1] */
    uint32_t batch_count;
    uint32_t *space_ends; /* by space, the batch behind its last */
    uint64_t seed;
    _Atomic uint64_t calls;
    struct cycle all, deficit; /* deficit.count 0: no batch, or every batch, holds deficit points */
};

/* By position, so that calls from any thread need no lock. */
static uint64_t mix(uint64_t seed, uint64_t position)
{
    return pm_random_mix(seed + (position + 1) * UINT64_C(0x9e3779b97f4a7c15));
}

/* Each pass starts at a random place: a program that calls a shader as often a frame as there are
 * batches would otherwise show each batch always the same call. */
static uint32_t cycle_next(struct cycle *cycle)
{
    uint64_t call = atomic_fetch_add_explicit(&cycle->calls, 1, memory_order_relaxed);
    uint64_t start = mix(cycle->seed, call / cycle->count) % cycle->count;
    uint32_t at = (uint32_t)((start + call) % cycle->count);
    return cycle->batches ? cycle->batches[at] : at;
}

static void shuffle(uint32_t *values, uint32_t count, struct pm_random *random)
{
    for (uint32_t i = 0; i < count; i++)
        values[i] = i;
    for (uint32_t i = count; i > 1; i--) {
        uint32_t other = pm_random_below(random, i);
        uint32_t value = values[i - 1];
        values[i - 1] = values[other];
        values[other] = value;
    }
}

static int compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

static bool holds_deficit(const struct pm_shader_sampler *sampler, uint32_t batch,
                          const uint8_t *deficit)
{
    if (!deficit)
        return true;
    for (uint32_t i = sampler->offsets[batch]; i < sampler->offsets[batch + 1]; i++) {
        uint32_t point = sampler->points[i];
        if (deficit[point / 8] & (1u << (point % 8)))
            return true;
    }
    return false;
}

static bool find_deficit(struct pm_shader_sampler *sampler, const struct pm_sampler_space *spaces)
{
    struct cycle *cycle = &sampler->deficit;
    cycle->batches = malloc(sizeof(uint32_t) * sampler->batch_count);
    if (!cycle->batches)
        return false;
    for (uint32_t i = 0; i < sampler->batch_count; i++) {
        if (holds_deficit(sampler, i, spaces[pm_shader_sampler_space(sampler, i)].deficit))
            cycle->batches[cycle->count++] = i;
    }
    if (cycle->count == sampler->batch_count)
        cycle->count = 0;
    return true;
}

/* Batches of a space whose points begin at `point`, into offsets from `batch` on. */
static void split(struct pm_shader_sampler *sampler, uint32_t point, uint32_t count, uint32_t batch,
                  uint32_t batches, struct pm_random *random)
{
    uint32_t *points = sampler->points + point, *offsets = sampler->offsets + batch;
    shuffle(points, count, random);
    for (uint32_t i = 0; i <= batches; i++)
        offsets[i] = point + (uint32_t)((uint64_t)count * i / batches);
    for (uint32_t i = 0; i < batches; i++)
        qsort(sampler->points + offsets[i], offsets[i + 1] - offsets[i], sizeof(uint32_t), compare);
}

struct pm_shader_sampler *pm_shader_sampler_create(const struct pm_sampler_space *spaces,
                                                   uint32_t space_count, uint64_t seed)
{
    uint64_t points = 0;
    for (uint32_t i = 0; i < space_count; i++)
        points += spaces[i].count;
    if (points == 0 || points >= UINT32_MAX || points >= SIZE_MAX / sizeof(uint32_t))
        return NULL;
    struct pm_shader_sampler *sampler = calloc(1, sizeof(*sampler));
    if (!sampler)
        return NULL;
    sampler->space_ends = malloc(sizeof(uint32_t) * space_count);
    if (!sampler->space_ends)
        goto error;
    for (uint32_t i = 0; i < space_count; i++) {
        const uint32_t batch = spaces[i].batch ? spaces[i].batch : 1;
        sampler->batch_count += spaces[i].count ? (spaces[i].count - 1) / batch + 1 : 0;
        sampler->space_ends[i] = sampler->batch_count;
    }
    sampler->points = malloc(sizeof(uint32_t) * (size_t)points);
    sampler->offsets = malloc(sizeof(uint32_t) * ((size_t)sampler->batch_count + 1));
    if (!sampler->points || !sampler->offsets)
        goto error;
    struct pm_random random;
    pm_random_init(&random, seed);
    uint32_t point = 0, first = 0;
    bool deficit = false;
    for (uint32_t i = 0; i < space_count; i++) {
        if (spaces[i].count > 0)
            split(sampler, point, spaces[i].count, first, sampler->space_ends[i] - first, &random);
        point += spaces[i].count;
        first = sampler->space_ends[i];
        deficit = deficit || spaces[i].deficit;
    }
    sampler->seed = pm_random_next(&random);
    sampler->all.count = sampler->batch_count;
    sampler->all.seed = pm_random_next(&random);
    sampler->deficit.seed = pm_random_next(&random);
    if (deficit && !find_deficit(sampler, spaces))
        goto error;
    return sampler;
error:
    pm_shader_sampler_destroy(sampler);
    return NULL;
}

void pm_shader_sampler_destroy(struct pm_shader_sampler *sampler)
{
    if (!sampler)
        return;
    free(sampler->deficit.batches);
    free(sampler->space_ends);
    free(sampler->points);
    free(sampler->offsets);
    free(sampler);
}

uint32_t pm_shader_sampler_space(const struct pm_shader_sampler *sampler, uint32_t batch)
{
    uint32_t space = 0;
    while (batch >= sampler->space_ends[space])
        space++;
    return space;
}

uint32_t pm_shader_sampler_batch_count(const struct pm_shader_sampler *sampler)
{
    return sampler->batch_count;
}

const uint32_t *pm_shader_sampler_batch(const struct pm_shader_sampler *sampler, uint32_t batch,
                                        uint32_t *count)
{
    *count = sampler->offsets[batch + 1] - sampler->offsets[batch];
    return sampler->points + sampler->offsets[batch];
}

uint32_t pm_shader_sampler_next(struct pm_shader_sampler *sampler)
{
    if (sampler->deficit.count != 0) {
        uint64_t call = atomic_fetch_add_explicit(&sampler->calls, 1, memory_order_relaxed);
        if (mix(sampler->seed, call) % 10 != 0)
            return cycle_next(&sampler->deficit);
    }
    return cycle_next(&sampler->all);
}
