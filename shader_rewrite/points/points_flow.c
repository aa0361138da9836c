#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/analysis/analysis_flow.h"
#include "shader_rewrite/analysis/analysis_weights.h"
#include "shader_rewrite/analysis/pass.h"
#include "shader_rewrite/points/points.h"

#include <math.h>
#include <stdlib.h>

/* What both passes are told. Points are the reachable blocks, in the function's order. */
struct context {
    const double *weights; /* by point; NULL: none */
    struct pm_flow_points *points;
    uint64_t *lanes; /* by point; NULL: the points are to be found */
    bool *exact;
    struct pm_arena *arena;
};

static uint32_t point_count(const struct pm_cfg *cfg)
{
    return cfg->order_count;
}

static bool find(const struct pm_ir_function *function, struct context *c)
{
    const struct pm_cfg *cfg = pm_cfg(function);
    double *weights = pm_arena_zalloc(c->arena, cfg->count, sizeof(*weights));
    double *known = pm_arena_zalloc(c->arena, cfg->count, sizeof(*known));
    bool *counted = pm_arena_zalloc(c->arena, cfg->count, sizeof(*counted));
    c->points->points = malloc((point_count(cfg) + 1) * sizeof(uint32_t));
    if (!weights || !known || !counted || !c->points->points)
        return false;
    for (uint32_t b = 0, point = 0; b < cfg->count; b++)
        known[b] = pm_cfg_reachable(cfg, b) && c->weights ? c->weights[point++] : (double)NAN;
    pm_block_weights(function, known, weights);
    if (!pm_flow_place(function, weights, counted, c->arena))
        return false;
    for (uint32_t b = 0; b < cfg->count; b++) {
        if (!pm_cfg_reachable(cfg, b))
            continue;
        if (counted[b])
            c->points->points[c->points->count++] = c->points->space;
        c->points->space++;
    }
    return true;
}

static bool rebuild(const struct pm_ir_function *function, struct context *c)
{
    const struct pm_cfg *cfg = pm_cfg(function);
    uint64_t *lanes = pm_arena_zalloc(c->arena, cfg->count, sizeof(*lanes));
    bool *counted = pm_arena_zalloc(c->arena, cfg->count, sizeof(*counted));
    if (!lanes || !counted)
        return false;
    for (uint32_t b = 0, point = 0, next = 0; b < cfg->count; b++) {
        if (!pm_cfg_reachable(cfg, b))
            continue;
        counted[b] = next < c->points->count && c->points->points[next] == point;
        next += counted[b];
        lanes[b] = c->lanes[point++];
    }
    if (!pm_flow_rebuild(function, counted, lanes, c->exact, c->arena))
        return false;
    for (uint32_t b = 0, point = 0; b < cfg->count; b++)
        if (pm_cfg_reachable(cfg, b))
            c->lanes[point++] = lanes[b];
    return true;
}

static enum pm_pass_result run_pass(struct pm_ir_module *module, void *context,
                                    struct pm_error *error)
{
    struct context *c = context;
    enum pm_stage stage;
    const struct pm_ir_function *function = pm_entry_function(module, &stage, error);
    if (!function)
        return PM_PASS_FAILED;
    if (c->lanes && c->points->space != point_count(pm_cfg(function))) {
        pm_fail(error, PM_ERROR_INPUT, "the points are not this module's");
        return PM_PASS_FAILED;
    }
    c->arena = pm_arena_create(0);
    const bool ok = c->arena && (c->lanes ? rebuild(function, c) : find(function, c));
    pm_arena_destroy(c->arena);
    if (!ok)
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    return pm_pass_result_of(ok, false);
}

static const struct pm_pass points_flow = {
    "points_flow", PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_LOOPS, PM_ANALYSIS_ALL, run_pass};

static bool run(const uint32_t *words, size_t count, struct context *context,
                struct pm_error *error)
{
    struct pm_ir_module *module = pm_ir_parse(words, count, error);
    if (!module)
        return false;
    struct pm_pass_runner passes = pm_pass_runner_of(module, NULL);
    const bool ok = pm_pass_apply(&passes, &points_flow, context, error);
    pm_ir_module_destroy(module);
    return ok;
}

bool pm_points_flow(const uint32_t *words, size_t count, const double *weights,
                    struct pm_flow_points *out, struct pm_error *error)
{
    *out = (struct pm_flow_points){0};
    struct context context = {.weights = weights, .points = out};
    if (run(words, count, &context, error))
        return true;
    pm_flow_points_finish(out);
    return false;
}

void pm_flow_points_finish(struct pm_flow_points *points)
{
    if (!points)
        return;
    free(points->points);
    *points = (struct pm_flow_points){0};
}

bool pm_points_flow_rebuild(const uint32_t *words, size_t count,
                            const struct pm_flow_points *points, uint64_t *lanes, bool *exact,
                            struct pm_error *error)
{
    struct pm_flow_points copy = *points;
    struct context context = {.points = &copy, .lanes = lanes, .exact = exact};
    return run(words, count, &context, error);
}
