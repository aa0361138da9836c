/* A-Z testing: pipelines that come take part in contests, or get their winners. */
#include "layer/shader/optimize_contest_private.h"

#include "layer/core/session.h"
#include "layer/shader/specialized_shader.h"
#include "layer/shader/variant_make.h"
#include "profile/variant_parts.h"

/* A shader that won, in this session or an earlier one. false: there is no room. */
static bool use_winner(struct pm_optimizer *optimizer, const struct pm_specialized_shader *winner,
                       struct pm_pipeline *pipeline)
{
    struct pm_error error = {0};
    if (!pm_optimizer_reserve(optimizer, PM_ROOM_OPTIMIZED))
        return false;
    struct pm_optimized *optimized =
        pm_optimizer_build(optimizer, optimizer->cache, pipeline, winner, PM_USE_ANYWHERE, &error);
    if (optimized) {
        pm_optimizer_publish(optimizer, pipeline, optimized);
        return true;
    }
    pm_optimizer_give_back(optimizer, PM_ROOM_OPTIMIZED);
    pm_log_info(optimizer->device->instance->log, "a pipeline is not specialized: %s",
                error.message);
    return true;
}

static void join(struct pm_optimizer *optimizer, struct pm_contest *contest,
                 struct pm_pipeline *pipeline)
{
    if (pipeline == contest->pipeline)
        return;
    if (contest->pipeline) {
        pm_pipeline_list_put(&contest->waiting, pipeline);
        return;
    }
    pm_pipeline_reference(pipeline);
    pm_contest_take_pipeline(contest, pipeline);
    pm_contest_measure_next(optimizer, contest);
}

/* Whether contests are held, or their winners used, of what is no withheld shader's; and which
 * other parts are withheld of it. */
static bool may_enter(const struct pm_optimizer *optimizer, const struct pm_pipeline *pipeline,
                      struct pm_shader_request *request, uint32_t *withheld)
{
    if (!optimizer->device->trials || !pm_session_tests_variants(optimizer->device->instance) ||
        !pm_pipeline_shader_request(pipeline, request))
        return false;
    /* Else a contest would begin for a shader whose winner is known. */
    request->waits = true;
    *withheld = pm_specialized_shaders_withheld(optimizer->shaders, request);
    return (*withheld & PM_PART_RECIPE) == 0;
}

/* base: whose contest it is; NULL: the original's. kept: what an earlier session found. */
static bool enter(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline,
                  const struct pm_shader_request *request, uint32_t withheld,
                  const struct pm_specialized_shader *base,
                  const struct pm_specialized_shader *kept)
{
    /* Or it is tried again: published like any other. */
    if (kept && (kept->timing == PM_TIMING_FASTER || kept->session == PM_SESSION_NONE))
        return use_winner(optimizer, kept, pipeline);
    /* What waits for its compiles has no contests. */
    if (!optimizer->contests)
        return true;
    struct pm_contest *contest = pm_contests_get(optimizer->contests, request, base, pipeline);
    if (!contest)
        return true;
    contest->withheld = withheld;
    const enum pm_contest_state state = atomic_load(&contest->state);
    const struct pm_specialized_shader *chosen = pm_contest_chosen(contest);
    if (state == PM_CONTEST_WON && !contest->pipeline)
        return !chosen || use_winner(optimizer, chosen, pipeline);
    if (state != PM_CONTEST_OVER)
        join(optimizer, contest, pipeline);
    return true;
}

bool pm_optimizer_enter_contest(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline)
{
    struct pm_shader_request request;
    struct pm_making_cost cost;
    uint32_t withheld;
    return !may_enter(optimizer, pipeline, &request, &withheld) ||
           enter(
               optimizer, pipeline, &request, withheld, NULL,
               pm_specialized_shaders_proven(optimizer->shaders, &request, PM_USE_ANYWHERE, &cost));
}

bool pm_optimizer_enter_over(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline)
{
    const struct pm_optimized *known = atomic_load(&pipeline->optimized);
    const struct pm_specialized_shader *base = known->shader;
    struct pm_shader_request request;
    struct pm_making_cost cost;
    uint32_t withheld;
    /* Of a recipe's variant there were pairs. */
    if (atomic_load(&pipeline->best) == 0 || atomic_load(&pipeline->over) || pipeline->keeps_side ||
        (base->made_by & PM_MADE_BY_RECIPE) || !may_enter(optimizer, pipeline, &request, &withheld))
        return true;
    return enter(optimizer, pipeline, &request, withheld, base,
                 pm_specialized_shaders_over(optimizer->shaders, base, &cost));
}
