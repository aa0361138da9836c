#include "shader_rewrite/instrument_blocks.h"

#include "profile/profile.h"
#include "shader_rewrite/analysis.h"
#include "shader_rewrite/instrument_counters.h"
#include "shader_rewrite/points_blocks.h"
#include <stdlib.h>

enum { ENTRY_LANES, ENTRY_SUBGROUPS, FIRST_POINT }; /* counters of a slot */

struct pass {
    struct pm_counting counting;
    struct pm_ir_builder builder;
    const struct pm_instrument_info *info;
    struct pm_ir_block **blocks; /* the instrumented points' blocks */
    struct pm_ir_def
        *entry_lanes; /* active lanes at entry, of which helpers are none; dominates every block */
};

static bool check_info(const struct pm_instrument_info *info, uint32_t space,
                       struct pm_error *error)
{
    if (info->slot_count < 1 || info->slot_count > 256 ||
        (info->slot_count & (info->slot_count - 1)))
        return pm_fail(error, PM_ERROR_INPUT, "slot count %u is not a power of two from 1 to 256",
                       info->slot_count);
    for (uint32_t i = 0; i < info->point_count; i++)
        if (info->points[i] >= space || (i && info->points[i] <= info->points[i - 1]))
            return pm_fail(error, PM_ERROR_INPUT,
                           "point %u is not above the one before it and below %u", info->points[i],
                           space);
    return true;
}

/* What a point counts, on the subgroup's elected lane. uniform NULL: it always is. */
static void count_point(struct pass *p, struct pm_counting_slot slot, uint32_t index,
                        struct pm_ir_def *lanes, struct pm_ir_def *uniform)
{
    const struct pm_counting *c = &p->counting;
    uint32_t first = FIRST_POINT + PM_COUNTS * index;
    struct pm_ir_def *one = pm_ir_constant_uint(c->module, 1);
    pm_counting_add(c, &p->builder, slot, first + PM_BLOCK_LANES, lanes);
    pm_counting_add(c, &p->builder, slot, first + PM_BLOCK_SUBGROUPS, one);
    struct pm_ir_block *merge = uniform ? pm_ir_build_if(&p->builder, uniform, true, NULL) : NULL;
    pm_counting_add(c, &p->builder, slot, first + PM_BLOCK_UNIFORM_LANES, lanes);
    if (uniform)
        pm_ir_build_end_if(&p->builder, merge);
}

/* The entry block: normalization counters, and point 0 when it is in the batch. */
static void instrument_entry(struct pass *p, struct pm_ir_block *block)
{
    const struct pm_counting *c = &p->counting;
    struct pm_ir_builder *b = &p->builder;
    struct pm_ir_block *rest = pm_block_open(b, block);
    struct pm_ir_block *outside = b->block;
    bool fragment = c->stage == PM_STAGE_FRAGMENT;
    if (fragment)
        pm_ir_build_if(b, pm_counting_is_helper(c, b), false, rest);

    struct pm_ir_def *lanes = pm_counting_lanes(c, b);
    struct pm_ir_block *merge =
        pm_ir_build_if(b, pm_counting_elect(c, b), true, fragment ? NULL : rest);
    struct pm_counting_slot slot = pm_counting_slot(c, b);
    pm_counting_add(c, b, slot, ENTRY_LANES, lanes);
    pm_counting_add(c, b, slot, ENTRY_SUBGROUPS, pm_ir_constant_uint(c->module, 1));
    if (p->info->point_count && p->info->points[0] == 0)
        count_point(p, slot, 0, lanes, NULL);
    pm_ir_build_end_if(b, merge);

    p->entry_lanes = lanes;
    if (!fragment)
        return;
    struct pm_ir_block *inside = b->block;
    pm_ir_build_end_if(b, rest);
    if (!inside || !rest)
        return;
    struct pm_ir_instr *phi = pm_ir_build_instr(b, SpvOpPhi, c->uint, NULL, 0);
    pm_ir_phi_add(c->module, phi, pm_ir_constant_uint(c->module, 0), outside);
    pm_ir_phi_add(c->module, phi, lanes, inside);
    p->entry_lanes = phi ? phi->result : NULL;
}

static void instrument_point(struct pass *p, uint32_t index)
{
    const struct pm_counting *c = &p->counting;
    struct pm_ir_builder *b = &p->builder;
    struct pm_ir_block *rest = pm_block_open(b, p->blocks[index]);
    bool fragment = c->stage == PM_STAGE_FRAGMENT;
    if (fragment)
        pm_ir_build_if(b, pm_counting_is_helper(c, b), false, rest);

    struct pm_ir_def *lanes = pm_counting_lanes(c, b);
    struct pm_ir_block *merge =
        pm_ir_build_if(b, pm_counting_elect(c, b), true, fragment ? NULL : rest);
    struct pm_counting_slot slot = pm_counting_slot(c, b);
    /* The lanes of a block are among those at entry, so that equal numbers are equal masks. A lane
     * that returned or was killed or demoted since did not enter: the subgroup is then not uniform.
     */
    struct pm_ir_def *uniform = pm_ir_build(b, SpvOpIEqual, c->boolean,
                                            PM_IR_ARGS(pm_ir_id(lanes), pm_ir_id(p->entry_lanes)));
    count_point(p, slot, index, lanes, uniform);
    pm_ir_build_end_if(b, merge);
    if (fragment)
        pm_ir_build_end_if(b, rest);
}

