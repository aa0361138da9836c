#include "shader_rewrite/instrument/zero_counts.h"

#include "shader_rewrite/instrument/entry_counts.h"
#include "shader_rewrite/instrument/shared_additions.h"
#include "shader_rewrite/ir/block_open.h"
#include <stdlib.h>

bool pm_zero_counts_begin(struct pm_zero_counts *c, struct pm_instrument *p,
                          struct pm_zero_layout *layout, const bool *entered)
{
    const uint32_t count = p->info->point_count;
    *c = (struct pm_zero_counts){.instrument = p, .layout = layout};
    *layout = pm_zero_layout(p->info);
    layout->entered_count = 0;
    layout->pairs = calloc(count + 1u, sizeof *layout->pairs);
    if (!layout->pairs)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (entered[i])
            layout->pairs[i] = PM_ZERO_ENTERED | layout->entered_count++;
    layout->pair_count = layout->entered_count;
    for (uint32_t i = 0; i < count; i++)
        if (!entered[i])
            layout->pairs[i] = layout->pair_count++;
    p->counting.slot_stride = (pm_zero_units(layout) + 7) & ~7u;
    return true;
}

/* ---- instructions ---- */

static struct pm_ir_def *uint_of(const struct pm_zero_counts *c, uint32_t value)
{
    return pm_ir_constant_uint(c->instrument->module, value);
}

static struct pm_ir_def *build(const struct pm_zero_counts *c, uint16_t opcode,
                               struct pm_ir_def *type, struct pm_ir_def *x, struct pm_ir_def *y)
{
    return pm_ir_build(&c->instrument->builder, opcode, type, PM_IR_ARGS(pm_ir_id(x), pm_ir_id(y)));
}

static struct pm_ir_def *build_uint(const struct pm_zero_counts *c, uint16_t opcode,
                                    struct pm_ir_def *x, struct pm_ir_def *y)
{
    return build(c, opcode, c->instrument->counting.uint, x, y);
}

static struct pm_ir_def *build_bool(const struct pm_zero_counts *c, uint16_t opcode,
                                    struct pm_ir_def *x, struct pm_ir_def *y)
{
    return build(c, opcode, c->instrument->counting.boolean, x, y);
}

static struct pm_ir_def *choose(const struct pm_zero_counts *c, struct pm_ir_def *condition,
                                struct pm_ir_def *yes, struct pm_ir_def *no)
{
    return pm_ir_build(&c->instrument->builder, SpvOpSelect, c->instrument->counting.uint,
                       PM_IR_ARGS(pm_ir_id(condition), pm_ir_id(yes), pm_ir_id(no)));
}

/* A word with a bit for each that is true. */
static struct pm_ir_def *build_word(const struct pm_zero_counts *c, struct pm_ir_def *const *bits,
                                    uint32_t count)
{
    struct pm_ir_def *word = uint_of(c, 0);
    for (uint32_t i = 0; i < count; i++) {
        struct pm_ir_def *bit = choose(c, bits[i], uint_of(c, UINT32_C(1) << i), uint_of(c, 0));
        word = i ? build_uint(c, SpvOpBitwiseOr, word, bit) : bit;
    }
    return word;
}

static struct pm_ir_def *bit_of(const struct pm_zero_counts *c, struct pm_ir_def *word,
                                struct pm_ir_def *number)
{
    struct pm_ir_def *at = build_uint(c, SpvOpBitwiseAnd, number, uint_of(c, PM_ZERO_TOGETHER - 1));
    return build_uint(c, SpvOpBitwiseAnd, build_uint(c, SpvOpShiftRightLogical, word, at),
                      uint_of(c, 1));
}

static struct pm_shared_additions begin_shared(struct pm_zero_counts *c, struct pm_ir_def *rank,
                                               struct pm_ir_def *lanes, struct pm_ir_def *bound)
{
    if (!c->next)
        c->next = pm_instrument_variable(c->instrument);
    return pm_shared_additions_begin(c->instrument, c->next, rank, lanes, bound);
}

/* ---- with the entry ---- */

/* Of the entry the first zero is told by other counters. */
static struct pm_ir_def *with_first(const struct pm_zero_counts *c, struct pm_ir_def *index,
                                    struct pm_ir_def *zero)
{
    return zero ? build_uint(c, SpvOpIAdd, index,
                             choose(c, zero, uint_of(c, PM_ENTRY_COUNTERS), uint_of(c, 0)))
                : index;
}

/* What is entered but for the first, in a loop: numbers behind the entry's two are their zeros. */
static void add_with_entry(struct pm_zero_counts *c, const struct pm_entry_counts *entry,
                           struct pm_counting_slot slot, struct pm_ir_def *const *zeros,
                           uint32_t first, uint32_t count)
{
    enum { ENTRY = 2 };
    const struct pm_counting *counting = &c->instrument->counting;
    struct pm_ir_builder *b = &c->instrument->builder;
    struct pm_ir_def *word = build_word(c, zeros + first, count);
    const bool with_entry = first == 1;
    const uint32_t before = with_entry ? ENTRY : 0;
    struct pm_ir_def *numbers = with_entry ? pm_entry_counts_numbers(entry) : NULL;
    struct pm_shared_additions shared =
        begin_shared(c, entry->rank, entry->lanes, uint_of(c, before + count));
    struct pm_ir_def *number = shared.number;
    struct pm_ir_def *of_zero = build_uint(c, SpvOpISub, number, uint_of(c, before));
    struct pm_ir_def *value = bit_of(c, word, of_zero);
    struct pm_ir_def *index =
        build_uint(c, SpvOpIAdd, build_uint(c, SpvOpIMul, of_zero, uint_of(c, 2)),
                   uint_of(c, pm_zero_pair(c->layout, first) + 1));
    if (with_entry) {
        struct pm_ir_def *is_entry = build_bool(c, SpvOpULessThan, number, uint_of(c, ENTRY));
        const struct pm_entry_add add = pm_entry_counts_of(entry, number, 1);
        struct pm_ir_def *adds = build_bool(c, SpvOpULessThan, number, numbers);
        value = choose(c, is_entry, choose(c, adds, add.value, uint_of(c, 0)), value);
        index = choose(c, is_entry, with_first(c, add.index, zeros[0]), index);
    }
    struct pm_ir_def *any = build_bool(c, SpvOpLogicalAnd, shared.is_one,
                                       build_bool(c, SpvOpINotEqual, value, uint_of(c, 0)));
    struct pm_ir_block *merge = pm_ir_build_if(b, any, true, NULL);
    pm_counting_add_at(counting, b, slot, index, value);
    pm_ir_build_end_if(b, merge);
    pm_shared_additions_end(&shared);
}

