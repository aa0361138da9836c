#include "shader_rewrite/points/points_blocks.h"

#include <stdlib.h>

struct pm_ir_function *pm_entry_function(const struct pm_ir_module *module, enum pm_stage *stage,
                                         struct pm_error *error)
{
    const struct pm_ir_instr *entry = module->sections[PM_IR_SECTION_ENTRY_POINT].first;
    if (!entry || entry->next) {
        pm_fail(error, PM_ERROR_INPUT,
                "SPIR-V: a canonical module has one entry point, this has %s",
                entry ? "several" : "none");
        return NULL;
    }
    uint32_t model = pm_ir_operand_word(&entry->operands[0]);
    if (model != SpvExecutionModelFragment && model != SpvExecutionModelGLCompute) {
        pm_fail(error, PM_ERROR_UNSUPPORTED,
                "SPIR-V: execution model %u is neither Fragment nor GLCompute", model);
        return NULL;
    }
    struct pm_ir_function *function =
        pm_ir_function_of(module, pm_ir_operand_id(&entry->operands[1]));
    if (!function || !function->first_block) {
        pm_fail(error, PM_ERROR_INPUT, "SPIR-V: the entry point names no function with a body");
        return NULL;
    }
    *stage = model == SpvExecutionModelFragment ? PM_STAGE_FRAGMENT : PM_STAGE_COMPUTE;
    return function;
}

static bool find(const struct pm_ir_function *function, struct pm_block_points *out,
                 struct pm_error *error)
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
    return pm_pass_result_of(function && find(function, out, error), false);
}

const struct pm_pass pm_pass_points_blocks = {"points_blocks", PM_ANALYSIS_CFG | PM_ANALYSIS_LOOPS,
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
