#include "shader_rewrite/constants/constant_counting.h"

/* Words that one loop goes over: they are an array of each invocation. */
enum { LOOP_WORDS = 32 };

/* A loop that is left at its end alone: `header` with the turn's number, from 0 on, a body that is
 * built next, `next`, and `merge`. */
struct loop {
    struct pm_ir_block *header, *body, *next, *merge;
    struct pm_ir_def *turn;
};

static struct pm_ir_def *uint_of(const struct pm_counting *c, uint32_t value)
{
    return pm_ir_constant_uint(c->module, value);
}

static struct pm_ir_def *build(const struct pm_counting *c, struct pm_ir_builder *b,
                               uint16_t opcode, struct pm_ir_def *type, struct pm_ir_def *x,
                               struct pm_ir_def *y)
{
    (void)c;
    return pm_ir_build(b, opcode, type, PM_IR_ARGS(pm_ir_id(x), pm_ir_id(y)));
}

/* Drivers are told not to unroll: that would be what the loop is there to save. */
static struct loop begin_loop(const struct pm_counting *c, struct pm_ir_builder *b)
{
    struct pm_ir_block *before = b->block;
    struct loop loop = {.header = pm_ir_block_create(c->module, before)};
    loop.body = pm_ir_block_create(c->module, loop.header);
    loop.next = pm_ir_block_create(c->module, loop.body);
    loop.merge = pm_ir_block_create(c->module, loop.next);
    pm_ir_build_branch(b, loop.header);
    *b = (struct pm_ir_builder){c->module, loop.header, NULL};
    struct pm_ir_instr *turn = pm_ir_build_instr(b, SpvOpPhi, c->uint, NULL, 0);
    pm_ir_phi_add(c->module, turn, uint_of(c, 0), before);
    loop.turn = turn ? turn->result : NULL;
    if (loop.merge && loop.next)
        pm_ir_build_instr(b, SpvOpLoopMerge, NULL,
                          PM_IR_ARGS(pm_ir_id(loop.merge->label->result),
                                     pm_ir_id(loop.next->label->result),
                                     pm_ir_word(SpvLoopControlDontUnrollMask)));
    pm_ir_build_branch(b, loop.body);
    b->block = loop.body;
    return loop;
}

/* The builder is at the body's end; `leaves` is when it is the last turn, whatever the number;
 * NULL: never. It goes on at the loop's merge block. */
static void end_loop(const struct pm_counting *c, struct pm_ir_builder *b, const struct loop *loop,
                     struct pm_ir_def *leaves, uint32_t turns)
{
    if (leaves)
        pm_ir_build_branch_conditional(b, leaves, loop->merge, loop->next);
    else
        pm_ir_build_branch(b, loop->next);
    b->block = loop->next;
    struct pm_ir_def *following = build(c, b, SpvOpIAdd, c->uint, loop->turn, uint_of(c, 1));
    struct pm_ir_def *again = build(c, b, SpvOpULessThan, c->boolean, following, uint_of(c, turns));
    pm_ir_build_branch_conditional(b, again, loop->header, loop->merge);
    if (loop->turn)
        pm_ir_phi_add(c->module, loop->turn->instr, following, loop->next);
    b->block = loop->merge;
}

/* ---- one word ---- */

/* Which of the table's counts is that of bits other than 0: the first place that is theirs, or
 * nobody's and then theirs; behind the places, that of the rest. */
static struct pm_ir_def *find_count(const struct pm_counting *c, struct pm_ir_builder *b,
                                    struct pm_counting_slot slot, struct pm_ir_def *unit,
                                    struct pm_ir_def *bits)
{
    struct pm_ir_def *values = build(c, b, SpvOpIAdd, c->uint, unit, uint_of(c, PM_CONSTANT_VALUE));
    const struct loop loop = begin_loop(c, b);
    struct pm_ir_def *before =
        pm_counting_claim_at(c, b, slot, build(c, b, SpvOpIAdd, c->uint, values, loop.turn), bits);
    struct pm_ir_def *own = build(c, b, SpvOpLogicalOr, c->boolean,
                                  build(c, b, SpvOpIEqual, c->boolean, before, uint_of(c, 0)),
                                  build(c, b, SpvOpIEqual, c->boolean, before, bits));
    end_loop(c, b, &loop, own, PM_CONSTANT_VALUES);
    struct pm_ir_instr *found = pm_ir_build_instr(b, SpvOpPhi, c->uint, NULL, 0);
    pm_ir_phi_add(c->module, found, loop.turn, loop.body);
    pm_ir_phi_add(c->module, found, uint_of(c, PM_CONSTANT_VALUES), loop.next);
    return build(c, b, SpvOpIAdd, c->uint, found ? found->result : NULL,
                 uint_of(c, PM_CONSTANT_COUNTS));
}

