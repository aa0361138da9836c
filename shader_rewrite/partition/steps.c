#include "shader_rewrite/partition/steps.h"

struct finding {
    struct pm_steps *out;
    const struct pm_structure *structure;
    const struct pm_cfg *cfg;
    const bool *open;
    uint32_t *whole; /* by construct: the outermost one around it, or itself, that is not cut open;
                        PM_NO_CONSTRUCT: none */
    uint32_t *first; /* by construct: its first block in out->blocks, when it is such a one */
    uint32_t *counts;
    struct pm_error *error;
};

/* The loop construct of a loop's continue construct. */
static uint32_t loop_of(const struct pm_structure *structure, uint32_t construct)
{
    uint32_t header = structure->constructs[construct].header;
    if (structure->constructs[construct].kind != PM_CONSTRUCT_CONTINUE)
        return construct;
    for (uint32_t c = construct; c-- > 0;)
        if (structure->constructs[c].kind == PM_CONSTRUCT_LOOP &&
            structure->constructs[c].header == header)
            return c;
    for (uint32_t c = 0; c < structure->count; c++)
        if (structure->constructs[c].kind == PM_CONSTRUCT_LOOP &&
            structure->constructs[c].header == header)
            return c;
    return construct;
}

/* The construct that stays whole around a block; PM_NO_CONSTRUCT: none. */
static uint32_t whole_around(const struct finding *f, uint32_t block)
{
    uint32_t innermost = f->structure->innermost[block];
    return innermost == PM_NO_CONSTRUCT ? PM_NO_CONSTRUCT : f->whole[innermost];
}

/* Whether a block is a construct's inside: the header of a selection stands before it. */
static bool is_inside(const struct finding *f, uint32_t block, uint32_t construct)
{
    const struct pm_construct *c = &f->structure->constructs[construct];
    return c->kind == PM_CONSTRUCT_LOOP || block != c->header;
}

static bool init(struct finding *f, struct pm_arena *arena)
{
    const struct pm_structure *structure = f->structure;
    struct pm_steps *out = f->out;
    uint32_t count = structure->count;
    f->whole = pm_arena_zalloc(arena, count + 1u, sizeof(*f->whole));
    f->first = pm_arena_zalloc(arena, count + 1u, sizeof(*f->first));
    f->counts = pm_arena_zalloc(arena, count + 1u, sizeof(*f->counts));
    out->blocks = pm_arena_zalloc(arena, f->cfg->count + 1u, sizeof(struct pm_ir_block *));
    if (!f->whole || !f->first || !f->counts || !out->blocks)
        return false;
    for (uint32_t c = 0; c < count; c++) {
        uint32_t parent = structure->constructs[c].parent;
        uint32_t around = parent == PM_NO_CONSTRUCT ? PM_NO_CONSTRUCT : f->whole[parent];
        uint32_t own = loop_of(structure, c);
        f->whole[c] = around != PM_NO_CONSTRUCT ? around : f->open[c] ? PM_NO_CONSTRUCT : own;
    }
    for (uint32_t b = 0; b < f->cfg->count; b++) {
        uint32_t around = whole_around(f, b);
        if (around != PM_NO_CONSTRUCT && is_inside(f, b, around))
            f->counts[around]++;
    }
    for (uint32_t c = 0, next = 0; c < count; c++) {
        f->first[c] = next;
        next += f->counts[c];
        f->counts[c] = 0;
    }
    for (uint32_t b = 0; b < f->cfg->count; b++) {
        uint32_t around = whole_around(f, b);
        if (around != PM_NO_CONSTRUCT && is_inside(f, b, around))
            out->blocks[f->first[around] + f->counts[around]++] = f->cfg->blocks[b];
    }
    return true;
}

static void define(struct finding *f, const struct pm_ir_instr *instr, uint32_t step)
{
    if (instr->result)
        f->out->step_of[instr->result->id] = step;
}

static struct pm_step *add(struct finding *f, enum pm_step_kind kind, struct pm_ir_instr *instr,
                           uint32_t guard)
{
    struct pm_step *step = &f->out->steps[f->out->count++];
    *step = (struct pm_step){.kind = kind, .instr = instr, .guard = guard};
    define(f, instr, f->out->count - 1);
    return step;
}

