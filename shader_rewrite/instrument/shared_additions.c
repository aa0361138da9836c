#include "shader_rewrite/instrument/shared_additions.h"

static struct pm_ir_def *build(const struct pm_shared_additions *s, uint16_t opcode,
                               struct pm_ir_def *type, struct pm_ir_def *x, struct pm_ir_def *y)
{
    return pm_ir_build(&s->instrument->builder, opcode, type, PM_IR_ARGS(pm_ir_id(x), pm_ir_id(y)));
}

static void store(const struct pm_shared_additions *s, struct pm_ir_def *value)
{
    pm_ir_build_instr(&s->instrument->builder, SpvOpStore, NULL,
                      PM_IR_ARGS(pm_ir_id(s->next), pm_ir_id(value)));
}

struct pm_shared_additions pm_shared_additions_begin(struct pm_instrument *p,
                                                     struct pm_ir_def *next, struct pm_ir_def *rank,
                                                     struct pm_ir_def *lanes,
                                                     struct pm_ir_def *bound)
{
    struct pm_ir_module *module = p->module;
    struct pm_ir_builder *b = &p->builder;
    struct pm_ir_def *boolean = p->counting.boolean, *uint = p->counting.uint;
    struct pm_shared_additions s = {.instrument = p, .next = next, .lanes = lanes, .bound = bound};
    struct pm_ir_def *none = build(&s, SpvOpIEqual, boolean, lanes, pm_ir_constant_uint(module, 0));
    store(&s, pm_ir_build(b, SpvOpSelect, uint,
                          PM_IR_ARGS(pm_ir_id(none), pm_ir_id(bound), pm_ir_id(rank))));
    s.header = pm_ir_block_create(module, b->block);
    struct pm_ir_block *body = pm_ir_block_create(module, s.header);
    s.again = pm_ir_block_create(module, body);
    s.merge = pm_ir_block_create(module, s.again);
    pm_ir_build_branch(b, s.header);
    *b = (struct pm_ir_builder){module, s.header, NULL};
    if (s.merge && s.again)
        pm_ir_build_instr(b, SpvOpLoopMerge, NULL,
                          PM_IR_ARGS(pm_ir_id(s.merge->label->result),
                                     pm_ir_id(s.again->label->result),
                                     pm_ir_word(SpvLoopControlDontUnrollMask)));
    pm_ir_build_branch(b, body);
    b->block = body;
    s.number = pm_ir_build(b, SpvOpLoad, uint, PM_IR_ARGS(pm_ir_id(next)));
    s.is_one = build(&s, SpvOpULessThan, boolean, s.number, bound);
    return s;
}

void pm_shared_additions_end(struct pm_shared_additions *s)
{
    struct pm_instrument *p = s->instrument;
    struct pm_ir_builder *b = &p->builder;
    struct pm_ir_def *next = build(s, SpvOpIAdd, p->counting.uint, s->number, s->lanes);
    store(s, next);
    struct pm_ir_def *goes_on = build(s, SpvOpULessThan, p->counting.boolean, next, s->bound);
    pm_ir_build_branch(b, s->again);
    *b = (struct pm_ir_builder){p->module, s->again, NULL};
    pm_ir_build_branch_conditional(b, goes_on, s->header, s->merge);
    b->block = s->merge;
}
