#include "aggregator/curation/shader_list.h"

#include "aggregator/curation/curate.h"
#include "aggregator/curation/worth.h"

#include <stdlib.h>
#include <string.h>

static void forget(struct pm_shader_estimates *shader)
{
    free((void *)shader->points);
    free((void *)shader->deficit);
    *shader = (struct pm_shader_estimates){0};
}

/* Levels are a byte a point. */
static size_t bytes_of(const struct pm_shader_list *list, size_t at)
{
    return pm_shader_estimates_bytes(&list->shaders[at]) +
           (list->evidence[at] ? list->shaders[at].space : 0);
}

/* Keeps what fits the database, and the order of it. */
static bool trim(struct pm_shader_list *list, struct pm_error *error)
{
    struct pm_shader_estimates *shaders = list->shaders;
    struct pm_worth *worths = calloc(list->count + 1, sizeof(*worths));
    if (!worths)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu shaders", list->count);
    for (size_t i = 0; i < list->count; i++)
        worths[i] = (struct pm_worth){.sessions = list->sessions[i],
                                      .entry_lanes = shaders[i].entry_lanes,
                                      .bytes = bytes_of(list, i),
                                      .index = i};
    list->bytes = pm_worth_choose(worths, list->count, list->most_bytes);
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++) {
        if (!worths[i].fits) {
            forget(&shaders[i]);
            free(list->evidence[i]);
            continue;
        }
        list->sessions[kept] = list->sessions[i];
        list->days[kept] = list->days[i];
        list->evidence[kept] = list->evidence[i];
        shaders[kept++] = shaders[i];
    }
    free(worths);
    list->left_out += list->count - kept;
    list->count = kept;
    return true;
}

/* Room for one more shader. */
static bool make_room(struct pm_shader_list *list, struct pm_error *error)
{
    if (list->count < list->allocated)
        return true;
    const size_t allocated = list->allocated ? list->allocated * 2 : 64;
    struct pm_shader_estimates *shaders = realloc(list->shaders, allocated * sizeof(*shaders));
    if (shaders)
        list->shaders = shaders;
    uint64_t *sessions = realloc(list->sessions, allocated * sizeof(*sessions));
    if (sessions)
        list->sessions = sessions;
    uint32_t *days = realloc(list->days, allocated * sizeof(*days));
    if (days)
        list->days = days;
    struct pm_evidence **evidence =
        realloc(list->evidence, allocated * sizeof(struct pm_evidence *));
    if (evidence)
        list->evidence = evidence;
    if (!shaders || !sessions || !days || !evidence)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %zu shaders", allocated);
    list->allocated = allocated;
    return true;
}

bool pm_shader_list_add(struct pm_shader_list *list, const struct pm_shader_estimates *shader,
                        struct pm_evidence *evidence, uint64_t sessions, uint32_t day,
                        struct pm_error *error)
{
    if (!make_room(list, error)) {
        struct pm_shader_estimates lost = *shader;
        forget(&lost);
        free(evidence);
        return false;
    }
    list->shaders[list->count] = *shader;
    list->days[list->count] = day;
    list->evidence[list->count] = evidence;
    list->bytes += bytes_of(list, list->count);
    list->sessions[list->count++] = sessions;
    /* Twice what there is room for, so that trimming is rare and memory still bounded. */
    return list->most_bytes > SIZE_MAX / 2 || list->bytes <= 2 * list->most_bytes ||
           trim(list, error);
}

static bool find_levels(const struct pm_evidence *evidence, const struct pm_leveling *leveling,
                        struct pm_arena *arena, struct pm_shader_estimates *shader)
{
    uint8_t *levels = pm_arena_alloc(arena, shader->space);
    if (levels &&
        pm_provisional_find(evidence, shader->space, &leveling->prior, leveling->least, levels))
        shader->provisional = levels;
    return levels != NULL;
}

bool pm_shader_list_settle(struct pm_shader_list *list, const struct pm_leveling *leveling,
                           struct pm_arena *arena, struct pm_curated *out, struct pm_error *error)
{
    if (list->bytes > list->most_bytes && !trim(list, error))
        return false;
    struct pm_shader_estimates *shaders =
        pm_arena_dup(arena, list->shaders, list->count * sizeof(*list->shaders));
    out->vouched_days = pm_arena_dup(arena, list->days, list->count * sizeof(*list->days));
    out->sessions = pm_arena_dup(arena, list->sessions, list->count * sizeof(*list->sessions));
    bool done = shaders && out->vouched_days && out->sessions;
    for (size_t i = 0; done && i < list->count; i++) {
        struct pm_shader_estimates *shader = &shaders[i];
        if (list->evidence[i])
            done = find_levels(list->evidence[i], leveling, arena, shader);
        if (done && shader->points)
            done = (shader->points = pm_arena_dup(arena, shader->points,
                                                  shader->space * sizeof(*shader->points))) != NULL;
        if (done && shader->deficit)
            done = (shader->deficit = pm_arena_dup(arena, shader->deficit,
                                                   ((size_t)shader->space + 7) / 8)) != NULL;
    }
    out->database.shaders = shaders;
    out->database.shader_count = list->count;
    out->left_out = list->left_out;
    return done || pm_fail(error, PM_ERROR_MEMORY, "out of memory for a database of %zu shaders",
                           list->count);
}

void pm_shader_list_finish(struct pm_shader_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        forget(&list->shaders[i]);
        free(list->evidence[i]);
    }
    free(list->evidence);
    free(list->shaders);
    free(list->sessions);
    free(list->days);
}
