#include "layer/shader/known_words.h"

#include "layer/core/session.h"
#include "layer/shader/points_deficit.h"
#include "profile/values_store.h"
#include "shader_rewrite/analysis/analysis_costs.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Share of a word's loads that had the value. What is pushed is compared by whoever pushes, for
 * next to nothing; what a guard compares the GPU pays for in every invocation. */
#define LEAST_PUSHED 0.5
#define LEAST_UNIFORM 0.95
enum {
    TRIED_MOST = 12,   /* words of push constants that are tried one by one */
    GUARDED_MOST = 32, /* words of uniforms of which the best are chosen */
};

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

/* What is known of the words of a source. */
struct steady {
    struct choice *choices; /* those that may be known, `most` at most */
    uint32_t most, count;
    enum pm_uniform_reads reads;
    uint32_t seen;    /* often enough */
    uint32_t changes; /* of these: have other values, here or elsewhere */
    uint32_t unable;  /* of these: nobody may compare */
};

static bool is_able(const struct pm_constant_point *point, enum pm_uniform_reads reads)
{
    if (point->source == PM_CONSTANT_PUSH)
        return point->offset / 4 < PM_PUSHED_WORDS;
    return point->every_path || reads == PM_READS_ANY ||
           (reads == PM_READS_WITHIN && point->within);
}

static void look_at(const struct pm_constant_point *point, const struct pm_word_values *word,
                    bool changes_elsewhere, struct steady *steady)
{
    const struct pm_value_count *value = pm_word_values_most(word);
    const double least = point->source == PM_CONSTANT_PUSH ? LEAST_PUSHED : LEAST_UNIFORM;
    if (!value || word->loads < PM_CONSTANT_LEAST_LOADS)
        return;
    steady->seen++;
    const double share = (double)value->count / (double)word->loads;
    if (share < least || changes_elsewhere)
        steady->changes++;
    else if (!is_able(point, steady->reads))
        steady->unable++;
    else if (steady->count < steady->most)
        steady->choices[steady->count++] =
            (struct choice){{*point, value->value, point->source == PM_CONSTANT_UNIFORM}, share, 0};
}

static void find_steady(const struct pm_device *device, const struct pm_shader_record *record,
                        enum pm_constant_source source, struct steady *steady)
{
    const struct pm_record_points *points = pm_record_points_constants(record->points);
    const struct pm_word_values *words =
        points && pm_session_knows_values(device->instance)
            ? pm_values_store_find(device->instance->values, &record->key, points->space)
            : NULL;
    struct pm_shader_estimates elsewhere;
    if (!words)
        return;
    find_elsewhere(device, record, points->space, &elsewhere);
    for (uint32_t i = 0; i < points->space; i++)
        if (points->constants.points[i].source == source)
            look_at(&points->constants.points[i], &words[i],
                    pm_constant_changes_elsewhere(&elsewhere, i), steady);
    pm_shader_estimates_finish(&elsewhere);
}

/* What knowing the words saves, in cycles, with what comparing them costs where that is the
 * shader's to do. */
static double saving_of(const struct pm_device *device, const struct pm_shader_record *record,
                        const struct pm_constant_known *known, uint32_t count)
{
    const struct pm_driver driver = pm_device_driver(device);
    const struct pm_specialize_constants_info info = {
        .known = known,
        .known_count = count,
        .costs = pm_costs_of(device->properties.vendorID),
        .float_zero = device->instance->config.optimize.float_zero,
        .target = device->abilities.target,
        .driver = &driver,
        .estimate_only = true,
    };
    struct pm_specialized_constants made;
    if (count == 0 || !pm_specialize_constants(record->canonical.data, record->canonical.count,
                                               &info, &made, NULL))
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
    struct steady steady = {.choices = choices, .most = TRIED_MOST};
    find_steady(device, record, PM_CONSTANT_PUSH, &steady);
    uint32_t count = steady.count;
    if (count > PM_WATCHED_MOST) {
        for (uint32_t i = 0; i < count; i++)
            choices[i].saving = saving_of(device, record, &choices[i].known, 1);
        qsort(choices, count, sizeof *choices, by_saving);
        count = PM_WATCHED_MOST;
    }
    keep(choices, count, out);
}

/* ---- uniforms ---- */

/* Words that are compared, and what knowing them saves. */
struct guarded {
    struct pm_constant_known words[GUARDED_MOST];
    uint32_t count;
    double saving;
};

static bool in_one_slot(const struct pm_constant_point *a, const struct pm_constant_point *b)
{
    return a->set == b->set && a->binding == b->binding && a->offset / 16 == b->offset / 16;
}

/* The same without some words next to one another. */
static struct guarded without(const struct pm_device *device, const struct pm_shader_record *record,
                              const struct guarded *guarded, uint32_t first, uint32_t end)
{
    struct guarded rest = {.count = 0};
    for (uint32_t i = 0; i < guarded->count; i++)
        if (i < first || i >= end)
            rest.words[rest.count++] = guarded->words[i];
    rest.saving = saving_of(device, record, rest.words, rest.count);
    return rest;
}

/* Where the words end that are left out together with one: itself, or all of a vector, which often
 * saves something only as a whole. */
static uint32_t end_of(const struct guarded *guarded, uint32_t first, bool by_slot)
{
    uint32_t end = first + 1;
    while (by_slot && end < guarded->count &&
           in_one_slot(&guarded->words[end].point, &guarded->words[first].point))
        end++;
    return end;
}

/* Leaves out what is worth least, as long as nothing is lost by it, or there are too many. */
static void leave_out(const struct pm_device *device, const struct pm_shader_record *record,
                      struct guarded *guarded, bool by_slot)
{
    for (bool again = true; again && guarded->count > 0;) {
        struct guarded best = {.saving = -HUGE_VAL};
        for (uint32_t first = 0, end; first < guarded->count; first = end) {
            end = end_of(guarded, first, by_slot);
            const struct guarded rest = without(device, record, guarded, first, end);
            if (rest.saving > best.saving)
                best = rest;
        }
        again = best.saving >= guarded->saving || guarded->count > PM_KNOWN_MOST;
        if (again)
            *guarded = best;
    }
}

static void log_chosen(const struct pm_device *device, const struct pm_shader_record *record,
                       const struct steady *steady, const struct guarded *guarded)
{
    char key[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(&record->key, key);
    pm_log_debug(
        device->instance->log,
        "shader %.12s: of %u words of uniforms that were seen %u change, %u may not be read "
        "at its entry, %u are compared, which would save %.0f cycles",
        key, steady->seen, steady->changes, steady->unable, guarded->count, guarded->saving);
}

void pm_known_words_uniform(const struct pm_device *device, const struct pm_shader_record *record,
                            enum pm_uniform_reads reads, struct pm_known_words *out)
{
    struct choice choices[GUARDED_MOST];
    struct steady steady = {.choices = choices, .most = GUARDED_MOST, .reads = reads};
    find_steady(device, record, PM_CONSTANT_UNIFORM, &steady);
    struct guarded guarded = {.count = steady.count};
    for (uint32_t i = 0; i < guarded.count; i++)
        guarded.words[i] = choices[i].known;
    guarded.saving = saving_of(device, record, guarded.words, guarded.count);
    leave_out(device, record, &guarded, true);
    leave_out(device, record, &guarded, false);
    if (steady.seen > 0)
        log_chosen(device, record, &steady, &guarded);
    out->count = guarded.count;
    memcpy(out->words, guarded.words, guarded.count * sizeof *out->words);
}
