#include "layer/shader/constant_values.h"

#include "layer/core/session.h"
#include "layer/shader/watch.h"
#include <stdlib.h>
#include <string.h>

/* What a point's loads are normalized by. */
struct entries {
    uint64_t calls, lanes, subgroups;
};

struct pm_constant_values {
    uint32_t space;                      /* points */
    uint32_t push_count;                 /* the first of them: push constants that are followed */
    uint8_t *push_words;                 /* their words */
    pthread_mutex_t lock;                /* all below */
    struct pm_word_values *seen, *taken; /* by point: now, and when it was taken last */
    struct entries *entries;             /* by point: since */
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
    values->entries = calloc(points->count + 1u, sizeof *values->entries);
    if (!values->push_words || !values->seen || !values->taken || !values->entries) {
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
    free(values->entries);
    pthread_mutex_destroy(&values->lock);
    free(values);
}

static void enter(struct entries *entries, uint64_t calls, uint64_t lanes, uint64_t subgroups)
{
    entries->calls += calls;
    entries->lanes += lanes;
    entries->subgroups += subgroups;
}

/* Something was seen; under the lock. Whether it is the first since it was taken last. */
static bool is_first(struct pm_constant_values *values)
{
    const bool first = !values->any;
    values->any = true;
    return first;
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
        /* Read on the CPU: its entries are the calls. */
        enter(&values->entries[i], 1, 1, 1);
        seen = true;
    }
    const bool first = seen && is_first(values);
    pthread_mutex_unlock(&values->lock);
    return first;
}

/* The table of one word in one slot. */
static void count_table(struct pm_word_values *seen, const uint64_t *now, const uint64_t *before)
{
    pm_word_values_add(seen, 0, now[PM_CONSTANT_COUNT_ZERO] - before[PM_CONSTANT_COUNT_ZERO]);
    for (uint32_t i = 0; i < PM_CONSTANT_VALUES; i++)
        pm_word_values_add(seen, (uint32_t)now[PM_CONSTANT_VALUE + i],
                           now[PM_CONSTANT_COUNTS + i] - before[PM_CONSTANT_COUNTS + i]);
    pm_word_values_add_others(seen, now[PM_CONSTANT_COUNT_OTHER] - before[PM_CONSTANT_COUNT_OTHER]);
}

bool pm_constant_values_count(struct pm_constant_values *values,
                              const struct pm_constant_loads *loads)
{
    pthread_mutex_lock(&values->lock);
    for (uint32_t i = 0; i < loads->point_count; i++) {
        const uint32_t point = loads->points[i];
        for (uint32_t slot = 0; slot < loads->slot_count; slot++) {
            const size_t at = (size_t)slot * loads->stride + pm_constant_unit(i);
            count_table(&values->seen[point], &loads->now[at], &loads->before[at]);
        }
        enter(&values->entries[point], loads->calls, loads->entry_lanes, loads->entry_subgroups);
    }
    const bool first = loads->point_count > 0 && is_first(values);
    pthread_mutex_unlock(&values->lock);
    return first;
}

size_t pm_constant_values_take(struct pm_constant_values *values, struct pm_point_counts *points)
{
    size_t count = 0;
    pthread_mutex_lock(&values->lock);
    for (uint32_t i = 0; i < values->space && values->any; i++) {
        struct entries *entries = &values->entries[i];
        if (entries->calls == 0)
            continue;
        struct pm_point_counts *point = &points[count++];
        *point = (struct pm_point_counts){
            .point = i,
            .calls = entries->calls < UINT32_MAX ? (uint32_t)entries->calls : UINT32_MAX,
            .entry_lanes = entries->lanes,
            .entry_subgroups = entries->subgroups,
        };
        pm_word_values_growth(&values->taken[i], &values->seen[i], point->counts);
        values->taken[i] = values->seen[i];
        *entries = (struct entries){0};
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
