#include "aggregator/curation/release.h"

#include "aggregator/curation/quantize.h"
#include "aggregator/curation/worth.h"

#define SECONDS_A_DAY 86400
/* What is that much of tomorrow was published by a clock that was wrong. */
#define AHEAD_SECONDS 600

bool pm_release_is_due(const struct pm_curator *curator, uint64_t published_at, uint64_t now)
{
    return now >= published_at + curator->publish_seconds || published_at > now + AHEAD_SECONDS;
}

static const struct pm_shader_estimates *find(const struct pm_database *before, size_t *at,
                                              const struct pm_shader_estimates *shader)
{
    for (; before && *at < before->shader_count; ++*at) {
        const struct pm_shader_estimates *old = &before->shaders[*at];
        const int order = pm_shader_estimates_compare(old, shader);
        if (order == 0)
            return old;
        if (order > 0)
            break;
    }
    return NULL;
}

/* The shader as it may be published for the first time, or anew. */
static bool make(struct pm_shader_estimates *shader, uint32_t today, struct pm_arena *arena,
                 struct pm_error *error)
{
    shader->as_of_day = today;
    shader->entry_lanes = pm_quantize_count(shader->entry_lanes);
    shader->lying = pm_quantize_lying(shader->lying);
    if (!shader->points)
        return true;
    struct pm_point_estimate *points =
        pm_arena_dup(arena, shader->points, shader->space * sizeof(*points));
    if (!points)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory for %u points", shader->space);
    pm_quantize_points(shader->kind, points, shader->space);
    shader->points = points;
    return true;
}

/* What is published again as it was may take more than what the list was cut by: points where there
 * is only a deficit by now. Makes room: what was published before comes before what was not. */
static void fit(const struct pm_curator *curator, struct pm_curated *curated,
                struct pm_shader_estimates *shaders, struct pm_worth *worths)
{
    struct pm_database *database = &curated->database;
    size_t kept = 0;
    pm_worth_choose(worths, database->shader_count, curator->database_bytes);
    for (size_t i = 0; i < database->shader_count; i++) {
        if (worths[i].fits)
            shaders[kept++] = shaders[i];
    }
    curated->left_out += database->shader_count - kept;
    curated->vouched_days = NULL;
    curated->sessions = NULL;
    database->shaders = shaders;
    database->shader_count = kept;
}

bool pm_release_make(const struct pm_curator *curator, const struct pm_database *before,
                     struct pm_curated *curated, struct pm_arena *arena, struct pm_error *error)
{
    struct pm_database *database = &curated->database;
    const uint32_t today = (uint32_t)(database->curated_at / SECONDS_A_DAY);
    struct pm_shader_estimates *shaders =
        pm_arena_dup(arena, database->shaders, database->shader_count * sizeof(*shaders));
    struct pm_worth *worths = pm_arena_zalloc(arena, database->shader_count, sizeof(*worths));
    size_t at = 0;
    bool done =
        (shaders && worths) || pm_fail(error, PM_ERROR_MEMORY, "out of memory for a database");
    for (size_t i = 0; done && i < database->shader_count; i++) {
        const struct pm_shader_estimates *old = find(before, &at, &shaders[i]);
        if (curator->publish_seconds == 0)
            shaders[i].as_of_day = 0;
        else if (old && old->as_of_day <= today && curated->vouched_days[i] <= old->as_of_day)
            shaders[i] = *old;
        else
            done = make(&shaders[i], today, arena, error);
        worths[i] = (struct pm_worth){.stays = old != NULL,
                                      .sessions = curated->sessions[i],
                                      .entry_lanes = shaders[i].entry_lanes,
                                      .bytes = pm_shader_estimates_bytes(&shaders[i]),
                                      .index = i};
    }
    if (done)
        fit(curator, curated, shaders, worths);
    return done;
}
