#include "shader_rewrite/instrument/block_leaving.h"

#include "shader_rewrite/instrument/block_code.h"
#include "shader_rewrite/instrument/block_gathered.h"
#include "shader_rewrite/instrument/shared_additions.h"
#include "shader_rewrite/ir/block_open.h"

/* Of those that leave: by what is known of them. */
struct leavers {
    struct pm_ir_def *rank, *lanes;
    uint32_t with; /* what stays, stays for these: a point. PM_COMPANY_NONE: nothing does */
    struct pm_ir_def *first; /* the first lane is one of them; NULL: it is, */
    struct pm_ir_def *part;  /* and they are not all that began the shader */
    struct pm_block_gathered gathered;
};

/* What is added by one lane: of a unit, so many entries, whole or not. Units are items of their own
 * number; of those with lanes' turns the entries that are not whole are items behind all units. */
struct item {
    struct pm_ir_def *unit, *times;
    struct pm_ir_def *part;  /* they are not whole; NULL: they are; */
    struct pm_ir_def *lanes; /* then so many lanes' in all */
};

/* Whether what waits of a unit is these lanes', however many they are. */
static bool is_theirs(const struct pm_block_counts *c, const struct leavers *l, uint32_t unit)
{
    const uint32_t point = c->point_of[unit];
    return l->with != PM_COMPANY_NONE && unit > 0 && stays(c, point) &&
           (point == l->with || c->company->of_point[point] == l->with);
}

/* The units of a word that are. */
static uint32_t theirs(const struct pm_block_counts *c, const struct leavers *l, uint32_t word)
{
    uint32_t bits = 0;
    for (uint32_t bit = 0; bit < PM_BLOCK_MARK_BITS && word * PM_BLOCK_MARK_BITS + bit < units(c);
         bit++)
        bits |= (uint32_t)is_theirs(c, l, word * PM_BLOCK_MARK_BITS + bit) << bit;
    return bits;
}

/* Of a register all, or without the first lane what is theirs. */
static struct pm_ir_def *load_waiting(const struct pm_block_counts *c, const struct leavers *l,
                                      struct pm_ir_def *variable, uint32_t mask)
{
    struct pm_ir_def *all = load(c, variable);
    if (!l->first || mask == UINT32_MAX)
        return all;
    return build_select(c, l->first, all, build_uint(c, SpvOpBitwiseAnd, all, uint_of(c, mask)));
}

/* Of words, by unit, the one that has its bit. */
static struct pm_ir_def *choose_word(const struct pm_block_counts *c, struct pm_ir_def *unit,
                                     struct pm_ir_def *so_far, uint32_t word,
                                     struct pm_ir_def *of_word)
{
    return build_select(c,
                        build_bool(c, SpvOpULessThan, unit, uint_of(c, word * PM_BLOCK_MARK_BITS)),
                        so_far, of_word);
}

static struct pm_ir_def *bit_of(const struct pm_block_counts *c, struct pm_ir_def *word,
                                struct pm_ir_def *unit)
{
    struct pm_ir_def *bit =
        build_uint(c, SpvOpBitwiseAnd, unit, uint_of(c, PM_BLOCK_MARK_BITS - 1));
    return build_uint(c, SpvOpBitwiseAnd, build_uint(c, SpvOpShiftRightLogical, word, bit),
                      uint_of(c, 1));
}

/* What waits of a unit: a mark, or a number. */
static struct pm_ir_def *build_waiting(const struct pm_block_counts *c, const struct leavers *l,
                                       struct pm_ir_def *unit)
{
    struct pm_ir_def *marks = load_waiting(c, l, c->marks[0], theirs(c, l, 0));
    for (uint32_t word = 1; word * PM_BLOCK_MARK_BITS < items(c); word++)
        marks = choose_word(c, unit, marks, word,
                            load_waiting(c, l, c->marks[word], theirs(c, l, word)));
    struct pm_ir_def *waiting = bit_of(c, marks, unit);
    for (uint32_t u = 1; u < units(c) - c->turning_count; u++)
        if (c->turns[u])
            waiting = build_select(
                c, build_bool(c, SpvOpIEqual, unit, uint_of(c, u)),
                load_waiting(c, l, c->turns[u], is_theirs(c, l, u) ? UINT32_MAX : 0), waiting);
    return waiting;
}

/* Whether a unit, by its bit in words that the code knows, is one of them. */
static struct pm_ir_def *is_one_of(const struct pm_block_counts *c, struct pm_ir_def *unit,
                                   uint32_t (*bits_of)(const struct pm_block_counts *c,
                                                       const struct leavers *l, uint32_t word),
                                   const struct leavers *l)
{
    struct pm_ir_def *word = uint_of(c, bits_of(c, l, 0));
    for (uint32_t w = 1; w * PM_BLOCK_MARK_BITS < units(c); w++)
        word = choose_word(c, unit, word, w, uint_of(c, bits_of(c, l, w)));
    return build_bool(c, SpvOpINotEqual, bit_of(c, word, unit), uint_of(c, 0));
}

