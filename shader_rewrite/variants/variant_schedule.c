/*
 * Orders of a block's instructions. Drivers' compilers schedule themselves, but mostly begin with
 * the order they are given, and so how many values are alive, and how early a load is on its way,
 * follows from it. What an instruction needs stays before it, and so does what it may not pass
 * (analysis_memory.h); phis, variables, merge and terminator stay where they are.
 */
#include "shader_rewrite/analysis/analysis_memory.h"
#include "shader_rewrite/variants/variant_function.h"
#include "shader_rewrite/variants/variant_passes.h"

/* A block with more is left as it is: what may not pass each other is looked for pair by pair, and
 * what comes before its use is put there by recursion. */
enum { MOST_INSTRUCTIONS = 1 << 14, MOST_ORDERED = 1 << 11, MOST_DEPTH = 1 << 10 };

struct node {
    struct pm_ir_instr *instr;
    struct pm_memory_access access;
    uint32_t level;  /* the longest way to it from the block's begin */
    uint32_t height; /* the longest way from it to the block's end */
    uint32_t need;   /* registers, as of a tree (Sethi and Ullman) */
    bool loads;      /* or is needed by what does */
    bool done;
};

struct block_schedule {
    enum pm_schedule how;
    struct node *nodes;
    uint32_t count;
    uint32_t *ordered; /* those that access memory, by their place */
    uint32_t ordered_count;
    uint32_t *chosen; /* the new order */
    uint32_t chosen_count;
};

static bool is_fixed(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpPhi || instr->opcode == SpvOpVariable ||
           instr->opcode == SpvOpSelectionMerge || instr->opcode == SpvOpLoopMerge ||
           instr->opcode == SpvOpLine || instr->opcode == SpvOpNoLine ||
           pm_ir_opcode_is_terminator(instr->opcode);
}

/* Nodes are found by their mark, 1 and up; 0: it is no node of the block. */
static struct node *node_of(const struct block_schedule *s, const struct pm_ir_block *block,
                            const struct pm_ir_instr *instr)
{
    return instr && instr->block == block && instr->mark ? &s->nodes[instr->mark - 1] : NULL;
}

typedef void (*node_visit)(struct block_schedule *s, struct node *node, struct node *before,
                           bool operand);

/* Visits what must come before a node. */
static void each_before(struct block_schedule *s, struct node *node, node_visit visit)
{
    const struct pm_ir_block *block = node->instr->block;
    for (uint32_t o = 0; o < node->instr->operand_count; o++) {
        struct node *before = node_of(s, block, pm_ir_operand_instr(node->instr, o));
        if (before)
            visit(s, node, before, true);
    }
    if (!(node->access.reads | node->access.writes) && !node->access.stops)
        return;
    for (uint32_t i = 0; i < s->ordered_count; i++) {
        struct node *before = &s->nodes[s->ordered[i]];
        if (before >= node)
            return;
        if (pm_memory_conflict(before->access, node->access))
            visit(s, node, before, false);
    }
}

/* ---- what the orders go by ---- */

static void raise_level(struct block_schedule *s, struct node *node, struct node *before,
                        bool operand)
{
    (void)s;
    (void)operand;
    if (before->level + 1 > node->level)
        node->level = before->level + 1;
}

/* Of the operands seen so far: the same need twice is one more. */
static void raise_need(struct block_schedule *s, struct node *node, struct node *before,
                       bool operand)
{
    (void)s;
    if (operand)
        node->need = before->need > node->need    ? before->need
                     : before->need == node->need ? node->need + 1
                                                  : node->need;
}

static void raise_height(struct block_schedule *s, struct node *node, struct node *before,
                         bool operand)
{
    (void)s;
    (void)operand;
    if (node->height + 1 > before->height)
        before->height = node->height + 1;
    before->loads |= node->loads;
}

static bool is_load(const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpLoad || pm_ir_opcode_is_core(instr->opcode, PM_IR_OP_IMAGE_READ);
}

static void measure(struct block_schedule *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        s->nodes[i].need = 1;
        s->nodes[i].loads = is_load(s->nodes[i].instr);
        each_before(s, &s->nodes[i], raise_level);
        each_before(s, &s->nodes[i], raise_need);
    }
    for (uint32_t i = s->count; i-- > 0;)
        each_before(s, &s->nodes[i], raise_height);
}

/* ---- orders ---- */

static void emit(struct block_schedule *s, struct node *node);

static void emit_before(struct block_schedule *s, struct node *node, struct node *before,
                        bool operand)
{
    (void)node;
    (void)operand;
    emit(s, before);
}

/* That which needs the most registers first. */
static void emit_greedy(struct block_schedule *s, struct node *node)
{
    const struct pm_ir_instr *instr = node->instr;
    for (;;) {
        struct node *most = NULL;
        for (uint32_t o = 0; o < instr->operand_count; o++) {
            struct node *before = node_of(s, instr->block, pm_ir_operand_instr(instr, o));
            if (before && !before->done && (!most || before->need > most->need))
                most = before;
        }
        if (!most)
            return;
        emit(s, most);
    }
}

