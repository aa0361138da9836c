#include "layer/shader/constant_values.h"

#include "layer/core/session.h"
#include "layer/shader/watch.h"
#include <stdlib.h>
#include <string.h>

struct pm_constant_values {
    uint32_t space;                      /* points */
    uint32_t push_count;                 /* the first of them: push constants that are followed */
    uint8_t *push_words;                 /* their words */
    pthread_mutex_t lock;                /* all below */
    struct pm_word_values *seen, *taken; /* by point: now, and when it was taken last */
    uint32_t *calls;                     /* by point: sampled since */
    bool any;                            /* something was seen since */
};

void pm_constant_values_open(struct pm_instance *instance)
{
    if (!instance->passive && ((instance->config.sampler.kinds & PM_KIND_BIT_CONSTANT) != 0 ||
                               instance->config.optimize.constants))
        pm_session_values(instance, pm_canonicalize_recipe());
}

struct pm_constant_values *pm_constant_values_create(const struct pm_constant_points *points)
{
    struct pm_constant_values *values = calloc(1, sizeof *values);
    if (!values)
        return NULL;
    pthread_mutex_init(&values->lock, NULL);
    values->space = points->count;
    values->push_words = calloc(points->count + 1u, sizeof *values->push_words);
    values->seen = calloc(points->count + 1u, sizeof *values->seen);
    values->taken = calloc(points->count + 1u, sizeof *values->taken);
    values->calls = calloc(points->count + 1u, sizeof *values->calls);
    if (!values->push_words || !values->seen || !values->taken || !values->calls) {
        pm_constant_values_destroy(values);
        return NULL;
    }
    /* They come before uniforms, by offset. */
    while (values->push_count < points->count &&
           points->points[values->push_count].source == PM_CONSTANT_PUSH &&
           points->points[values->push_count].offset / 4 < PM_PUSHED_WORDS) {
        values->push_words[values->push_count] =
            (uint8_t)(points->points[values->push_count].offset / 4);
        values->push_count++;
    }
    return values;
}

void pm_constant_values_destroy(struct pm_constant_values *values)
{
    if (!values)
        return;
    free(values->push_words);
    free(values->seen);
    free(values->taken);
    free(values->calls);
    pthread_mutex_destroy(&values->lock);
    free(values);
}

/* Under the lock. */
static void count_call(struct pm_constant_values *values, uint32_t point)
{
    if (values->calls[point] < UINT32_MAX)
        values->calls[point]++;
}

bool pm_constant_values_push(struct pm_constant_values *values, const uint32_t *words,
                             uint64_t known)
{
    bool seen = false;
    if (values->push_count == 0 || known == 0)
        return false;
    pthread_mutex_lock(&values->lock);
    for (uint32_t i = 0; i < values->push_count; i++) {
        const uint32_t word = values->push_words[i];
        if ((known >> word & 1) == 0)
            continue;
        pm_word_values_add(&values->seen[i], words[word], 1);
        count_call(values, i);
        seen = true;
    }
    const bool first = seen && !values->any;
    values->any |= seen;
    pthread_mutex_unlock(&values->lock);
    return first;
}

size_t pm_constant_values_take(struct pm_constant_values *values, struct pm_point_counts *points)
{
    size_t count = 0;
    pthread_mutex_lock(&values->lock);
    for (uint32_t i = 0; i < values->space && values->any; i++) {
        if (values->calls[i] == 0)
            continue;
        struct pm_point_counts *point = &points[count++];
        /* A push constant is read on the CPU: its entries are the calls. */
        *point = (struct pm_point_counts){.point = i,
                                          .calls = values->calls[i],
                                          .entry_lanes = values->calls[i],
                                          .entry_subgroups = values->calls[i]};
        pm_word_values_growth(&values->taken[i], &values->seen[i], point->counts);
        values->taken[i] = values->seen[i];
        values->calls[i] = 0;
    }
    values->any = false;
    pthread_mutex_unlock(&values->lock);
    return count;
}

void pm_constant_values_keep(struct pm_constant_values *values, struct pm_values_store *store,
                             const struct pm_shader_key *key)
{
    pthread_mutex_lock(&values->lock);
    pm_values_store_put(store, key, values->space, values->seen);
    pthread_mutex_unlock(&values->lock);
}