/* Of what waits for all, or for the lanes that leave. */
static struct item shared_item(const struct pm_block_counts *c, const struct leavers *l,
                               struct pm_ir_def *unit)
{
    struct item item = {.unit = unit, .times = build_waiting(c, l, unit)};
    if (l->with == PM_COMPANY_NONE || l->with == PM_COMPANY_ENTRY)
        return item;
    item.part = build_bool(c, SpvOpLogicalAnd, l->part, is_one_of(c, unit, theirs, l));
    item.lanes = build_uint(c, SpvOpIMul, item.times, l->lanes);
    return item;
}

static struct pm_ir_def *build_or(const struct pm_block_counts *c, struct pm_ir_def *x,
                                  struct pm_ir_def *y)
{
    return x ? build_bool(c, SpvOpLogicalOr, x, y) : y;
}

/* Or of what has a field: nobody noted it, or one entry. */
static void choose_field(const struct pm_block_counts *c, const struct leavers *l,
                         struct item *item)
{
    struct pm_ir_def *is_field,
        *lanes = pm_block_gathered_field(c, &l->gathered, item->unit, &is_field);
    if (!lanes)
        return;
    struct pm_ir_def *any = build_select(c, build_bool(c, SpvOpIEqual, lanes, uint_of(c, 0)),
                                         uint_of(c, 0), uint_of(c, 1));
    struct pm_ir_def *part = build_bool(c, SpvOpINotEqual, lanes, c->entry_lanes);
    item->times = build_select(c, is_field, any, item->times);
    item->part = build_or(c, item->part, build_bool(c, SpvOpLogicalAnd, is_field, part));
    item->lanes = item->lanes ? build_select(c, is_field, lanes, item->lanes) : lanes;
}

/* Or of the last units, whole entries and others. */
static void choose_turns(const struct pm_block_counts *c, const struct leavers *l,
                         struct item *item)
{
    const uint32_t first = units(c) - c->turning_count;
    struct pm_ir_def *number = item->unit;
    for (uint32_t i = 0; i < c->turning_count; i++) {
        const struct pm_gathered_turns *turns = &l->gathered.turns[i];
        if (!turns->parts)
            continue;
        struct pm_ir_def *whole = build_bool(c, SpvOpIEqual, number, uint_of(c, first + i));
        struct pm_ir_def *parts = build_bool(c, SpvOpIEqual, number, uint_of(c, units(c) + i));
        item->times =
            build_select(c, whole, turns->whole, build_select(c, parts, turns->parts, item->times));
        item->lanes =
            item->lanes ? build_select(c, parts, turns->lanes, item->lanes) : turns->lanes;
    }
    struct pm_ir_def *behind = build_bool(c, SpvOpUGreaterThanEqual, number, uint_of(c, units(c)));
    item->part = build_or(c, item->part, behind);
    item->unit = build_select(
        c, behind, build_uint(c, SpvOpISub, number, uint_of(c, c->turning_count)), number);
}

static struct item build_item(const struct pm_block_counts *c, const struct leavers *l,
                              struct pm_ir_def *number)
{
    struct item item = shared_item(c, l, number);
    if (!l->gathered.words)
        return item;
    choose_field(c, l, &item);
    if (c->turning_count)
        choose_turns(c, l, &item);
    return item;
}

/* Numbers that are added: of each item how often, and behind all of these how many lanes. */
static uint32_t numbers(const struct pm_block_counts *c)
{
    return c->layout.lanes_only ? items(c) : 2 * items(c);
}

/* So many of them may be there to add: of whole entries by all lanes that one is said to have
 * nothing but how often. */
static struct pm_ir_def *build_bound(const struct pm_block_counts *c, const struct leavers *l)
{
    if (c->layout.lanes_only || l->part)
        return uint_of(c, numbers(c));
    return build_select(c, c->is_full, uint_of(c, items(c)), uint_of(c, numbers(c)));
}

/* Adds the number of an item's that `is_lanes` says, if there is any and the condition is true: one
 * atomic in the code for all, since drivers for CPUs run each one for lanes that do not, too. */
