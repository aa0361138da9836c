#include "shader_rewrite/instrument/instrument_module.h"

#include "base/stop.h"
#include "profile/profile.h"
#include "shader_rewrite/canonical/canonical.h"
#include "shader_rewrite/ir/block_open.h"
#include "shader_rewrite/points/points_blocks.h"
#include <stdlib.h>

enum { ENTRY_LANES, ENTRY_SUBGROUPS, FIRST_POINT }; /* counters of a slot */

bool pm_instrument_begin(struct pm_instrument *p, const uint32_t *words, size_t count,
                         const struct pm_instrument_info *info, struct pm_error *error)
{
    *p = (struct pm_instrument){.info = info, .words = words, .word_count = count};
    p->module = pm_ir_parse(words, count, error);
    p->passes = pm_pass_runner_of(p->module, info->times);
    p->function = p->module ? pm_entry_function(p->module, &p->stage, error) : NULL;
    p->builder.module = p->module;
    return p->function != NULL;
}

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

/* EarlyFragmentTests, where the original's order of tests cannot be told from it (HAZARDS 4). */
static bool set_early_tests(struct pm_instrument *p, struct pm_instrumented *out,
                            struct pm_error *error)
{
    const struct pm_ir_instr *entry = p->counting.entry;
    struct pm_shader_facts facts;
    if (!pm_shader_facts(p->module, pm_ir_operand_text(&entry->operands[2]), PM_STAGE_FRAGMENT,
                         &facts, error))
        return false;
    if (facts.early_tests)
        return true;
    out->forced_early_tests = p->info->may_force_early_tests && !facts.uses_kill &&
                              !facts.exports_depth_or_mask && !facts.has_side_effects &&
                              !facts.reads_attachments;
    out->counts_occluded = !out->forced_early_tests;
    if (!out->forced_early_tests)
        return true;
    struct pm_ir_instr *mode =
        pm_ir_instr_with(p->module, SpvOpExecutionMode, NULL,
                         PM_IR_ARGS(pm_ir_id(entry->operands[1].def),
                                    pm_ir_word(SpvExecutionModeEarlyFragmentTests)));
    if (mode)
        pm_ir_insert(&p->module->sections[PM_IR_SECTION_EXECUTION_MODE], NULL, NULL, mode);
    return true;
}

bool pm_instrument_ready(struct pm_instrument *p, uint32_t space, struct pm_instrumented *out,
                         struct pm_error *error)
{
    if (!check_info(p->info, space, error) ||
        !pm_counting_init(&p->counting, p->module, p->stage, p->info, error))
        return false;
    return (p->stage != PM_STAGE_FRAGMENT || set_early_tests(p, out, error));
}

uint32_t pm_instrument_most_points(size_t word_count)
{
    enum { WORDS_OF_POINT = 170, FEWEST = 64, MOST = 128 };
    const size_t points = word_count / WORDS_OF_POINT;
    return points < FEWEST ? FEWEST : points > MOST ? MOST : (uint32_t)points;
}

struct pm_ir_def *pm_instrument_variable(const struct pm_instrument *p)
{
    struct pm_ir_module *module = p->module;
    struct pm_ir_block *first = p->function->first_block;
    struct pm_ir_def *type = pm_ir_type_pointer(module, SpvStorageClassFunction, p->counting.uint);
    struct pm_ir_builder b = {module, first, first->body.first};
    return pm_ir_build(
        &b, SpvOpVariable, type,
        PM_IR_ARGS(pm_ir_word(SpvStorageClassFunction), pm_ir_id(pm_ir_constant_uint(module, 0))));
}

uint32_t pm_instrument_counter(uint32_t point)
{
    return FIRST_POINT + PM_COUNTS * point;
}

struct pm_instrument_place pm_instrument_enter(struct pm_instrument *p, struct pm_ir_block *rest)
{
    const struct pm_counting *c = &p->counting;
    struct pm_ir_builder *b = &p->builder;
    struct pm_instrument_place place = {.rest = rest};
    bool fragment = p->stage == PM_STAGE_FRAGMENT;
    if (fragment)
        pm_ir_build_if(b, pm_counting_is_helper(c, b), false, rest);
    place.lanes = pm_counting_lanes(c, b);
    place.merge = pm_ir_build_if(b, pm_counting_elect(c, b), true, fragment ? NULL : rest);
    place.slot = pm_counting_slot(c, b);
    return place;
}

void pm_instrument_leave(struct pm_instrument *p, const struct pm_instrument_place *place)
{
    pm_ir_build_end_if(&p->builder, place->merge);
    if (place->merge != place->rest)
        pm_ir_build_end_if(&p->builder, place->rest);
}

void pm_instrument_entry(struct pm_instrument *p)
{
    const struct pm_counting *c = &p->counting;
    struct pm_ir_builder *b = &p->builder;
    struct pm_ir_block *rest = pm_block_open(b, p->function->first_block);
    struct pm_instrument_place place = pm_instrument_enter(p, rest);
    pm_counting_add(c, b, place.slot, ENTRY_LANES, place.lanes);
    pm_counting_add(c, b, place.slot, ENTRY_SUBGROUPS, pm_ir_constant_uint(c->module, 1));
    pm_instrument_leave(p, &place);
}

static bool emit(struct pm_instrument *p, struct pm_instrumented *out, struct pm_error *error)
{
    out->spec_id_low = p->counting.address.spec_id_low;
    out->spec_id_high = p->counting.address.spec_id_high;
    out->slot_stride = p->counting.slot_stride;
    out->counter_bytes = (uint64_t)p->counting.slot_count * p->counting.slot_stride * 8;
    return pm_ir_emit(p->module, &out->words, error);
}

bool pm_instrument_end(struct pm_instrument *p, bool ok, struct pm_instrumented *out,
                       struct pm_error *error)
{
    ok = ok && emit(p, out, error);
    pm_ir_module_destroy(p->module);
    p->module = NULL;
    /* Subgroup operations are of SPIR-V 1.3, so of Vulkan 1.1. */
    struct pm_target target = p->info->target;
    if (target.vulkan_minor < 1)
        target.vulkan_minor = 1;
    ok = ok && pm_stop_check(error);
    if (ok && !pm_validate_made(&out->words, p->words, p->word_count, &target, error))
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
    free(instrumented->blocks.units);
    free(instrumented->zeros.pairs);
    *instrumented = (struct pm_instrumented){0};
}
