#include "layer/shader/known_words.h"

#include "layer/core/session.h"
#include "profile/values_store.h"
#include "shader_rewrite/analysis/analysis_costs.h"
#include <stdlib.h>

/* Loads from which on a share says anything. */
#define LEAST_LOADS 16
/* Share of a word's loads that had the value. What is pushed is compared by whoever pushes, for
 * next to nothing; what a guard compares the GPU pays for in every invocation. */
#define LEAST_PUSHED 0.5
#define LEAST_UNIFORM 0.95
/* Below it, in the mean over the crowd's sessions, a word is nobody's constant. */
#define LEAST_ELSEWHERE 0.5
/* Words that are tried one by one. */
enum { TRIED_MOST = 12 };

struct choice {
    struct pm_constant_known known;
    double share, saving;
};

/* What the database says against words; found->points NULL: nothing. */
static void find_elsewhere(const struct pm_device *device, const struct pm_shader_record *record,
                           uint32_t space, struct pm_shader_estimates *found)
{
    if (!pm_packed_database_find(device->instance->database, &record->key, &record->environment,
                                 PM_KIND_CONSTANT, found))
        *found = (struct pm_shader_estimates){0};
    else if (!found->published || found->space != space)
        pm_shader_estimates_finish(found);
}

static bool changes_elsewhere(const struct pm_shader_estimates *elsewhere, uint32_t point)
{
    const struct pm_ratio *same =
        elsewhere->points ? &elsewhere->points[point].measures[PM_MEASURE_SAME] : NULL;
    return same && same->clusters > 0 && same->mean < LEAST_ELSEWHERE;
}

/* The words of a source whose most frequent value has at least the share; returns how many. */
static uint32_t find_steady(const struct pm_device *device, const struct pm_shader_record *record,
                            enum pm_constant_source source, double least, struct choice *choices,
                            uint32_t most)
{
    const struct pm_record_points *points = pm_record_points_constants(record->points);
    const struct pm_word_values *words =
        points && pm_session_knows_values(device->instance)
            ? pm_values_store_find(device->instance->values, &record->key, points->space)
            : NULL;
    struct pm_shader_estimates elsewhere;
    uint32_t count = 0;
    if (!words)
        return 0;
    find_elsewhere(device, record, points->space, &elsewhere);
    for (uint32_t i = 0; i < points->space && count < most; i++) {
        const struct pm_constant_point *point = &points->constants.points[i];
        const struct pm_value_count *value = pm_word_values_most(&words[i]);
        const bool able =
            source == PM_CONSTANT_PUSH ? point->offset / 4 < PM_PUSHED_WORDS : point->every_path;
        if (point->source != source || !able || !value || words[i].loads < LEAST_LOADS ||
            changes_elsewhere(&elsewhere, i))
            continue;
        const double share = (double)value->count / (double)words[i].loads;
        if (share >= least)
            choices[count++] = (struct choice){{*point, value->value}, share, 0};
    }
    pm_shader_estimates_finish(&elsewhere);
    return count;
}

/* What knowing the word alone saves, in cycles. */
static double saving_of(const struct pm_device *device, const struct pm_shader_record *record,
                        const struct pm_constant_known *known)
{
    const struct pm_driver driver = pm_device_driver(device);
    const struct pm_specialize_constants_info info = {
        .known = known,
        .known_count = 1,
        .costs = pm_costs_of(device->properties.vendorID),
        .float_zero = device->instance->config.optimize.float_zero,
        .target = device->abilities.target,
        .driver = &driver,
        .take_all = true,
    };
    struct pm_specialized_constants made;
    if (!pm_specialize_constants(record->canonical.data, record->canonical.count, &info, &made,
                                 NULL))
        return 0;
    const double saving = made.cycles_before - made.cycles_after;
    pm_specialized_constants_finish(&made);
    return saving;
}

static int by_saving(const void *a, const void *b)
{
    const struct choice *x = a, *y = b;
    return (x->saving < y->saving) - (x->saving > y->saving);
}

static void keep(const struct choice *choices, uint32_t count, struct pm_known_words *out)
{
    out->count = count;
    for (uint32_t i = 0; i < count; i++)
        out->words[i] = choices[i].known;
}

void pm_known_words_pushed(const struct pm_device *device, const struct pm_shader_record *record,
                           struct pm_known_words *out)
{
    struct choice choices[TRIED_MOST];
    uint32_t count =
        find_steady(device, record, PM_CONSTANT_PUSH, LEAST_PUSHED, choices, TRIED_MOST);
    if (count > PM_WATCHED_MOST) {
        for (uint32_t i = 0; i < count; i++)
            choices[i].saving = saving_of(device, record, &choices[i].known);
        qsort(choices, count, sizeof *choices, by_saving);
        count = PM_WATCHED_MOST;
    }
    keep(choices, count, out);
}

void pm_known_words_uniform(const struct pm_device *device, const struct pm_shader_record *record,
                            struct pm_known_words *out)
{
    struct choice choices[PM_KNOWN_MOST];
    keep(choices,
         find_steady(device, record, PM_CONSTANT_UNIFORM, LEAST_UNIFORM, choices, PM_KNOWN_MOST),
         out);
}
