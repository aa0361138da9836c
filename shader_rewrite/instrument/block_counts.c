#include "shader_rewrite/instrument/block_counts.h"

#include "shader_rewrite/ir/block_open.h"
#include "shader_rewrite/points/points.h"

enum {
    BITS = 32,
    MOST_ADDITIONS = 256, /* of numbers in registers, over all places where lanes leave */
};

/* ---- shorthands ---- */

static struct pm_ir_def *uint_of(const struct pm_block_counts *c, uint32_t value)
{
    return pm_ir_constant_uint(c->instrument->module, value);
}

static struct pm_ir_def *build(const struct pm_block_counts *c, uint16_t opcode,
                               struct pm_ir_def *type, struct pm_ir_def *x, struct pm_ir_def *y)
{
    return pm_ir_build(&c->instrument->builder, opcode, type, PM_IR_ARGS(pm_ir_id(x), pm_ir_id(y)));
}

static struct pm_ir_def *build_uint(const struct pm_block_counts *c, uint16_t opcode,
                                    struct pm_ir_def *x, struct pm_ir_def *y)
{
    return build(c, opcode, c->instrument->counting.uint, x, y);
}

static struct pm_ir_def *build_bool(const struct pm_block_counts *c, uint16_t opcode,
                                    struct pm_ir_def *x, struct pm_ir_def *y)
{
    return build(c, opcode, c->instrument->counting.boolean, x, y);
}

static struct pm_ir_def *build_not(const struct pm_block_counts *c, struct pm_ir_def *x)
{
    return pm_ir_build(&c->instrument->builder, SpvOpLogicalNot, c->instrument->counting.boolean,
                       PM_IR_ARGS(pm_ir_id(x)));
}

static struct pm_ir_def *build_select(const struct pm_block_counts *c, struct pm_ir_def *condition,
                                      struct pm_ir_def *yes, struct pm_ir_def *no)
{
    return pm_ir_build(&c->instrument->builder, SpvOpSelect, c->instrument->counting.uint,
                       PM_IR_ARGS(pm_ir_id(condition), pm_ir_id(yes), pm_ir_id(no)));
}

static struct pm_ir_def *load(const struct pm_block_counts *c, struct pm_ir_def *variable)
{
    return pm_ir_build(&c->instrument->builder, SpvOpLoad, c->instrument->counting.uint,
                       PM_IR_ARGS(pm_ir_id(variable)));
}

static void store(const struct pm_block_counts *c, struct pm_ir_def *variable,
                  struct pm_ir_def *value)
{
    pm_ir_build_instr(&c->instrument->builder, SpvOpStore, NULL,
                      PM_IR_ARGS(pm_ir_id(variable), pm_ir_id(value)));
}

/* Of a ballot: how many, or how many before this lane. */
static struct pm_ir_def *count_bits(const struct pm_block_counts *c, struct pm_ir_def *ballot,
                                    SpvGroupOperation operation)
{
    const struct pm_counting *counting = &c->instrument->counting;
    return pm_ir_build(&c->instrument->builder, SpvOpGroupNonUniformBallotBitCount, counting->uint,
                       PM_IR_ARGS(pm_ir_id(counting->subgroup_scope),
                                  pm_ir_word((uint32_t)operation), pm_ir_id(ballot)));
}

static struct pm_ir_def *build_ballot(const struct pm_block_counts *c, struct pm_ir_def *condition)
{
    const struct pm_counting *counting = &c->instrument->counting;
    return pm_ir_build(&c->instrument->builder, SpvOpGroupNonUniformBallot, counting->ballot,
                       PM_IR_ARGS(pm_ir_id(counting->subgroup_scope), pm_ir_id(condition)));
}

/* Whether two ballots are of the same lanes: without counting them, which takes longer. */
static struct pm_ir_def *build_same(const struct pm_block_counts *c, struct pm_ir_def *x,
                                    struct pm_ir_def *y)
{
    struct pm_ir_def *boolean = c->instrument->counting.boolean;
    struct pm_ir_def *words = pm_ir_type_vector(c->instrument->module, boolean, 4);
    return pm_ir_build(&c->instrument->builder, SpvOpAll, boolean,
                       PM_IR_ARGS(pm_ir_id(build(c, SpvOpIEqual, words, x, y))));
}