/* A construct that stays whole, and the OpPhis behind it. */
static bool add_construct(struct finding *f, struct pm_ir_block *header, uint32_t construct,
                          uint32_t guard)
{
    const struct pm_construct *c = &f->structure->constructs[construct];
    struct pm_step *step = add(f, PM_STEP_CONSTRUCT, pm_ir_merge(header), guard);
    step->header = header;
    step->merge = f->cfg->blocks[c->merge];
    step->loop = c->kind == PM_CONSTRUCT_LOOP;
    step->branch = step->loop ? NULL : pm_ir_terminator(header);
    step->first_block = f->first[construct];
    step->block_count = f->counts[construct];
    uint32_t number = f->out->count - 1;
    for (uint32_t b = 0; b < step->block_count; b++) {
        const struct pm_ir_block *block = f->out->blocks[step->first_block + b];
        uint16_t end = pm_ir_terminator(block)->opcode;
        if (pm_ir_ends_invocation(pm_ir_terminator(block)) && end != SpvOpUnreachable)
            return pm_fail(f->error, PM_ERROR_UNSUPPORTED,
                           "%s within a selection or loop: what comes behind would run again",
                           pm_ir_opcode_name(end));
        for (const struct pm_ir_instr *i = block->body.first; i; i = i->next)
            define(f, i, number);
    }
    for (const struct pm_ir_instr *i = step->merge->body.first; i && i->opcode == SpvOpPhi;
         i = i->next)
        define(f, i, number);
    return true;
}

static uint32_t add_guard(struct finding *f, uint32_t parent, struct pm_ir_def *condition,
                          bool when)
{
    f->out->guards[f->out->guard_count] =
        (struct pm_guard){.parent = parent, .condition = condition, .when = when};
    return f->out->guard_count++;
}

/* Finds out which of an OpPhi's two values comes from the then-side of the selection before it. */
static bool find_sides(struct finding *f, struct pm_step *join, const struct pm_ir_block *header)
{
    const struct pm_ir_instr *phi = join->instr, *branch = pm_ir_terminator(header);
    const struct pm_ir_block *yes = pm_ir_block_of(branch->operands[1].def);
    const struct pm_ir_block *no = pm_ir_block_of(branch->operands[2].def);
    if (phi->operand_count != 4)
        return pm_fail(f->error, PM_ERROR_UNSUPPORTED,
                       "a selection that is too large for one pass has %u ways out",
                       phi->operand_count / 2);
    const struct pm_ir_block *from = pm_ir_block_of(phi->operands[1].def);
    const struct pm_dominators *d = f->structure->dominators;
    bool first = yes != join->merge ? pm_dominates(d, yes->index, from->index)
                                    : no != join->merge && !pm_dominates(d, no->index, from->index);
    join->then_value = first ? 0 : 2;
    return true;
}

/* What is yet to be listed, as a stack: selections that are cut open nest deeply. */
struct pending {
    struct pm_ir_block *block, *end; /* from a block up to another one */
    uint32_t guard;
    uint32_t opened; /* the joins of `block`, of a selection with this guard; PM_NO_GUARD: none */
    const struct pm_ir_block *header; /* likewise: of that selection */
};

static uint32_t construct_of(const struct finding *f, uint32_t header)
{
    for (uint32_t c = f->structure->innermost[header]; c != PM_NO_CONSTRUCT;
         c = f->structure->constructs[c].parent)
        if (f->structure->constructs[c].header == header &&
            f->structure->constructs[c].kind != PM_CONSTRUCT_CONTINUE)
            return c;
    return PM_NO_CONSTRUCT;
}

/* The sides of a selection that is cut open, and what is behind it. */
static void list_sides(struct finding *f, struct pending now, struct pending behind,
                       struct pending *stack, uint32_t *depth)
{
    const struct pm_ir_instr *branch = pm_ir_terminator(now.block);
    struct pm_ir_def *condition = branch->operands[0].def;
    uint32_t guards[2] = {add_guard(f, now.guard, condition, true),
                          add_guard(f, now.guard, condition, false)};
    struct pm_ir_block *merge = behind.block;
    behind.opened = guards[0];
    behind.header = now.block;
    stack[(*depth)++] = behind;
    for (uint32_t side = 2; side-- > 0;) { /* the then-side on top */
        struct pm_ir_block *to = pm_ir_block_of(branch->operands[1 + side].def);
        if (to != merge)
            stack[(*depth)++] = (struct pending){
                .block = to, .end = merge, .guard = guards[side], .opened = PM_NO_GUARD};
    }
}

