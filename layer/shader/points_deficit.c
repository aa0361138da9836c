#include "layer/shader/points_deficit.h"

#include "profile/packed_database.h"
#include "profile/values_store.h"
#include <stdlib.h>

/* Below it, in the mean over the crowd's sessions, a word is nobody's constant. */
#define LEAST_ELSEWHERE 0.5

bool pm_constant_changes_elsewhere(const struct pm_shader_estimates *elsewhere, uint32_t point)
{
    const struct pm_ratio *same = elsewhere->published && elsewhere->points
                                      ? &elsewhere->points[point].measures[PM_MEASURE_SAME]
                                      : NULL;
    return same && same->clusters > 0 && same->mean < LEAST_ELSEWHERE;
}

/* Of a published shader who counts subgroups is asked for the rest: lanes alone add nothing. */
static bool lacks(const struct pm_record_points *points, const struct pm_shader_estimates *known,
                  uint32_t point)
{
    return known->deficit && !(points->lanes_only && known->published) &&
           (known->deficit[point / 8] >> (point % 8) & 1) != 0;
}

/* What others have found out says which words are worth watching; what they are each machine must
 * see for itself. */
static bool lacks_values(const struct pm_device *device, const struct pm_shader_key *key,
                         const struct pm_record_points *points,
                         const struct pm_shader_estimates *known, uint32_t point)
{
    const struct pm_word_values *words =
        device->instance->values
            ? pm_values_store_find(device->instance->values, key, points->space)
            : NULL;
    return (!words || words[point].loads < PM_CONSTANT_LEAST_LOADS) &&
           !pm_constant_changes_elsewhere(known, point);
}

bool pm_points_deficit(const struct pm_device *device, const struct pm_shader_key *key,
                       const struct pm_environment *environment,
                       const struct pm_record_points *points, uint8_t **deficit)
{
    struct pm_shader_estimates known;
    *deficit = NULL;
    if (!pm_packed_database_find(device->instance->database, key, environment, points->kind,
                                 &known))
        return true;
    const bool same = known.space == points->space;
    if (same)
        *deficit = calloc(1, (points->counted + 7u) / 8u + 1u);
    for (uint32_t i = 0; *deficit && i < points->counted; i++) {
        const uint32_t point = points->first + i;
        if (lacks(points, &known, point) ||
            (points->kind == PM_KIND_CONSTANT && lacks_values(device, key, points, &known, point)))
            (*deficit)[i / 8] |= (uint8_t)(1u << (i % 8));
    }
    pm_shader_estimates_finish(&known);
    return !same || *deficit;
}