/* Whether the lane counts here; a constant outside of fragment shaders. */
static struct pm_ir_def *build_live(const struct pm_block_counts *c)
{
    const struct pm_counting *counting = &c->instrument->counting;
    if (c->live)
        return c->live;
    if (c->instrument->stage != PM_STAGE_FRAGMENT)
        return counting->true_constant;
    return build_not(c, pm_counting_is_helper(counting, &c->instrument->builder));
}

/* ---- what is added ---- */

static uint32_t units(const struct pm_block_counts *c)
{
    return c->layout.point_count + 1;
}

/* So many whole entries of a unit. */
static void add_whole(const struct pm_block_counts *c, struct pm_ir_def *unit,
                      struct pm_ir_def *times)
{
    const struct pm_counting_slot slot = c->slot;
    const struct pm_counting *counting = &c->instrument->counting;
    struct pm_ir_builder *b = &c->instrument->builder;
    struct pm_ir_def *other = build_uint(c, SpvOpIAdd, unit, uint_of(c, units(c)));
    struct pm_ir_def *index = build_select(c, c->is_full, unit, other);
    struct pm_ir_def *lanes = build_uint(c, SpvOpIMul, times, c->entry_lanes);
    if (c->layout.lanes_only) {
        pm_counting_add_at(counting, b, slot, index, build_select(c, c->is_full, times, lanes));
        return;
    }
    pm_counting_add_at(counting, b, slot, index, times);
    struct pm_ir_block *merge = pm_ir_build_if(b, c->is_full, false, NULL);
    pm_counting_add_at(counting, b, slot, build_uint(c, SpvOpIAdd, unit, uint_of(c, 2 * units(c))),
                       lanes);
    pm_ir_build_end_if(b, merge);
}

/* Whether the lanes of a point's entries that are not whole are counted: they may follow. */
static bool counts_lanes(const struct pm_block_counts *c, uint32_t index)
{
    return !c->counts_lanes || c->counts_lanes[c->instrument->info->points[index]];
}

/* An entry of a point with so many lanes, which are not all. */
static void add_part(const struct pm_block_counts *c, uint32_t index, struct pm_ir_def *lanes)
{
    const struct pm_counting_slot slot = c->slot;
    const struct pm_counting *counting = &c->instrument->counting;
    struct pm_ir_builder *b = &c->instrument->builder;
    const uint32_t unit = index + 1;
    if (c->layout.lanes_only) {
        pm_counting_add(counting, b, slot, units(c) + unit, lanes);
        return;
    }
    pm_counting_add(counting, b, slot, units(c) + unit, uint_of(c, 1));
    if (counts_lanes(c, index))
        pm_counting_add(counting, b, slot, 3 * units(c) + unit, lanes);
}

/* An entry of a point with so many lanes, whole or not. */
static void add_now(const struct pm_block_counts *c, uint32_t index, struct pm_ir_def *whole,
                    struct pm_ir_def *lanes)
{
    const struct pm_counting *counting = &c->instrument->counting;
    struct pm_ir_builder *b = &c->instrument->builder;
    const uint32_t unit = index + 1;
    struct pm_ir_def *full = build_bool(c, SpvOpLogicalAnd, whole, c->is_full);
    struct pm_ir_def *first = build_select(c, full, uint_of(c, unit), uint_of(c, units(c) + unit));
    if (c->layout.lanes_only) {
        pm_counting_add_at(counting, b, c->slot, first,
                           build_select(c, full, uint_of(c, 1), lanes));
        return;
    }
    pm_counting_add_at(counting, b, c->slot, first, uint_of(c, 1));
    const bool all = counts_lanes(c, index);
    struct pm_ir_def *more =
        all ? build_not(c, full) : build_bool(c, SpvOpLogicalAnd, whole, build_not(c, c->is_full));
    struct pm_ir_block *merge = pm_ir_build_if(b, more, true, NULL);
    struct pm_ir_def *second =
        build_select(c, whole, uint_of(c, 2 * units(c) + unit), uint_of(c, 3 * units(c) + unit));
    pm_counting_add_at(counting, b, c->slot, second, lanes);
    pm_ir_build_end_if(b, merge);
}

/* ---- registers ---- */

