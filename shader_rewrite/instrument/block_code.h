/*
 * What the files that count blocks build their code with (block_counts.c, block_leaving.c).
 */
#pragma once

#include "shader_rewrite/instrument/block_state.h"

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
    return c->layout.unit_count;
}

static inline uint32_t unit_of(const struct pm_block_counts *c, uint32_t index)
{
    return c->layout.units[index];
}

/* Whether two ballots are of the same lanes: without counting them, which takes longer. */
static inline struct pm_ir_def *build_same(const struct pm_block_counts *c, struct pm_ir_def *x,
                                           struct pm_ir_def *y)
{
    struct pm_ir_def *boolean = c->instrument->counting.boolean;
    struct pm_ir_def *words = pm_ir_type_vector(c->instrument->module, boolean, 4);
    return pm_ir_build(&c->instrument->builder, SpvOpAll, boolean,
                       PM_IR_ARGS(pm_ir_id(build(c, SpvOpIEqual, words, x, y))));
}

/* An operation over the lanes that are here. */
static inline struct pm_ir_def *build_reduce(const struct pm_block_counts *c, uint16_t opcode,
                                             struct pm_ir_def *x)
{
    const struct pm_counting *counting = &c->instrument->counting;
    return pm_ir_build(&c->instrument->builder, opcode, counting->uint,
                       PM_IR_ARGS(pm_ir_id(counting->subgroup_scope),
                                  pm_ir_word(SpvGroupOperationReduce), pm_ir_id(x)));
}

static inline uint32_t leader_of(const struct pm_block_counts *c, uint32_t index)
{
    return c->company ? c->company->leader[index] : PM_COMPANY_NONE;
}

/* Whether each lane notes its entries of the unit by itself: a bit in a field, or a number. */
static inline bool is_field(const struct pm_block_counts *c, uint32_t unit)
{
    return unit - 1 < c->field_count;
}

static inline bool is_turning(const struct pm_block_counts *c, uint32_t unit)
{
    return unit >= c->layout.unit_count - c->turning_count;
}

/* Units, and behind them those of lanes' turns once more. */
static inline uint32_t items(const struct pm_block_counts *c)
{
    return units(c) + c->turning_count;
}

static inline uint32_t fields_in_word(const struct pm_block_counts *c)
{
    return PM_BLOCK_MARK_BITS / c->field_bits;
}

/* Whether what lanes noted by themselves of a unit is added where they leave with those who entered
 * a point. */
static inline bool is_gathered(const struct pm_block_counts *c, uint32_t unit, uint32_t with)
{
    return unit > 0 && (is_field(c, unit) || is_turning(c, unit)) &&
           (c->layout.lanes_only || c->company->gathers[c->point_of[unit]] == with);
}

/* Whether whole entries of the point wait in a register. */
static inline bool has_register(const struct pm_block_counts *c, uint32_t index)
{
    return c->waits && (c->once[index] || c->turns[unit_of(c, index)]);
}

/* Whether those who enter a point leave all together, of those who entered it or an earlier one. */
static inline bool leave_together(const struct pm_block_counts *c, uint32_t index)
{
    const struct pm_block_company *company = c->company;
    if (!company || company->of_point[index] == PM_COMPANY_ENTRY)
        return false;
    const uint32_t with =
        company->of_point[index] == PM_COMPANY_NONE ? index : company->of_point[index];
    return company->gathers[with] == with;
}

/* Whether its entries wait for those who made them to leave, all together, whole or not. */
static inline bool stays(const struct pm_block_counts *c, uint32_t index)
{
    return has_register(c, index) && leave_together(c, index);
}
