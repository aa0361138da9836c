#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/analysis/analysis_flow.h"
#include "shader_rewrite/analysis/analysis_uniform.h"
#include "shader_rewrite/analysis/analysis_weights.h"
#include "shader_rewrite/analysis/pass.h"
#include "shader_rewrite/points/points.h"

#include <math.h>
#include <stdlib.h>

struct context {
    const double *weights; /* by point; NULL: none */
    struct pm_flow_points *out;
    struct pm_arena *arena;
};

/* Points are the reachable blocks, in the function's order. */
static bool allocate(struct pm_flow_points *out, uint32_t space)
{
    out->points = calloc(space + 1u, sizeof(*out->points));
    out->from = calloc(space + 1u, sizeof(*out->from));
    out->to = calloc(space + 1u, sizeof(*out->to));
    out->counted = calloc(space + 1u, sizeof(*out->counted));
    return out->points && out->from && out->to && out->counted;
}

/* Of what runs so often, which is an atomic each time if it may be a part of a subgroup. */
static bool weigh(const struct pm_ir_module *module, const struct pm_ir_function *function,
                  double *weights, struct pm_arena *arena)
{
    const struct pm_cfg *cfg = pm_cfg(function);
    const struct pm_memory memory = pm_memory_of(module);
    struct pm_uniform subgroup;
    if (!pm_uniform_compute(&subgroup, PM_UNIFORM_SUBGROUP, module, &memory, function, arena))
        return false;
    for (uint32_t b = 0; b < cfg->count; b++)
        if (pm_uniform_is_whole(&subgroup, cfg->blocks[b]))
            weights[b] *= PM_FLOW_PASSED;
    return true;
}

static bool find(const struct pm_ir_module *module, const struct pm_ir_function *function,
                 struct context *c)
{
    const struct pm_cfg *cfg = pm_cfg(function);
    struct pm_flow_points *out = c->out;
    struct pm_flow_junctions junctions;
    double *weights = pm_arena_zalloc(c->arena, cfg->count, sizeof(*weights));
    double *known = pm_arena_zalloc(c->arena, cfg->count, sizeof(*known));
    bool *counted = pm_arena_zalloc(c->arena, cfg->count, sizeof(*counted));
    if (!weights || !known || !counted || !allocate(out, cfg->order_count))
        return false;
    for (uint32_t b = 0, point = 0; b < cfg->count; b++)
        known[b] = pm_cfg_reachable(cfg, b) && c->weights ? c->weights[point++] : (double)NAN;
    pm_block_weights(function, known, weights);
    if ((!c->weights && !weigh(module, function, weights, c->arena)) ||
        !pm_flow_place(function, weights, counted, c->arena) ||
        !pm_flow_junctions(function, &junctions, c->arena))
        return false;
    out->junctions = junctions.count;
    for (uint32_t b = 0; b < cfg->count; b++) {
        if (!pm_cfg_reachable(cfg, b))
            continue;
        out->from[out->space] = junctions.from[b];
        out->to[out->space] = junctions.to[b];
        out->counted[out->space] = counted[b];
        if (counted[b])
            out->points[out->count++] = out->space;
        else if (out->space > 0)
            out->saved += weights[b];
        out->space++;
    }
    return true;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    struct context *c = context;
    enum pm_stage stage;
    const struct pm_ir_function *function = pm_entry_function(module, &stage, error);
    if (!function)
        return PM_PASS_FAILED;
    c->arena = pm_arena_create(0);
    const bool ok = c->arena && find(module, function, c);
    pm_arena_destroy(c->arena);
    if (!ok)
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    return pm_pass_result_of(ok, false);
}

static const struct pm_pass points_flow = {
    "points_flow", PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_POSTDOMINATORS | PM_ANALYSIS_LOOPS,
    PM_ANALYSIS_ALL, run};

bool pm_points_flow(const uint32_t *words, size_t count, const double *weights,
                    struct pm_flow_points *out, struct pm_error *error)
{
    *out = (struct pm_flow_points){0};
    struct context context = {.weights = weights, .out = out};
    struct pm_ir_module *module = pm_ir_parse(words, count, error);
    if (!module)
        return false;
    struct pm_pass_runner passes = pm_pass_runner_of(module, NULL);
    const bool ok = pm_pass_apply(&passes, &points_flow, &context, error);
    pm_ir_module_destroy(module);
    if (!ok)
        pm_flow_points_finish(out);
    return ok;
}

void pm_flow_points_finish(struct pm_flow_points *points)
{
    if (!points)
        return;
    free(points->points);
    free(points->from);
    free(points->to);
    free(points->counted);
    *points = (struct pm_flow_points){0};
}

bool pm_points_flow_rebuild(const struct pm_flow_points *points, uint64_t *lanes, bool *exact)
{
    const struct pm_flow flow = {.from = points->from,
                                 .to = points->to,
                                 .counted = points->counted,
                                 .blocks = points->space,
                                 .junctions = points->junctions};
    struct pm_arena *arena = pm_arena_create(0);
    const bool ok = arena && pm_flow_rebuild(&flow, lanes, exact, arena);
    pm_arena_destroy(arena);
    return ok;
}