/* Lists a block's own instructions; what is behind it goes on the stack. */
static bool list_block(struct finding *f, struct pending now, struct pending *stack,
                       uint32_t *depth)
{
    struct pm_ir_block *block = now.block;
    struct pm_ir_instr *merge = pm_ir_merge(block), *terminator = pm_ir_terminator(block);
    uint32_t construct = merge ? construct_of(f, block->index) : PM_NO_CONSTRUCT;
    if (merge && construct == PM_NO_CONSTRUCT)
        return pm_fail(f->error, PM_ERROR_UNSUPPORTED, "a merge instruction without a construct");
    bool loop = merge && merge->opcode == SpvOpLoopMerge;
    for (struct pm_ir_instr *i = block->body.first; i && !loop; i = i->next) {
        if (i == merge || i == terminator)
            break;
        bool phi = i->opcode == SpvOpPhi && f->out->step_of[i->result->id] == PM_NO_STEP;
        if (phi && now.opened == PM_NO_GUARD) {
            if (i->operand_count != 2)
                return pm_fail(f->error, PM_ERROR_UNSUPPORTED,
                               "an OpPhi behind no selection or loop");
            add(f, PM_STEP_JOIN, i, now.guard)->opened = PM_NO_GUARD;
        } else if (phi) {
            struct pm_step *join = add(f, PM_STEP_JOIN, i, now.guard);
            join->merge = block;
            join->opened = now.opened;
            if (!find_sides(f, join, now.header))
                return false;
        } else if (i->opcode != SpvOpPhi && i->opcode != SpvOpVariable) {
            add(f, PM_STEP_INSTR, i, now.guard);
        }
    }
    struct pending behind = {.end = now.end, .guard = now.guard, .opened = PM_NO_GUARD};
    if (!merge) {
        if (terminator->opcode != SpvOpBranch && now.end)
            return pm_fail(f->error, PM_ERROR_UNSUPPORTED,
                           "%s within a selection that is too large for one pass",
                           pm_ir_opcode_name(terminator->opcode));
        behind.block =
            terminator->opcode == SpvOpBranch ? pm_ir_block_of(terminator->operands[0].def) : NULL;
        if (behind.block && behind.block != now.end)
            stack[(*depth)++] = behind;
        return true;
    }
    behind.block = f->cfg->blocks[f->structure->constructs[construct].merge];
    if (!f->open[construct]) {
        stack[(*depth)++] = behind;
        return add_construct(f, block, construct, now.guard);
    }
    list_sides(f, now, behind, stack, depth);
    return true;
}

bool pm_steps_find(struct pm_ir_function *function, const bool *open, struct pm_arena *arena,
                   struct pm_steps *out, struct pm_error *error)
{
    const struct pm_ir_module *module = function->module;
    struct finding f = {.out = out,
                        .structure = pm_structure(function),
                        .cfg = pm_cfg(function),
                        .open = open,
                        .error = error};
    size_t most = 0;
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next)
            most++;
    *out = (struct pm_steps){.function = function, .bound = module->bound};
    out->steps = pm_arena_zalloc(arena, most + 1, sizeof(*out->steps));
    out->guards = pm_arena_zalloc(arena, 2 * (size_t)f.structure->count + 1, sizeof(*out->guards));
    out->step_of = pm_arena_alloc(arena, (out->bound + (size_t)1) * sizeof(*out->step_of));
    struct pending *stack =
        pm_arena_zalloc(arena, 3 * (size_t)f.structure->count + 2, sizeof(*stack));
    if (!out->steps || !out->guards || !out->step_of || !stack || !init(&f, arena))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < out->bound; i++)
        out->step_of[i] = PM_NO_STEP;
    uint32_t depth = 0;
    stack[depth++] = (struct pending){
        .block = function->first_block, .guard = PM_NO_GUARD, .opened = PM_NO_GUARD};
    while (depth) {
        struct pending now = stack[--depth];
        if (!list_block(&f, now, stack, &depth))
            return false;
    }
    return true;
}

struct pm_step_walk pm_step_walk_begin(const struct pm_steps *steps, uint32_t step)
{
    const struct pm_step *of = &steps->steps[step];
    /* A loop's merge instruction is in its header, which is inside. */
    return (struct pm_step_walk){.steps = steps, .step = of, .next = of->loop ? NULL : of->instr};
}

/* Where the next block inside begins, or at last the OpPhis behind. */
static struct pm_ir_instr *next_block(struct pm_step_walk *walk)
{
    const struct pm_step *step = walk->step;
    uint32_t block = walk->block++;
    if (block < step->block_count)
        return walk->steps->blocks[step->first_block + block]->body.first;
    struct pm_ir_instr *first = step->merge->body.first;
    return first && first->opcode == SpvOpPhi ? first : NULL;
}

bool pm_step_walk_next(struct pm_step_walk *walk)
{
    const struct pm_step *step = walk->step;
    bool construct = step->kind == PM_STEP_CONSTRUCT;
    while (!walk->next && construct && walk->block <= step->block_count)
        walk->next = next_block(walk);
    walk->instr = walk->next;
    if (!walk->instr)
        return false;
    walk->next = NULL;
    if (!construct)
        return true;
    if (walk->instr == step->instr && !step->loop) {
        walk->next = step->branch;
    } else if (walk->instr != step->branch) {
        bool behind = walk->block > step->block_count;
        struct pm_ir_instr *next = walk->instr->next;
        walk->next = behind && next && next->opcode != SpvOpPhi ? NULL : next;
    }
    return true;
}

void pm_steps_mark(const struct pm_steps *steps)
{
    for (uint32_t i = 0; i < steps->count; i++) {
        struct pm_step_walk walk = pm_step_walk_begin(steps, i);
        while (pm_step_walk_next(&walk))
            walk.instr->mark = i + 1;
    }
}
