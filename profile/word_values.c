#include "profile/word_values.h"

#include <stddef.h>

static struct pm_value_count *find(struct pm_word_values *values, uint32_t value)
{
    for (uint32_t i = 0; i < values->count; i++)
        if (values->kept[i].value == value)
            return &values->kept[i];
    return NULL;
}

/* A free place, or that of the value that was seen least. */
static struct pm_value_count *make_place(struct pm_word_values *values)
{
    if (values->count < PM_VALUES_KEPT)
        return &values->kept[values->count++];
    struct pm_value_count *least = &values->kept[0];
    for (uint32_t i = 1; i < PM_VALUES_KEPT; i++)
        if (values->kept[i].count < least->count)
            least = &values->kept[i];
    return least;
}

void pm_word_values_add(struct pm_word_values *values, uint32_t value, uint64_t loads)
{
    if (loads == 0)
        return;
    values->loads += loads;
    values->zeros += value == 0 ? loads : 0;
    struct pm_value_count *place = find(values, value);
    if (place == NULL) {
        place = make_place(values);
        *place = (struct pm_value_count){.value = value};
    }
    place->count += loads;
    if (place->count > values->same)
        values->same = place->count;
}

void pm_word_values_add_others(struct pm_word_values *values, uint64_t loads)
{
    values->loads += loads;
}

const struct pm_value_count *pm_word_values_most(const struct pm_word_values *values)
{
    const struct pm_value_count *most = NULL;
    for (uint32_t i = 0; i < values->count; i++)
        if (most == NULL || values->kept[i].count > most->count)
            most = &values->kept[i];
    return most;
}

void pm_word_values_age(struct pm_word_values *values)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < values->count; i++) {
        struct pm_value_count kept = values->kept[i];
        kept.count /= 2;
        if (kept.count > 0)
            values->kept[left++] = kept;
    }
    values->count = left;
    values->loads /= 2;
    values->zeros /= 2;
    values->same /= 2;
}

void pm_word_values_growth(const struct pm_word_values *from, const struct pm_word_values *to,
                           uint64_t counts[static PM_COUNTS])
{
    counts[PM_CONSTANT_LOADS] = to->loads - from->loads;
    counts[PM_CONSTANT_SAME] = to->same - from->same;
    counts[PM_CONSTANT_ZERO] = to->zeros - from->zeros;
}
