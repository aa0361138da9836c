/*
 * What the files that count blocks build their code with (block_counts.c, block_leaving.c).
 */
#pragma once

#include "shader_rewrite/instrument/block_counts.h"

enum { PM_BLOCK_MARK_BITS = 32 }; /* marks in a register */

static inline struct pm_ir_def *uint_of(const struct pm_block_counts *c, uint32_t value)
{
    return pm_ir_constant_uint(c->instrument->module, value);
}

static inline struct pm_ir_def *build(const struct pm_block_counts *c, uint16_t opcode,
                                      struct pm_ir_def *type, struct pm_ir_def *x,
                                      struct pm_ir_def *y)
{
    return pm_ir_build(&c->instrument->builder, opcode, type, PM_IR_ARGS(pm_ir_id(x), pm_ir_id(y)));
}

static inline struct pm_ir_def *build_uint(const struct pm_block_counts *c, uint16_t opcode,
                                           struct pm_ir_def *x, struct pm_ir_def *y)
{
    return build(c, opcode, c->instrument->counting.uint, x, y);
}

static inline struct pm_ir_def *build_bool(const struct pm_block_counts *c, uint16_t opcode,
                                           struct pm_ir_def *x, struct pm_ir_def *y)
{
    return build(c, opcode, c->instrument->counting.boolean, x, y);
}

static inline struct pm_ir_def *build_not(const struct pm_block_counts *c, struct pm_ir_def *x)
{
    return pm_ir_build(&c->instrument->builder, SpvOpLogicalNot, c->instrument->counting.boolean,
                       PM_IR_ARGS(pm_ir_id(x)));
}

static inline struct pm_ir_def *build_select(const struct pm_block_counts *c,
                                             struct pm_ir_def *condition, struct pm_ir_def *yes,
                                             struct pm_ir_def *no)
{
    return pm_ir_build(&c->instrument->builder, SpvOpSelect, c->instrument->counting.uint,
                       PM_IR_ARGS(pm_ir_id(condition), pm_ir_id(yes), pm_ir_id(no)));
}

static inline struct pm_ir_def *load(const struct pm_block_counts *c, struct pm_ir_def *variable)
{
    return pm_ir_build(&c->instrument->builder, SpvOpLoad, c->instrument->counting.uint,
                       PM_IR_ARGS(pm_ir_id(variable)));
}

static inline void store(const struct pm_block_counts *c, struct pm_ir_def *variable,
                         struct pm_ir_def *value)
{
    pm_ir_build_instr(&c->instrument->builder, SpvOpStore, NULL,
                      PM_IR_ARGS(pm_ir_id(variable), pm_ir_id(value)));
}

/* Of a ballot: how many, or how many before this lane. */
static inline struct pm_ir_def *count_bits(const struct pm_block_counts *c,
                                           struct pm_ir_def *ballot, SpvGroupOperation operation)
{
    const struct pm_counting *counting = &c->instrument->counting;
    return pm_ir_build(&c->instrument->builder, SpvOpGroupNonUniformBallotBitCount, counting->uint,
                       PM_IR_ARGS(pm_ir_id(counting->subgroup_scope),
                                  pm_ir_word((uint32_t)operation), pm_ir_id(ballot)));
}

static inline struct pm_ir_def *build_ballot(const struct pm_block_counts *c,
                                             struct pm_ir_def *condition)
{
    const struct pm_counting *counting = &c->instrument->counting;
    return pm_ir_build(&c->instrument->builder, SpvOpGroupNonUniformBallot, counting->ballot,
                       PM_IR_ARGS(pm_ir_id(counting->subgroup_scope), pm_ir_id(condition)));
}

/* Whether the lane counts here; a constant outside of fragment shaders. */
static inline struct pm_ir_def *build_live(const struct pm_block_counts *c)
{
    const struct pm_counting *counting = &c->instrument->counting;
    if (c->live)
        return c->live;
    if (c->instrument->stage != PM_STAGE_FRAGMENT)
        return counting->true_constant;
    return build_not(c, pm_counting_is_helper(counting, &c->instrument->builder));
}

static inline uint32_t units(const struct pm_block_counts *c)
{
    return c->layout.point_count + 1;
}

/* So many entries of a unit: whole ones, or where `part` ones by `lanes`, which are not all. part
 * NULL: nowhere. */
static inline void add_entries(const struct pm_block_counts *c, struct pm_ir_def *unit,
                               struct pm_ir_def *times, struct pm_ir_def *part,
                               struct pm_ir_def *lanes)
{
    const struct pm_counting_slot slot = c->slot;
    const struct pm_counting *counting = &c->instrument->counting;
    struct pm_ir_builder *b = &c->instrument->builder;
    struct pm_ir_def *full =
        part ? build_bool(c, SpvOpLogicalAnd, c->is_full, build_not(c, part)) : c->is_full;
    struct pm_ir_def *other = build_uint(c, SpvOpIAdd, unit, uint_of(c, units(c)));
    struct pm_ir_def *index = build_select(c, full, unit, other);
    struct pm_ir_def *each = part ? build_select(c, part, lanes, c->entry_lanes) : c->entry_lanes;
    struct pm_ir_def *all = build_uint(c, SpvOpIMul, times, each);
    if (c->layout.lanes_only) {
        pm_counting_add_at(counting, b, slot, index, build_select(c, full, times, all));
        return;
    }
    pm_counting_add_at(counting, b, slot, index, times);
    struct pm_ir_block *merge = pm_ir_build_if(b, full, false, NULL);
    struct pm_ir_def *group = uint_of(c, 2 * units(c));
    if (part)
        group = build_select(c, part, uint_of(c, 3 * units(c)), group);
    pm_counting_add_at(counting, b, slot, build_uint(c, SpvOpIAdd, unit, group), all);
    pm_ir_build_end_if(b, merge);
}

static inline uint32_t leader_of(const struct pm_block_counts *c, uint32_t index)
{
    return c->company ? c->company->leader[index] : PM_COMPANY_NONE;
}

/* The next that is counted with it. */
static inline uint32_t next_of(const struct pm_block_counts *c, uint32_t index)
{
    return c->company ? c->company->next[index] : PM_COMPANY_NONE;
}

/* Whether whole entries of the point wait in a register. */
static inline bool has_register(const struct pm_block_counts *c, uint32_t index)
{
    return c->waits && (c->once[index] || c->turns[index + 1]);
}

/* Whether its entries wait for those who made them to leave, all together, whole or not. */
static inline bool stays(const struct pm_block_counts *c, uint32_t index)
{
    const struct pm_block_company *company = c->company;
    if (!company || !has_register(c, index) || company->of_point[index] == PM_COMPANY_ENTRY)
        return false;
    return company
        ->stays[company->of_point[index] == PM_COMPANY_NONE ? index : company->of_point[index]];
}