struct pm_ir_def *pm_block_counts_variable(const struct pm_block_counts *c)
{
    struct pm_ir_module *module = c->instrument->module;
    struct pm_ir_block *first = c->instrument->function->first_block;
    struct pm_ir_def *type =
        pm_ir_type_pointer(module, SpvStorageClassFunction, c->instrument->counting.uint);
    struct pm_ir_builder b = {module, first, first->body.first};
    return pm_ir_build(&b, SpvOpVariable, type,
                       PM_IR_ARGS(pm_ir_word(SpvStorageClassFunction), pm_ir_id(uint_of(c, 0))));
}

/* A whole entry is noted, where `whole`; NULL: always. */
static void note(const struct pm_block_counts *c, uint32_t unit, struct pm_ir_def *whole)
{
    struct pm_ir_def *turns = c->turns[unit], *variable = turns ? turns : c->marks[unit / BITS];
    struct pm_ir_def *value = uint_of(c, turns ? 1 : UINT32_C(1) << unit % BITS);
    struct pm_ir_def *noted = whole ? build_select(c, whole, value, uint_of(c, 0)) : value;
    store(c, variable, build_uint(c, turns ? SpvOpIAdd : SpvOpBitwiseOr, load(c, variable), noted));
}

static bool leaves(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpReturn || instr->opcode == SpvOpKill ||
           instr->opcode == SpvOpTerminateInvocation ||
           instr->opcode == SpvOpDemoteToHelperInvocation;
}

/* Notes where lanes leave if there is room (NULL: counts), and whether they may as helpers. */
static void find_leaving(struct pm_block_counts *c, struct pm_block_leaving *places)
{
    c->place_count = 0;
    for (struct pm_ir_block *block = c->instrument->function->first_block; block;
         block = block->next)
        for (struct pm_ir_instr *i = block->body.first; i; i = i->next) {
            if (!leaves(i))
                continue;
            if (places)
                places[c->place_count] = (struct pm_block_leaving){
                    .at = i,
                    .with = c->company ? c->company->of_block[block->index] : PM_COMPANY_NONE,
                };
            c->place_count++;
            c->demotes |= i->opcode == SpvOpDemoteToHelperInvocation;
        }
}

static bool calls_none(const struct pm_ir_module *module)
{
    return module->first_function == module->last_function;
}

/* ---- at entry ---- */

static bool make_registers(struct pm_block_counts *c)
{
    const struct pm_instrument_info *info = c->instrument->info;
    const uint32_t words = (units(c) + BITS - 1) / BITS;
    uint32_t additions = 0;
    find_leaving(c, NULL);
    c->places =
        pm_arena_zalloc(c->instrument->module->arena, c->place_count + 1u, sizeof *c->places);
    c->entered =
        pm_arena_zalloc(c->instrument->module->arena, info->point_count + 1u, sizeof *c->entered);
    c->turns = pm_arena_zalloc(c->instrument->module->arena, units(c), sizeof *c->turns);
    c->marks = pm_arena_zalloc(c->instrument->module->arena, words, sizeof *c->marks);
    c->waits = calls_none(c->instrument->module);
    if (!c->turns || !c->marks || !c->places || !c->entered)
        return false;
    find_leaving(c, c->places);
    for (uint32_t w = 0; c->waits && w < words; w++)
        c->marks[w] = pm_block_counts_variable(c);
    for (uint32_t i = 0; c->waits && info->sums_outlive_loops && i < info->point_count; i++)
        if (!c->once[i] && (additions += c->place_count) <= MOST_ADDITIONS)
            c->turns[i + 1] = pm_block_counts_variable(c);
    if (c->waits)
        c->next = pm_block_counts_variable(c);
    return true;
}

/* Whether whole entries of the point wait in a register. */
static bool has_register(const struct pm_block_counts *c, uint32_t index)
{
    return c->waits && (c->once[index] || c->turns[index + 1]);
}

/* One lane of each subgroup adds the entry of the shader itself, if that cannot wait. */
static void add_entry(struct pm_block_counts *c, struct pm_ir_block *rest)
{
    struct pm_ir_builder *b = &c->instrument->builder;
    pm_ir_build_if(b, c->is_first, true, rest);
    add_whole(c, uint_of(c, 0), uint_of(c, 1));
    pm_ir_build_end_if(b, rest);
}

