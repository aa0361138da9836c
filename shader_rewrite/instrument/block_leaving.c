#include "shader_rewrite/instrument/block_leaving.h"

#include "shader_rewrite/instrument/block_code.h"
#include "shader_rewrite/ir/block_open.h"

/* Of those that leave: by what is known of them. */
struct leavers {
    struct pm_ir_def *rank, *lanes;
    uint32_t with; /* what stays, stays for these: a point. PM_COMPANY_NONE: nothing does */
    struct pm_ir_def *first; /* with a point: the first lane is one of them; */
    struct pm_ir_def *part;  /* they are not all that began the shader */
};

/* Whether what waits of a unit is these lanes', however many they are. */
static bool is_theirs(const struct pm_block_counts *c, const struct leavers *l, uint32_t unit)
{
    return l->with != PM_COMPANY_NONE && unit > 0 && stays(c, unit - 1) &&
           (unit - 1 == l->with || c->company->of_point[unit - 1] == l->with);
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
    if (l->with == PM_COMPANY_NONE || mask == UINT32_MAX)
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
    for (uint32_t word = 1; word * PM_BLOCK_MARK_BITS < units(c); word++)
        marks = choose_word(c, unit, marks, word,
                            load_waiting(c, l, c->marks[word], theirs(c, l, word)));
    struct pm_ir_def *waiting = bit_of(c, marks, unit);
    for (uint32_t u = 1; u < units(c); u++)
        if (c->turns[u])
            waiting = build_select(
                c, build_bool(c, SpvOpIEqual, unit, uint_of(c, u)),
                load_waiting(c, l, c->turns[u], is_theirs(c, l, u) ? UINT32_MAX : 0), waiting);
    return waiting;
}

/* Adds it. */
static void add_unit(const struct pm_block_counts *c, const struct leavers *l,
                     struct pm_ir_def *unit, struct pm_ir_def *waiting)
{
    if (l->with == PM_COMPANY_NONE) {
        add_entries(c, unit, waiting, NULL, NULL);
        return;
    }
    struct pm_ir_def *word = uint_of(c, theirs(c, l, 0));
    for (uint32_t w = 1; w * PM_BLOCK_MARK_BITS < units(c); w++)
        word = choose_word(c, unit, word, w, uint_of(c, theirs(c, l, w)));
    struct pm_ir_def *is = build_bool(c, SpvOpINotEqual, bit_of(c, word, unit), uint_of(c, 0));
    add_entries(c, unit, waiting, build_bool(c, SpvOpLogicalAnd, l->part, is), l->lanes);
}

/* The first unit of a lane. Where none that is counted leaves, only helper invocations may be here:
 * they have no part in ballots, and some drivers run them on (lavapipe 22.3), without end if there
 * were no lanes to go on by. */
static struct pm_ir_def *first_unit(const struct pm_block_counts *c, const struct leavers *l)
{
    return build_select(c, build_bool(c, SpvOpIEqual, l->lanes, uint_of(c, 0)),
                        uint_of(c, units(c)), l->rank);
}

/* Each lane looks at a unit, and at the one as many behind as there are lanes. */
static void add_all(const struct pm_block_counts *c, const struct leavers *l)
{
    struct pm_ir_module *module = c->instrument->module;
    struct pm_ir_builder *b = &c->instrument->builder;
    store(c, c->next, first_unit(c, l));
    struct pm_ir_block *header = pm_ir_block_create(module, b->block);
    struct pm_ir_block *test = pm_ir_block_create(module, header);
    struct pm_ir_block *body = pm_ir_block_create(module, test);
    struct pm_ir_block *again = pm_ir_block_create(module, body);
    struct pm_ir_block *merge = pm_ir_block_create(module, again);
    pm_ir_build_branch(b, header);
    *b = (struct pm_ir_builder){module, header, NULL};
    if (merge && again)
        pm_ir_build_instr(b, SpvOpLoopMerge, NULL,
                          PM_IR_ARGS(pm_ir_id(merge->label->result), pm_ir_id(again->label->result),
                                     pm_ir_word(SpvLoopControlDontUnrollMask)));
    pm_ir_build_branch(b, test);
    b->block = test;
    struct pm_ir_def *unit = load(c, c->next);
    pm_ir_build_branch_conditional(b, build_bool(c, SpvOpULessThan, unit, uint_of(c, units(c))),
                                   body, merge);
    b->block = body;
    struct pm_ir_def *waiting = build_waiting(c, l, unit);
    struct pm_ir_block *added =
        pm_ir_build_if(b, build_bool(c, SpvOpINotEqual, waiting, uint_of(c, 0)), true, NULL);
    add_unit(c, l, unit, waiting);
    pm_ir_build_end_if(b, added);
    pm_ir_build_branch(b, again);
    *b = (struct pm_ir_builder){module, again, NULL};
    store(c, c->next, build_uint(c, SpvOpIAdd, unit, l->lanes));
    pm_ir_build_branch(b, header);
    b->block = merge;
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
    if (with == PM_COMPANY_ENTRY) {
        ballot = c->entry_ballot;
    } else if (with == PM_COMPANY_NONE) {
        condition = build_bool(c, SpvOpLogicalAnd, live, first_leaves(c, live));
    } else {
        ballot = c->entered[with].ballot;
        l.first = has_first(c, ballot);
        l.part = build_not(c, c->entered[with].whole);
        if (stays(c, with))
            l.with = with;
        else
            condition = build_bool(c, SpvOpLogicalAnd, live, l.first);
    }
    if (condition != p->counting.true_constant)
        pm_ir_build_if(b, condition, true, rest);
    if (!ballot)
        ballot = build_ballot(c, p->counting.true_constant);
    l.lanes = count_bits(c, ballot, SpvGroupOperationReduce);
    l.rank = count_bits(c, ballot, SpvGroupOperationExclusiveScan);
    add_all(c, &l);
    pm_ir_build_end_if(b, rest);
}