static void add_item(const struct pm_block_counts *c, const struct item *item,
                     struct pm_ir_def *is_lanes, struct pm_ir_def *condition)
{
    struct pm_ir_builder *b = &c->instrument->builder;
    struct pm_ir_def *part = item->part;
    struct pm_ir_def *full =
        part ? build_bool(c, SpvOpLogicalAnd, c->is_full, build_not(c, part)) : c->is_full;
    struct pm_ir_def *group = build_select(c, full, uint_of(c, 0), uint_of(c, units(c)));
    struct pm_ir_def *lanes = build_uint(c, SpvOpIMul, item->times, c->entry_lanes);
    struct pm_ir_def *value = item->times;
    if (part)
        lanes = build_select(c, part, item->lanes, lanes);
    if (c->layout.lanes_only) {
        value = build_select(c, full, item->times, lanes);
    } else {
        /* Of what follows from others, too: to ask which that is takes longer than to add. */
        struct pm_ir_def *of_lanes = uint_of(c, 2 * units(c));
        if (part)
            of_lanes = build_select(c, part, uint_of(c, 3 * units(c)), of_lanes);
        group = build_select(c, is_lanes, of_lanes, group);
        value = build_select(c, is_lanes, build_select(c, full, uint_of(c, 0), lanes), value);
    }
    condition = build_bool(c, SpvOpLogicalAnd, condition,
                           build_bool(c, SpvOpINotEqual, value, uint_of(c, 0)));
    struct pm_ir_block *merge = pm_ir_build_if(b, condition, true, NULL);
    pm_counting_add_at(&c->instrument->counting, b, c->slot,
                       build_uint(c, SpvOpIAdd, item->unit, group), value);
    pm_ir_build_end_if(b, merge);
}

/* Adds one of the numbers, if it is one. */
static void add_number(const struct pm_block_counts *c, const struct leavers *l,
                       struct pm_ir_def *number, struct pm_ir_def *is_one)
{
    struct pm_ir_def *of_item = number, *is_lanes = NULL;
    if (!c->layout.lanes_only) {
        is_lanes = build_bool(c, SpvOpUGreaterThanEqual, number, uint_of(c, items(c)));
        of_item = build_select(c, is_lanes, build_uint(c, SpvOpISub, number, uint_of(c, items(c))),
                               number);
    }
    const struct item item = build_item(c, l, of_item);
    add_item(c, &item, is_lanes, is_one);
}

static void add_all(const struct pm_block_counts *c, const struct leavers *l)
{
    struct pm_shared_additions shared =
        pm_shared_additions_begin(c->instrument, c->next, l->rank, l->lanes, build_bound(c, l));
    add_number(c, l, shared.number, shared.is_one);
    pm_shared_additions_end(&shared);
}

/* Whether the first lane leaves, where it is not known which do. */
static struct pm_ir_def *first_leaves(const struct pm_block_counts *c, struct pm_ir_def *live)
{
    struct pm_ir_def *first =
        c->demotes ? build_bool(c, SpvOpLogicalAnd, c->is_first, live) : c->is_first;
    return build_bool(c, SpvOpINotEqual,
                      count_bits(c, build_ballot(c, first), SpvGroupOperationReduce),
                      uint_of(c, 0));
}

/* Whether it is of these lanes. */
static struct pm_ir_def *has_first(const struct pm_block_counts *c, struct pm_ir_def *ballot)
{
    const struct pm_counting *counting = &c->instrument->counting;
    struct pm_ir_builder *b = &c->instrument->builder;
    struct pm_ir_def *first =
        pm_ir_build(b, SpvOpGroupNonUniformBallotFindLSB, counting->uint,
                    PM_IR_ARGS(pm_ir_id(counting->subgroup_scope), pm_ir_id(c->entry_ballot)));
    return pm_ir_build(
        b, SpvOpGroupNonUniformBallotBitExtract, counting->boolean,
        PM_IR_ARGS(pm_ir_id(counting->subgroup_scope), pm_ir_id(ballot), pm_ir_id(first)));
}

void pm_block_leaving_add(const struct pm_block_counts *c, const struct pm_block_leaving *leaving)
{
    struct pm_instrument *p = c->instrument;
    struct pm_ir_builder *b = &p->builder;
    struct pm_ir_block *rest = pm_block_open_at(b, leaving->at->block, leaving->at);
    struct pm_ir_def *live = build_live(c), *condition = live, *ballot = NULL;
    struct leavers l = {.with = PM_COMPANY_NONE};
    const uint32_t with = leaving->with;
    const bool gathers = pm_block_gathers(c, with);
    if (with == PM_COMPANY_ENTRY && !gathers) {
        ballot = c->entry_ballot;
    } else if (with == PM_COMPANY_NONE && !gathers) {
        condition = build_bool(c, SpvOpLogicalAnd, live, first_leaves(c, live));
    } else {
        ballot = build_ballot(c, live);
        l.first = has_first(c, ballot);
        l.part = build_not(c, build_same(c, ballot, c->entry_ballot));
        if (gathers || stays(c, with)) {
            l.with = with;
        } else {
            condition = build_bool(c, SpvOpLogicalAnd, live, l.first);
            l.first = NULL;
        }
    }
    if (condition != p->counting.true_constant)
        pm_ir_build_if(b, condition, true, rest);
    if (!ballot)
        ballot = build_ballot(c, p->counting.true_constant);
    l.lanes = count_bits(c, ballot, SpvGroupOperationReduce);
    l.rank = count_bits(c, ballot, SpvGroupOperationExclusiveScan);
    if (!gathers || pm_block_gather(c, with, l.part, &l.gathered))
        add_all(c, &l);
    else
        p->module->failed = true;
    pm_ir_build_end_if(b, rest);
}