/* The entry, and what the first of the zeros was; NULL: none. */
static void add_entry(struct pm_zero_counts *c, const struct pm_entry_counts *entry,
                      struct pm_counting_slot slot, struct pm_ir_def *zero)
{
    struct pm_ir_builder *b = &c->instrument->builder;
    const struct pm_entry_add add = pm_entry_counts_of(entry, entry->rank, 1);
    struct pm_ir_def *adds =
        build_bool(c, SpvOpULessThan, entry->rank, pm_entry_counts_numbers(entry));
    struct pm_ir_block *merge = pm_ir_build_if(b, adds, true, NULL);
    pm_counting_add_at(&c->instrument->counting, b, slot, with_first(c, add.index, zero),
                       add.value);
    pm_ir_build_end_if(b, merge);
}

void pm_zero_counts_entry(struct pm_zero_counts *c, struct pm_ir_instr *at,
                          struct pm_ir_def *const *zero)
{
    struct pm_instrument *p = c->instrument;
    struct pm_ir_builder *b = &p->builder;
    const uint32_t count = c->layout->entered_count;
    struct pm_ir_def **zeros =
        pm_arena_zalloc(p->module->arena, count + 1u, sizeof(struct pm_ir_def *));
    struct pm_ir_block *rest = pm_block_open_at(b, at->block, at);
    if (!zeros || !rest) {
        p->module->failed = true;
        return;
    }
    for (uint32_t i = 0, of = 0; i < p->info->point_count; i++)
        if (c->layout->pairs[i] & PM_ZERO_ENTERED)
            zeros[of++] = zero[i];
    const struct pm_entry_counts entry =
        pm_entry_counts_ask(&p->counting, b, NULL, p->info->subgroup_size);
    const bool all_live = entry.live == p->counting.true_constant;
    const struct pm_counting_slot slot = pm_counting_slot(&p->counting, b);
    if (!all_live)
        pm_ir_build_if(b, entry.live, true, rest);
    if (count < 2)
        add_entry(c, &entry, slot, zeros[0]);
    for (uint32_t first = 1; first < count;) {
        const uint32_t most = first == 1 ? PM_ZERO_TOGETHER - 2 : PM_ZERO_TOGETHER;
        const uint32_t some = count - first < most ? count - first : most;
        add_with_entry(c, &entry, slot, zeros, first, some);
        first += some;
    }
    pm_ir_build_end_if(b, rest);
}

/* ---- elsewhere ---- */

/* Which of a point's two counters. */
static struct pm_ir_def *counter_of(const struct pm_zero_counts *c, uint32_t point,
                                    struct pm_ir_def *number, struct pm_ir_def *bit)
{
    struct pm_ir_def *index = uint_of(c, pm_zero_pair(c->layout, c->layout->pairs[point]));
    if (number)
        index = build_uint(c, SpvOpIAdd, index, build_uint(c, SpvOpIMul, number, uint_of(c, 2)));
    return build_uint(c, SpvOpIAdd, index, bit);
}

static void add_one(struct pm_zero_counts *c, uint32_t point, struct pm_ir_def *zero,
                    struct pm_ir_block *rest)
{
    struct pm_instrument *p = c->instrument;
    struct pm_ir_builder *b = &p->builder;
    struct pm_instrument_place place = pm_instrument_enter(p, rest);
    pm_counting_add_at(&p->counting, b, place.slot,
                       counter_of(c, point, NULL, choose(c, zero, uint_of(c, 1), uint_of(c, 0))),
                       uint_of(c, 1));
    pm_instrument_leave(p, &place);
}

void pm_zero_counts_writes(struct pm_zero_counts *c, uint32_t first, uint32_t count,
                           struct pm_ir_def *const *zero, struct pm_ir_block *rest)
{
    struct pm_instrument *p = c->instrument;
    struct pm_ir_builder *b = &p->builder;
    if (count == 1) {
        add_one(c, first, zero[0], rest);
        return;
    }
    const struct pm_entry_counts here = pm_entry_counts_ask(&p->counting, b, NULL, 0);
    const bool all_live = here.live == p->counting.true_constant;
    const struct pm_counting_slot slot = pm_counting_slot(&p->counting, b);
    struct pm_ir_def *word = build_word(c, zero, count);
    if (!all_live)
        pm_ir_build_if(b, here.live, true, rest);
    struct pm_shared_additions shared = begin_shared(c, here.rank, here.lanes, uint_of(c, count));
    struct pm_ir_block *merge = pm_ir_build_if(b, shared.is_one, true, NULL);
    pm_counting_add_at(&p->counting, b, slot,
                       counter_of(c, first, shared.number, bit_of(c, word, shared.number)),
                       uint_of(c, 1));
    pm_ir_build_end_if(b, merge);
    pm_shared_additions_end(&shared);
    pm_ir_build_end_if(b, rest);
}
