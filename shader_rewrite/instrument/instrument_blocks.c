#include "shader_rewrite/instrument/instrument_module.h"

#include "profile/profile.h"
#include "shader_rewrite/ir/block_open.h"
#include "shader_rewrite/points/points_blocks.h"
#include <stdlib.h>

/* What a point counts, on the subgroup's elected lane. uniform NULL: it always is. */
static void count_point(struct pm_instrument *p, struct pm_counting_slot slot, uint32_t index,
                        struct pm_ir_def *lanes, struct pm_ir_def *uniform)
{
    const struct pm_counting *c = &p->counting;
    uint32_t first = pm_instrument_counter(p, index);
    if (p->info->lanes_only) {
        pm_counting_add(c, &p->builder, slot, first, lanes);
        return;
    }
    struct pm_ir_def *one = pm_ir_constant_uint(c->module, 1);
    if (!p->info->flow || p->info->flow->counted[p->info->points[index]])
        pm_counting_add(c, &p->builder, slot, first + PM_BLOCK_LANES, lanes);
    pm_counting_add(c, &p->builder, slot, first + PM_BLOCK_SUBGROUPS, one);
    struct pm_ir_block *merge = uniform ? pm_ir_build_if(&p->builder, uniform, true, NULL) : NULL;
    pm_counting_add(c, &p->builder, slot, first + PM_BLOCK_UNIFORM_LANES, lanes);
    if (uniform)
        pm_ir_build_end_if(&p->builder, merge);
}

/* Point 0, the entry block, is counted beside the normalization counters. */
static void count_entry(struct pm_instrument *p, struct pm_counting_slot slot,
                        struct pm_ir_def *lanes)
{
    count_point(p, slot, 0, lanes, NULL);
}

static void instrument_point(struct pm_instrument *p, uint32_t index, struct pm_ir_block *block)
{
    struct pm_ir_builder *b = &p->builder;
    struct pm_ir_block *rest = pm_block_open(b, block);
    struct pm_instrument_place place = pm_instrument_enter(p, rest);
    /* The lanes of a block are among those at entry, so that equal numbers are equal masks. A lane
     * that returned or was killed or demoted since did not enter: the subgroup is then not uniform.
     */
    struct pm_ir_def *uniform =
        p->info->lanes_only
            ? NULL
            : pm_ir_build(b, SpvOpIEqual, p->counting.boolean,
                          PM_IR_ARGS(pm_ir_id(place.lanes), pm_ir_id(p->entry_lanes)));
    count_point(p, place.slot, index, place.lanes, uniform);
    pm_instrument_leave(p, &place);
}

/* Finds the instrumented points' blocks before any is split. NULL: out of memory. */
static struct pm_ir_block **find_blocks(const struct pm_instrument *p,
                                        const struct pm_block_points *points)
{
    uint32_t count = p->info->point_count;
    struct pm_ir_block **blocks = calloc(count ? count : 1, sizeof(*blocks));
    for (uint32_t i = 0; blocks && i < count; i++)
        blocks[i] = pm_ir_find(p->module, points->points[p->info->points[i]].label)->block;
    return blocks;
}

struct pass {
    struct pm_instrument instrument;
    struct pm_block_points points;
    struct pm_instrumented *out;
};

static bool rewrite(struct pm_instrument *p, const struct pm_block_points *points,
                    struct pm_error *error)
{
    const struct pm_instrument_info *info = p->info;
    struct pm_ir_block **blocks = find_blocks(p, points);
    if (!blocks)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (info->flow && (info->flow->space != points->count || info->point_count != points->count)) {
        free(blocks);
        return pm_fail(error, PM_ERROR_INPUT, "lanes follow from others only of all points");
    }
    uint32_t first = info->point_count && info->points[0] == 0 ? 1 : 0;
    pm_instrument_entry(p, first ? count_entry : NULL);
    for (uint32_t i = first; i < info->point_count && !p->module->failed; i++)
        instrument_point(p, i, blocks[i]);
    free(blocks);
    return true;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    (void)module;
    struct pass *p = context;
    return pm_pass_result_of(pm_instrument_ready(&p->instrument, p->points.count, p->out, error) &&
                                 rewrite(&p->instrument, &p->points, error),
                             true);
}

static const struct pm_pass instrument_blocks = {"instrument_blocks", 0, 0, run};

bool pm_instrument_blocks(const uint32_t *words, size_t count,
                          const struct pm_instrument_info *info, struct pm_instrumented *out,
                          struct pm_error *error)
{
    *out = (struct pm_instrumented){0};
    struct pass p = {.out = out};
    struct pm_pass_runner *passes = &p.instrument.passes;
    bool ok = pm_instrument_begin(&p.instrument, words, count, info, error);
    p.instrument.units = info->lanes_only ? 1 : 0;
    ok = ok && pm_pass_run(passes, &pm_pass_points_blocks, &p.points, error) != PM_PASS_FAILED &&
         pm_pass_run(passes, &instrument_blocks, &p, error) != PM_PASS_FAILED;
    pm_block_points_finish(&p.points);
    return pm_instrument_end(&p.instrument, ok, out, error);
}