static void begin_entry(struct pm_block_counts *c)
{
    struct pm_instrument *p = c->instrument;
    struct pm_ir_builder *b = &p->builder;
    struct pm_ir_block *first = p->function->first_block, *rest = NULL;
    if (c->waits)
        *b = (struct pm_ir_builder){p->module, first, pm_ir_block_start(first)};
    else
        rest = pm_block_open(b, first);
    struct pm_ir_def *live = build_live(c), *ballot = build_ballot(c, live);
    c->entry_ballot = ballot;
    c->entry_lanes = count_bits(c, ballot, SpvGroupOperationReduce);
    c->is_full = p->info->subgroup_size ? build_bool(c, SpvOpIEqual, c->entry_lanes,
                                                     uint_of(c, p->info->subgroup_size))
                                        : pm_ir_constant_bool(p->module, false);
    c->is_first =
        build_bool(c, SpvOpLogicalAnd, live,
                   build_bool(c, SpvOpIEqual, count_bits(c, ballot, SpvGroupOperationExclusiveScan),
                              uint_of(c, 0)));
    c->slot = pm_counting_slot(&p->counting, b);
    if (!c->demotes)
        c->live = live;
    if (c->waits)
        store(c, c->marks[0], uint_of(c, 1));
    else
        add_entry(c, rest);
}

bool pm_block_counts_begin(struct pm_block_counts *c, struct pm_instrument *p, const bool *once,
                           const struct pm_block_company *company)
{
    const struct pm_instrument_info *info = p->info;
    *c = (struct pm_block_counts){
        .instrument = p,
        .once = once,
        .company = company,
        .layout = pm_block_layout(info),
        .counts_lanes = info->flow ? info->flow->counted : NULL,
    };
    p->counting.slot_stride = (pm_block_units(&c->layout) + 7) & ~7u;
    if (!make_registers(c))
        return false;
    begin_entry(c);
    return true;
}

/* ---- at a block ---- */

/* Begins what one of the lanes does that count here and find the condition true; then the builder
 * is inside. condition NULL: all do. */
static struct pm_ir_block *begin_one(const struct pm_block_counts *c, struct pm_ir_def *live,
                                     struct pm_ir_def *condition, struct pm_ir_block *rest)
{
    struct pm_ir_builder *b = &c->instrument->builder;
    const bool all_live = c->instrument->stage != PM_STAGE_FRAGMENT;
    struct pm_ir_def *both = !condition ? live
                             : all_live ? condition
                                        : build_bool(c, SpvOpLogicalAnd, live, condition);
    if (!condition && all_live)
        return pm_ir_build_if(b, pm_counting_elect(&c->instrument->counting, b), true, rest);
    pm_ir_build_if(b, both, true, rest);
    return pm_ir_build_if(b, pm_counting_elect(&c->instrument->counting, b), true, NULL);
}

static void end_one(const struct pm_block_counts *c, struct pm_ir_block *merge,
                    struct pm_ir_block *rest)
{
    pm_ir_build_end_if(&c->instrument->builder, merge);
    if (merge != rest)
        pm_ir_build_end_if(&c->instrument->builder, rest);
}

void pm_block_counts_add(struct pm_block_counts *c, uint32_t index, struct pm_ir_block *block)
{
    pm_block_counts_add_at(c, index, pm_ir_block_start(block));
}

/* The lanes that enter what comes now, or that of whose block it is said they do. */
static struct pm_block_entered enter(struct pm_block_counts *c, uint32_t with,
                                     struct pm_ir_def *live)
{
    if (with == PM_COMPANY_ENTRY)
        return (struct pm_block_entered){.ballot = c->entry_ballot};
    if (with != PM_COMPANY_NONE && c->entered[with].ballot)
        return c->entered[with];
    /* A lane that returned or was killed or demoted since the entry did not enter: the subgroup is
     * then not whole. */
    struct pm_ir_def *ballot = build_ballot(c, live);
    return (struct pm_block_entered){ballot, build_same(c, ballot, c->entry_ballot)};
}