/* As deep as the block's longest chain. */
static void emit(struct block_schedule *s, struct node *node)
{
    if (node->done)
        return;
    if (s->how == PM_SCHEDULE_PRESSURE)
        emit_greedy(s, node);
    each_before(s, node, emit_before);
    node->done = true;
    s->chosen[s->chosen_count++] = (uint32_t)(node - s->nodes);
}

static bool has_use_in_block(const struct block_schedule *s, const struct node *node)
{
    const struct pm_ir_instr *instr = node->instr;
    for (const struct pm_ir_operand *use = instr->result ? instr->result->first_use : NULL; use;
         use = use->next_use)
        if (node_of(s, instr->block, use->user))
            return true;
    return false;
}

static bool is_deep(const struct block_schedule *s)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->nodes[i].level > MOST_DEPTH)
            return true;
    return false;
}

static void order_by_uses(struct block_schedule *s)
{
    if (is_deep(s))
        return;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->nodes[i].access.writes || s->nodes[i].access.stops ||
            !has_use_in_block(s, &s->nodes[i]))
            emit(s, &s->nodes[i]);
    for (uint32_t i = 0; i < s->count; i++)
        emit(s, &s->nodes[i]);
}

/* Larger comes first; what must come before another one always has a larger one, or the same and
 * an earlier place. */
static uint32_t rank(const struct block_schedule *s, const struct node *node)
{
    switch (s->how) {
    case PM_SCHEDULE_BREADTH:
        return s->count - node->level;
    case PM_SCHEDULE_CRITICAL:
        return node->height;
    default:
        return node->loads;
    }
}

/* By counting: ranks are at most the number of nodes. */
static bool order_by_rank(struct block_schedule *s, struct pm_arena *arena)
{
    uint32_t *start = pm_arena_zalloc(arena, s->count + 2u, sizeof *start);
    if (!start)
        return false;
    for (uint32_t i = 0; i < s->count; i++)
        start[s->count - rank(s, &s->nodes[i]) + 1]++;
    for (uint32_t r = 1; r <= s->count + 1; r++)
        start[r] += start[r - 1];
    for (uint32_t i = 0; i < s->count; i++)
        s->chosen[start[s->count - rank(s, &s->nodes[i])]++] = i;
    s->chosen_count = s->count;
    return true;
}

/* ---- a block ---- */

static bool collect(struct block_schedule *s, const struct pm_memory *memory,
                    const struct pm_ir_block *block, struct pm_arena *arena)
{
    uint32_t count = 0;
    for (struct pm_ir_instr *i = block->body.first; i; i = i->next)
        count += !is_fixed(i);
    s->nodes = pm_arena_zalloc(arena, count + 1u, sizeof *s->nodes);
    s->ordered = pm_arena_zalloc(arena, count + 1u, sizeof *s->ordered);
    s->chosen = pm_arena_zalloc(arena, count + 1u, sizeof *s->chosen);
    if (!s->nodes || !s->ordered || !s->chosen)
        return false;
    for (struct pm_ir_instr *i = block->body.first; i; i = i->next) {
        i->mark = is_fixed(i) ? 0 : ++s->count;
        if (!i->mark)
            continue;
        struct node *node = &s->nodes[s->count - 1];
        *node = (struct node){.instr = i, .access = pm_memory_access_of(memory, i)};
        if ((node->access.reads | node->access.writes) || node->access.stops)
            s->ordered[s->ordered_count++] = s->count - 1;
    }
    return true;
}

/* In front of what ends the block. */
static bool put(const struct block_schedule *s, struct pm_ir_block *block)
{
    bool changed = false;
    for (uint32_t i = 0; i < s->chosen_count; i++) {
        struct pm_ir_instr *instr = s->nodes[s->chosen[i]].instr;
        changed |= s->chosen[i] != i;
        pm_ir_detach(instr);
        pm_ir_insert(&block->body, block,
                     pm_ir_merge(block) ? pm_ir_merge(block) : pm_ir_terminator(block), instr);
    }
    return changed;
}

static bool schedule_block(enum pm_schedule how, const struct pm_memory *memory,
                           struct pm_ir_block *block, struct pm_arena *arena, bool *changed)
{
    struct block_schedule s = {.how = how};
    if (!collect(&s, memory, block, arena))
        return false;
    if (s.count < 2 || s.count > MOST_INSTRUCTIONS || s.ordered_count > MOST_ORDERED)
        return true;
    measure(&s);
    if (how == PM_SCHEDULE_LATE || how == PM_SCHEDULE_PRESSURE)
        order_by_uses(&s);
    else if (!order_by_rank(&s, arena))
        return false;
    *changed |= put(&s, block);
    return true;
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    const enum pm_schedule how = *(const uint32_t *)context;
    const struct pm_ir_function *function = pm_variant_function(module);
    const struct pm_memory memory = pm_memory_of(module);
    bool ok = true, changed = false;
    for (struct pm_ir_block *b = function ? function->first_block : NULL; ok && b; b = b->next)
        ok = schedule_block(how, &memory, b, module->arena, &changed) ||
             pm_fail(error, PM_ERROR_MEMORY, "out of memory for a schedule");
    return pm_pass_result_of(ok, changed);
}

const struct pm_pass pm_pass_schedule = {"schedule", 0, PM_ANALYSIS_ALL, run};