/* Finds the blocks before any is split. */
static bool find_blocks(struct pass *p, const struct pm_ir_module *module,
                        const struct pm_block_points *points)
{
    p->blocks =
        calloc(p->info->point_count ? p->info->point_count : 1, sizeof(struct pm_ir_block *));
    if (!p->blocks)
        return false;
    for (uint32_t i = 0; i < p->info->point_count; i++) {
        uint32_t label = points->points[p->info->points[i]].label;
        p->blocks[i] = pm_ir_find(module, label)->block;
    }
    return true;
}

/* EarlyFragmentTests, where the original's order of tests cannot be told from it (HAZARDS 4). */
static bool set_early_tests(struct pass *p, const uint32_t *words, size_t count,
                            struct pm_instrumented *out, struct pm_error *error)
{
    const struct pm_ir_instr *entry = p->counting.entry;
    struct pm_shader_facts facts;
    const struct pm_ir_operand *name = &entry->operands[2];
    const char *text = (const char *)(name->words ? name->words : &name->word);
    if (!pm_shader_facts(words, count, text, PM_STAGE_FRAGMENT, &facts, error))
        return false;
    if (facts.early_tests)
        return true;
    out->forced_early_tests = p->info->may_force_early_tests && !facts.uses_kill &&
                              !facts.exports_depth_or_mask && !facts.has_side_effects;
    out->counts_occluded = !out->forced_early_tests;
    if (!out->forced_early_tests)
        return true;
    struct pm_ir_module *module = p->counting.module;
    struct pm_ir_instr *mode =
        pm_ir_instr_with(module, SpvOpExecutionMode, NULL,
                         PM_IR_ARGS(pm_ir_id(entry->operands[1].def),
                                    pm_ir_word(SpvExecutionModeEarlyFragmentTests)));
    if (mode)
        pm_ir_insert(&module->sections[PM_IR_SECTION_EXECUTION_MODE], NULL, NULL, mode);
    return true;
}

static void rewrite(struct pass *p, struct pm_ir_function *function)
{
    instrument_entry(p, function->first_block);
    uint32_t first = p->info->point_count && p->info->points[0] == 0 ? 1 : 0;
    for (uint32_t i = first; i < p->info->point_count && !p->counting.module->failed; i++)
        instrument_point(p, i);
    pm_analysis_preserve(function, 0);
}

static bool instrument(struct pass *p, struct pm_ir_module *module, const uint32_t *words,
                       size_t count, struct pm_instrumented *out, struct pm_error *error)
{
    enum pm_stage stage;
    struct pm_block_points points = {0};
    struct pm_ir_function *function = pm_entry_function(module, &stage, error);
    if (!function || !pm_points_blocks_of(function, &points, error))
        return false;
    bool ok = check_info(p->info, points.count, error) &&
              (find_blocks(p, module, &points) || pm_fail(error, PM_ERROR_MEMORY, "out of memory"));
    pm_block_points_finish(&points);
    ok = ok && pm_counting_init(&p->counting, module, stage, p->info, error);
    p->builder.module = module;
    if (ok && stage == PM_STAGE_FRAGMENT)
        ok = set_early_tests(p, words, count, out, error);
    if (!ok)
        return false;
    rewrite(p, function);
    out->spec_id_low = p->counting.spec_id_low;
    out->spec_id_high = p->counting.spec_id_high;
    out->slot_stride = p->counting.slot_stride;
    out->counter_bytes = (uint64_t)p->counting.slot_count * p->counting.slot_stride * 8;
    return pm_ir_emit(module, &out->words, error);
}

bool pm_instrument_blocks(const uint32_t *words, size_t count,
                          const struct pm_instrument_info *info, struct pm_instrumented *out,
                          struct pm_error *error)
{
    *out = (struct pm_instrumented){0};
    struct pm_ir_module *module = pm_ir_parse(words, count, error);
    if (!module)
        return false;
    struct pass p = {.info = info};
    bool ok = instrument(&p, module, words, count, out, error);
    free(p.blocks);
    pm_ir_module_destroy(module);
    /* Subgroup operations are of SPIR-V 1.3, so of Vulkan 1.1. */
    struct pm_target target = info->target;
    if (target.vulkan_minor < 1)
        target.vulkan_minor = 1;
    if (ok && !pm_validate(out->words.data, out->words.count, &target, error))
        ok = pm_fail_prefix(error, "instrumented shader is not valid");
    if (!ok)
        pm_instrumented_finish(out);
    return ok;
}

void pm_instrumented_finish(struct pm_instrumented *instrumented)
{
    if (!instrumented)
        return;
    pm_words_finish(&instrumented->words);
    *instrumented = (struct pm_instrumented){0};
}
