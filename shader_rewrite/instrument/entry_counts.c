#include "shader_rewrite/instrument/entry_counts.h"

static struct pm_ir_def *uint_of(const struct pm_entry_counts *e, uint32_t value)
{
    return pm_ir_constant_uint(e->counting->module, value);
}

static struct pm_ir_def *build(const struct pm_entry_counts *e, uint16_t opcode,
                               struct pm_ir_def *type, struct pm_ir_def *x, struct pm_ir_def *y)
{
    return pm_ir_build(e->builder, opcode, type, PM_IR_ARGS(pm_ir_id(x), pm_ir_id(y)));
}

static struct pm_ir_def *choose(const struct pm_entry_counts *e, struct pm_ir_def *condition,
                                struct pm_ir_def *yes, struct pm_ir_def *no)
{
    return pm_ir_build(e->builder, SpvOpSelect, e->counting->uint,
                       PM_IR_ARGS(pm_ir_id(condition), pm_ir_id(yes), pm_ir_id(no)));
}

static struct pm_ir_def *count_bits(const struct pm_entry_counts *e, SpvGroupOperation operation)
{
    return pm_ir_build(e->builder, SpvOpGroupNonUniformBallotBitCount, e->counting->uint,
                       PM_IR_ARGS(pm_ir_id(e->counting->subgroup_scope),
                                  pm_ir_word((uint32_t)operation), pm_ir_id(e->ballot)));
}

static struct pm_ir_def *build_live(const struct pm_entry_counts *e)
{
    const struct pm_counting *counting = e->counting;
    if (counting->stage != PM_STAGE_FRAGMENT)
        return counting->true_constant;
    return pm_ir_build(e->builder, SpvOpLogicalNot, counting->boolean,
                       PM_IR_ARGS(pm_ir_id(pm_counting_is_helper(counting, e->builder))));
}

struct pm_entry_counts pm_entry_counts_ask(const struct pm_counting *counting,
                                           struct pm_ir_builder *builder, struct pm_ir_def *live,
                                           uint32_t subgroup_size)
{
    struct pm_entry_counts entry = {.counting = counting, .builder = builder};
    const struct pm_entry_counts *e = &entry;
    entry.live = live ? live : build_live(e);
    entry.ballot =
        pm_ir_build(builder, SpvOpGroupNonUniformBallot, counting->ballot,
                    PM_IR_ARGS(pm_ir_id(counting->subgroup_scope), pm_ir_id(entry.live)));
    entry.lanes = count_bits(e, SpvGroupOperationReduce);
    entry.rank = count_bits(e, SpvGroupOperationExclusiveScan);
    struct pm_ir_def *alone = build(e, SpvOpIEqual, counting->boolean, entry.lanes, uint_of(e, 1));
    entry.full = pm_ir_constant_bool(counting->module, false);
    entry.full_or_one = alone;
    if (subgroup_size > 0) {
        entry.full =
            build(e, SpvOpIEqual, counting->boolean, entry.lanes, uint_of(e, subgroup_size));
        entry.full_or_one = build(e, SpvOpLogicalOr, counting->boolean, entry.full, alone);
    }
    return entry;
}

struct pm_entry_add pm_entry_counts_of(const struct pm_entry_counts *e, struct pm_ir_def *number,
                                       uint32_t apart)
{
    struct pm_ir_def *is_first = build(e, SpvOpIEqual, e->counting->boolean, number, uint_of(e, 0));
    struct pm_ir_def *whole =
        choose(e, e->full, uint_of(e, PM_ENTRY_FULL * apart), uint_of(e, PM_ENTRY_ALONE * apart));
    struct pm_ir_def *index = choose(e, e->full_or_one, whole, uint_of(e, PM_ENTRY_OTHERS * apart));
    return (struct pm_entry_add){
        .index = choose(e, is_first, index, uint_of(e, PM_ENTRY_LANES * apart)),
        .value = choose(e, is_first, uint_of(e, 1), e->lanes),
    };
}

struct pm_ir_def *pm_entry_counts_numbers(const struct pm_entry_counts *e)
{
    return choose(e, e->full_or_one, uint_of(e, 1), uint_of(e, 2));
}
