#include "shader_rewrite/points/points_blocks.h"

#include "shader_rewrite/analysis/analysis_uniform.h"
#include <stdlib.h>

static bool find(const struct pm_ir_function *function, const struct pm_uniform *workgroup,
                 struct pm_block_points *out, struct pm_error *error)
{
    const struct pm_cfg *cfg = pm_cfg(function);
    const struct pm_loops *loops = pm_loops(function);
    out->points = malloc(cfg->order_count * sizeof(*out->points));
    if (!out->points)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (uint32_t b = 0; b < cfg->count; b++) {
        if (!pm_cfg_reachable(cfg, b))
            continue;
        out->points[out->count++] = (struct pm_block_point){
            .label = cfg->blocks[b]->label->result->id,
            .at_most_once = loops->loop_of[b] == PM_NO_LOOP,
            .is_whole = workgroup && pm_uniform_is_whole(workgroup, cfg->blocks[b]),
        };
    }
    return true;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    struct pm_block_points *out = context;
    enum pm_stage stage;
    *out = (struct pm_block_points){0};
    const struct pm_ir_function *function = pm_entry_function(module, &stage, error);
    struct pm_arena *arena = function ? pm_arena_create(0) : NULL;
    const struct pm_memory memory = pm_memory_of(module);
    struct pm_uniform workgroup;
    bool ok = arena && pm_uniform_compute(&workgroup, PM_UNIFORM_WORKGROUP, module, &memory,
                                          function, arena);
    if (function && !ok)
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    ok = ok && find(function, stage == PM_STAGE_COMPUTE ? &workgroup : NULL, out, error);
    pm_arena_destroy(arena);
    return pm_pass_result_of(ok, false);
}

const struct pm_pass pm_pass_points_blocks = {
    "points_blocks", PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_POSTDOMINATORS | PM_ANALYSIS_LOOPS,
    PM_ANALYSIS_ALL, run};

bool pm_points_blocks(const uint32_t *words, size_t count, struct pm_block_points *out,
                      struct pm_error *error)
{
    *out = (struct pm_block_points){0};
    struct pm_ir_module *module = pm_ir_parse(words, count, error);
    if (!module)
        return false;
    struct pm_pass_runner passes = pm_pass_runner_of(module, NULL);
    bool ok = pm_pass_run(&passes, &pm_pass_points_blocks, out, error) != PM_PASS_FAILED;
    pm_ir_module_destroy(module);
    return ok;
}

void pm_block_points_finish(struct pm_block_points *points)
{
    if (!points)
        return;
    free(points->points);
    *points = (struct pm_block_points){0};
}