void pm_block_counts_add_at(struct pm_block_counts *c, uint32_t index, struct pm_ir_instr *at)
{
    struct pm_instrument *p = c->instrument;
    struct pm_ir_builder *b = &p->builder;
    const bool waits = has_register(c, index);
    const uint32_t with = c->company ? c->company->of_point[index] : PM_COMPANY_NONE;
    if (waits && with == PM_COMPANY_ENTRY) {
        *b = (struct pm_ir_builder){p->module, at->block, at};
        note(c, index + 1, NULL);
        return;
    }
    struct pm_ir_block *rest = pm_block_open_at(b, at->block, at);
    struct pm_ir_def *live = build_live(c);
    const struct pm_block_entered entered = c->entered[index] = enter(c, with, live);
    struct pm_ir_def *whole = entered.whole ? entered.whole : pm_ir_constant_bool(p->module, true);
    if (waits)
        note(c, index + 1, whole);
    struct pm_ir_block *merge = begin_one(c, live, waits ? build_not(c, whole) : NULL, rest);
    struct pm_ir_def *lanes = count_bits(c, entered.ballot, SpvGroupOperationReduce);
    if (waits)
        add_part(c, index, lanes);
    else
        add_now(c, index, whole, lanes);
    end_one(c, merge, rest);
}

/* ---- where lanes leave ---- */

/* What waits of a unit: a mark, or a number. */
static struct pm_ir_def *build_waiting(const struct pm_block_counts *c, struct pm_ir_def *unit)
{
    struct pm_ir_def *marks = load(c, c->marks[0]);
    for (uint32_t word = 1; word * BITS < units(c); word++)
        marks = build_select(c, build_bool(c, SpvOpULessThan, unit, uint_of(c, word * BITS)), marks,
                             load(c, c->marks[word]));
    struct pm_ir_def *bit = build_uint(c, SpvOpBitwiseAnd, unit, uint_of(c, BITS - 1));
    struct pm_ir_def *waiting = build_uint(
        c, SpvOpBitwiseAnd, build_uint(c, SpvOpShiftRightLogical, marks, bit), uint_of(c, 1));
    for (uint32_t u = 1; u < units(c); u++)
        if (c->turns[u])
            waiting = build_select(c, build_bool(c, SpvOpIEqual, unit, uint_of(c, u)),
                                   load(c, c->turns[u]), waiting);
    return waiting;
}

/* Each lane looks at a unit, and at the one as many behind as there are lanes. */
static void add_all(const struct pm_block_counts *c, struct pm_ir_def *rank,
                    struct pm_ir_def *lanes)
{
    struct pm_ir_module *module = c->instrument->module;
    struct pm_ir_builder *b = &c->instrument->builder;
    store(c, c->next, rank);
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
    struct pm_ir_def *waiting = build_waiting(c, unit);
    struct pm_ir_block *added =
        pm_ir_build_if(b, build_bool(c, SpvOpINotEqual, waiting, uint_of(c, 0)), true, NULL);
    add_whole(c, unit, waiting);
    pm_ir_build_end_if(b, added);
    pm_ir_build_branch(b, again);
    *b = (struct pm_ir_builder){module, again, NULL};
    store(c, c->next, build_uint(c, SpvOpIAdd, unit, lanes));
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

/* Of what waits, everything, if the first lane is among those that leave. */
static void add_waiting(const struct pm_block_counts *c, const struct pm_block_leaving *leaving)
{
    struct pm_instrument *p = c->instrument;
    struct pm_ir_builder *b = &p->builder;
    struct pm_ir_block *rest = pm_block_open_at(b, leaving->at->block, leaving->at);
    struct pm_ir_def *live = build_live(c), *condition = live, *ballot = NULL;
    if (leaving->with == PM_COMPANY_ENTRY)
        ballot = c->entry_ballot;
    else if (leaving->with != PM_COMPANY_NONE)
        ballot = c->entered[leaving->with].ballot;
    if (leaving->with != PM_COMPANY_ENTRY)
        condition = build_bool(c, SpvOpLogicalAnd, live,
                               ballot ? has_first(c, ballot) : first_leaves(c, live));
    const bool all = condition == p->counting.true_constant;
    if (!all)
        pm_ir_build_if(b, condition, true, rest);
    if (!ballot)
        ballot = build_ballot(c, p->counting.true_constant);
    struct pm_ir_def *lanes = count_bits(c, ballot, SpvGroupOperationReduce);
    struct pm_ir_def *rank = count_bits(c, ballot, SpvGroupOperationExclusiveScan);
    add_all(c, rank, lanes);
    pm_ir_build_end_if(b, rest);
}

void pm_block_counts_end(struct pm_block_counts *c)
{
    struct pm_instrument *p = c->instrument;
    for (uint32_t i = 0; c->waits && i < c->place_count && !p->module->failed; i++)
        add_waiting(c, &c->places[i]);
    if (c->demotes && !p->module->failed)
        pm_block_mend_sampled_images(p->function);
}