static void count_word(const struct pm_counting *c, struct pm_ir_builder *b,
                       struct pm_counting_slot slot, struct pm_ir_def *unit, struct pm_ir_def *bits)
{
    struct pm_ir_block *outside = b->block;
    struct pm_ir_def *any = build(c, b, SpvOpINotEqual, c->boolean, bits, uint_of(c, 0));
    struct pm_ir_block *merge = pm_ir_build_if(b, any, true, NULL);
    struct pm_ir_def *other = find_count(c, b, slot, unit, bits);
    struct pm_ir_block *inside = b->block;
    pm_ir_build_end_if(b, merge);
    struct pm_ir_instr *which = pm_ir_build_instr(b, SpvOpPhi, c->uint, NULL, 0);
    pm_ir_phi_add(c->module, which, uint_of(c, PM_CONSTANT_COUNT_ZERO), outside);
    pm_ir_phi_add(c->module, which, other, inside);
    pm_counting_add_at(c, b, slot,
                       build(c, b, SpvOpIAdd, c->uint, unit, which ? which->result : NULL),
                       uint_of(c, 1));
}

/* ---- many ---- */

static struct pm_ir_def *pair_type(const struct pm_counting *c)
{
    return pm_ir_type_vector(c->module, c->uint, 2);
}

static struct pm_ir_def *make_array(struct pm_constant_counting *counting)
{
    struct pm_ir_module *module = counting->counters->module;
    struct pm_ir_block *first = counting->function->first_block;
    struct pm_ir_builder start = {module, first, pm_ir_block_start(first)};
    if (counting->array)
        return counting->array;
    struct pm_ir_def *type =
        pm_ir_global(module, SpvOpTypeArray, NULL,
                     PM_IR_ARGS(pm_ir_id(pair_type(counting->counters)),
                                pm_ir_id(uint_of(counting->counters, LOOP_WORDS))));
    counting->array = pm_ir_build(&start, SpvOpVariable,
                                  pm_ir_type_pointer(module, SpvStorageClassFunction, type),
                                  PM_IR_ARGS(pm_ir_word(SpvStorageClassFunction)));
    return counting->array;
}

static struct pm_ir_def *element(const struct pm_constant_counting *counting,
                                 struct pm_ir_builder *b, struct pm_ir_def *index)
{
    const struct pm_counting *c = counting->counters;
    return build(c, b, SpvOpAccessChain,
                 pm_ir_type_pointer(c->module, SpvStorageClassFunction, pair_type(c)),
                 counting->array, index);
}

/* LOOP_WORDS of them at most. */
static void count_in_loop(struct pm_constant_counting *counting, struct pm_ir_builder *b,
                          struct pm_counting_slot slot, const struct pm_constant_counted *words,
                          uint32_t count)
{
    const struct pm_counting *c = counting->counters;
    make_array(counting);
    for (uint32_t i = 0; i < count; i++) {
        struct pm_ir_def *pair = build(c, b, SpvOpCompositeConstruct, pair_type(c), words[i].bits,
                                       uint_of(c, words[i].unit));
        pm_ir_build_instr(
            b, SpvOpStore, NULL,
            PM_IR_ARGS(pm_ir_id(element(counting, b, uint_of(c, i))), pm_ir_id(pair)));
    }
    const struct loop loop = begin_loop(c, b);
    struct pm_ir_def *pair = pm_ir_build(b, SpvOpLoad, pair_type(c),
                                         PM_IR_ARGS(pm_ir_id(element(counting, b, loop.turn))));
    struct pm_ir_def *parts[2];
    for (uint32_t i = 0; i < 2; i++)
        parts[i] = pm_ir_build(b, SpvOpCompositeExtract, c->uint,
                               PM_IR_ARGS(pm_ir_id(pair), pm_ir_word(i)));
    count_word(c, b, slot, parts[1], parts[0]);
    end_loop(c, b, &loop, NULL, count);
}

void pm_constant_count(struct pm_constant_counting *counting, struct pm_ir_builder *builder,
                       struct pm_counting_slot slot, const struct pm_constant_counted *words,
                       uint32_t count)
{
    const struct pm_counting *c = counting->counters;
    for (uint32_t done = 0, some; done < count && !c->module->failed; done += some) {
        some = count - done < LOOP_WORDS ? count - done : LOOP_WORDS;
        if (some == 1)
            count_word(c, builder, slot, uint_of(c, words[done].unit), words[done].bits);
        else
            count_in_loop(counting, builder, slot, words + done, some);
    }
}
