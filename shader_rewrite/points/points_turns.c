#include "shader_rewrite/points/points_turns.h"

#include "shader_rewrite/analysis/analysis_turns.h"
#include <stdlib.h>

static uint32_t loop_at(const struct pm_loops *loops, uint32_t block)
{
    for (uint32_t l = loops->loop_of[block]; l != PM_NO_LOOP; l = loops->loops[l].parent)
        if (loops->loops[l].header == block)
            return l;
    return PM_NO_LOOP;
}

static bool find(const struct pm_ir_function *function, struct pm_turn_points *out,
                 struct pm_error *error)
{
    const struct pm_cfg *cfg = pm_cfg(function);
    const struct pm_loops *loops = pm_loops(function);
    uint32_t *sizes = malloc((loops->count + 1u) * sizeof(*sizes));
    out->loops = malloc((loops->count + 1u) * sizeof(*out->loops));
    if (!sizes || !out->loops) {
        free(sizes);
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    }
    pm_loop_sizes(function, sizes);
    for (uint32_t b = 0; b < cfg->count; b++) {
        const uint32_t loop = pm_cfg_reachable(cfg, b) ? loop_at(loops, b) : PM_NO_LOOP;
        const struct pm_ir_block *latch = loop == PM_NO_LOOP ? NULL : pm_loop_latch(function, loop);
        /* A latch that is another loop's header runs once a turn of that one. */
        if (!latch || (b != latch->index && pm_ir_merge(latch)) ||
            2 * sizes[loop] > PM_TURNS_MOST_INSTRUCTIONS || pm_loop_turns_always(function, loop) > 0)
            continue;
        out->loops[out->loop_count++] = (struct pm_turn_loop){
            .header = cfg->blocks[b]->label->result->id,
            .latch = latch->label->result->id,
            .at_most_once = loops->loops[loop].parent == PM_NO_LOOP,
        };
    }
    free(sizes);
    out->count = out->loop_count * PM_TURN_POINTS;
    return true;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    struct pm_turn_points *out = context;
    enum pm_stage stage;
    *out = (struct pm_turn_points){0};
    const struct pm_ir_function *function = pm_entry_function(module, &stage, error);
    return pm_pass_result_of(function && find(function, out, error), false);
}

const struct pm_pass pm_pass_points_turns = {"points_turns", PM_ANALYSIS_CFG | PM_ANALYSIS_LOOPS,
                                             PM_ANALYSIS_ALL, run};

bool pm_points_turns(const uint32_t *words, size_t count, struct pm_turn_points *out,
                     struct pm_error *error)
{
    *out = (struct pm_turn_points){0};
    struct pm_ir_module *module = pm_ir_parse(words, count, error);
    if (!module)
        return false;
    struct pm_pass_runner passes = pm_pass_runner_of(module, NULL);
    const bool ok = pm_pass_run(&passes, &pm_pass_points_turns, out, error) != PM_PASS_FAILED;
    pm_ir_module_destroy(module);
    if (!ok)
        pm_turn_points_finish(out);
    return ok;
}

void pm_turn_points_finish(struct pm_turn_points *points)
{
    if (!points)
        return;
    free(points->loops);
    *points = (struct pm_turn_points){0};
}
