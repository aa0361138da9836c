#include "shader_rewrite/partition/switches.h"

#include "shader_rewrite/analysis/analysis_transposes.h"
#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/partition/dominance.h"
#include "shader_rewrite/partition/spilled_value.h"

struct lowering {
    struct pm_ir_module *module;
    const struct pm_cfg *cfg; /* as it was: its numbers of blocks stay */
    const struct pm_structure *structure;
    struct pm_ir_block **exit; /* by block that a case begins with: the one that leaves the case */
    struct pm_ir_def **chosen; /* by block: whether the selector is one of its literals */
};

/* A selection that is made of a case. */
struct selection {
    struct pm_ir_block *header, *inside, *exit, *merge;
    struct pm_ir_def *condition;
    bool when; /* the inside runs where the condition is this */
};

/* ---- which can be ---- */

/* The block that the case around a block begins with; PM_NO_BLOCK: it is in none. */
static uint32_t case_around(const struct lowering *l, const struct pm_construct *of, uint32_t block)
{
    const uint32_t *parent = l->structure->dominators->parent;
    while (block != PM_NO_BLOCK && parent[block] != of->header)
        block = parent[block];
    return block;
}

/* Finds the one block that leaves each case. */
static bool find_exits(struct lowering *l, uint32_t construct)
{
    const struct pm_construct *c = &l->structure->constructs[construct];
    const struct pm_graph *flow = &l->cfg->flow;
    for (uint32_t e = flow->predecessor_start[c->merge]; e < flow->predecessor_start[c->merge + 1];
         e++) {
        const uint32_t from = flow->predecessors[e];
        if (from == c->header)
            continue;
        struct pm_ir_block *block = l->cfg->blocks[from];
        const uint32_t first = case_around(l, c, from);
        if (first == PM_NO_BLOCK || l->exit[first] || l->structure->innermost[from] != construct ||
            pm_ir_terminator(block)->opcode != SpvOpBranch || !pm_cfg_reachable(l->cfg, from))
            return false;
        l->exit[first] = block;
    }
    return true;
}

/* Whether each case begins where only the switch leads to, and some literal has one of its own. */
static bool has_own_cases(const struct lowering *l, const struct pm_construct *c)
{
    const struct pm_ir_instr *end = pm_ir_terminator(l->cfg->blocks[c->header]);
    const uint32_t *start = l->cfg->flow.predecessor_start;
    bool chooses = false;
    for (uint32_t o = 1; o < end->operand_count; o += 2) {
        const struct pm_ir_block *to = pm_ir_block_of(end->operands[o].def);
        chooses |= end->operands[o].def != end->operands[1].def;
        if (to->index != c->merge &&
            (!l->exit[to->index] || start[to->index + 1] != start[to->index] + 1 ||
             to->body.first->opcode == SpvOpPhi))
            return false;
    }
    return chooses;
}

/* Whether nothing within leads elsewhere than within or behind, or ends the invocation. */
static bool stays_within(const struct lowering *l, uint32_t construct)
{
    const struct pm_graph *flow = &l->cfg->flow;
    const uint32_t merge = l->structure->constructs[construct].merge;
    for (uint32_t b = 0; b < l->cfg->count; b++) {
        if (!pm_cfg_reachable(l->cfg, b) || !pm_structure_contains(l->structure, construct, b))
            continue;
        if (pm_ir_ends_invocation(pm_ir_terminator(l->cfg->blocks[b])))
            return false;
        for (uint32_t e = flow->successor_start[b]; e < flow->successor_start[b + 1]; e++)
            if (flow->successors[e] != merge &&
                !pm_structure_contains(l->structure, construct, flow->successors[e]))
                return false;
    }
    return true;
}

/* Nothing stands for a pointer or image that no case before has given. */
static bool gives_handle(const struct pm_ir_block *merge)
{
    const struct pm_ir_instr *i = merge->body.first;
    while (i && i->opcode == SpvOpPhi && !pm_is_handle(pm_ir_type_of(i)))
        i = i->next;
    return i && i->opcode == SpvOpPhi;
}

static bool can_be_lowered(struct lowering *l, uint32_t construct)
{
    const struct pm_construct *c = &l->structure->constructs[construct];
    return find_exits(l, construct) && has_own_cases(l, c) && stays_within(l, construct) &&
           !gives_handle(l->cfg->blocks[c->merge]);
}

/* ---- the selections ---- */

static struct pm_ir_def *either(struct pm_ir_builder *b, struct pm_ir_def *x, struct pm_ir_def *y)
{
    return x ? pm_ir_build(b, SpvOpLogicalOr, pm_ir_type_bool(b->module),
                           PM_IR_ARGS(pm_ir_id(x), pm_ir_id(y)))
             : y;
}

/* Of each block but the default, which literals lead to: whether the selector is one of them. */
static void compare(struct lowering *l, struct pm_ir_builder *b, const struct pm_ir_instr *end)
{
    struct pm_ir_def *selector = end->operands[0].def;
    for (uint32_t o = 2; o + 1 < end->operand_count; o += 2) {
        if (end->operands[o + 1].def == end->operands[1].def)
            continue;
        struct pm_ir_def **chosen = &l->chosen[pm_ir_block_of(end->operands[o + 1].def)->index];
        struct pm_ir_def *literal = pm_ir_constant_scalar(l->module, pm_ir_type_of(selector->instr),
                                                          pm_ir_operand_literal(&end->operands[o]));
        struct pm_ir_def *equal = pm_ir_build(b, SpvOpIEqual, pm_ir_type_bool(l->module),
                                              PM_IR_ARGS(pm_ir_id(selector), pm_ir_id(literal)));
        *chosen = either(b, *chosen, equal);
    }
}

/* Lists a selection for each case, in the order of the literals. Where literals lead to what is
 * behind the switch, they only keep from the default. Returns how many. */
static uint32_t list_selections(struct lowering *l, struct pm_ir_builder *b,
                                const struct pm_ir_instr *end, const struct pm_ir_block *merge,
                                struct selection *out)
{
    struct pm_ir_block *otherwise = pm_ir_block_of(end->operands[1].def);
    struct pm_ir_def *any = NULL;
    uint32_t count = 0;
    for (uint32_t o = 2; o + 1 < end->operand_count; o += 2) {
        struct pm_ir_block *to = pm_ir_block_of(end->operands[o + 1].def);
        struct pm_ir_def *chosen = l->chosen[to->index];
        l->chosen[to->index] = NULL; /* once */
        if (chosen && otherwise != merge)
            any = either(b, any, chosen);
        if (chosen && to != merge)
            out[count++] = (struct selection){
                .inside = to, .exit = l->exit[to->index], .condition = chosen, .when = true};
    }
    if (otherwise != merge)
        out[count++] = (struct selection){
            .inside = otherwise, .exit = l->exit[otherwise->index], .condition = any};
    return count;
}

/* What an OpPhi behind the switch has, as one OpPhi behind each selection. */
static void chain_phi(struct lowering *l, struct pm_ir_instr *phi, const struct selection *s,
                      uint32_t count)
{
    struct pm_ir_def *before = pm_ir_phi_value(phi, s[0].header);
    if (!before)
        before = pm_ir_global(l->module, SpvOpUndef, phi->type.def, NULL, 0);
    for (uint32_t i = 0; i < count; i++) {
        struct pm_ir_def *value = pm_ir_phi_value(phi, s[i].exit);
        struct pm_ir_instr *here = phi;
        if (i + 1 < count) {
            here = pm_ir_instr_create(l->module, SpvOpPhi, phi->type.def, 0);
            if (!here)
                return;
            pm_ir_insert(&s[i].merge->body, s[i].merge, pm_ir_block_end(s[i].merge), here);
            pm_ir_copy_decorations(l->module, phi->result, here->result, false);
        } else {
            pm_ir_operands_remove(phi, 0, phi->operand_count);
        }
        pm_ir_phi_add(l->module, here, value, s[i].exit);
        pm_ir_phi_add(l->module, here, before, s[i].header);
        before = here->result;
    }
}

static void lower_one(struct lowering *l, const struct pm_construct *c, struct selection *s)
{
    struct pm_ir_block *header = l->cfg->blocks[c->header], *merge = l->cfg->blocks[c->merge];
    struct pm_ir_instr *old = pm_ir_merge(header), *end = pm_ir_terminator(header);
    struct pm_ir_builder b = {.module = l->module, .block = header, .before = old};
    compare(l, &b, end);
    const uint32_t count = list_selections(l, &b, end, merge, s);
    for (uint32_t i = 0; i < count && !l->module->failed; i++) {
        const bool last = i + 1 == count;
        s[i].header = b.block;
        s[i].merge = last ? merge : pm_ir_block_create(l->module, s[i].exit);
        pm_ir_build_selection_merge(&b, s[i].merge);
        pm_ir_build_branch_conditional(&b, s[i].condition, s[i].when ? s[i].inside : s[i].merge,
                                       s[i].when ? s[i].merge : s[i].inside);
        if (!last && s[i].merge)
            pm_ir_operand_set(&pm_ir_terminator(s[i].exit)->operands[0], s[i].merge->label->result);
        b = (struct pm_ir_builder){.module = l->module, .block = s[i].merge};
    }
    pm_ir_remove(old);
    pm_ir_remove(end);
    for (struct pm_ir_instr *i = merge->body.first;
         i && i->opcode == SpvOpPhi && !l->module->failed; i = i->next)
        chain_phi(l, i, s, count);
}

/* Of all that can be, before the first is: the facts are of the function as it is. */
static uint32_t keep_lowerable(struct lowering *l, const bool *large, uint32_t *found,
                               uint32_t *most)
{
    uint32_t count = 0;
    for (uint32_t c = 0; c < l->structure->count; c++) {
        if (!large[c] || !can_be_lowered(l, c))
            continue;
        const uint32_t header = l->structure->constructs[c].header;
        const uint32_t operands = pm_ir_terminator(l->cfg->blocks[header])->operand_count;
        *most = operands > *most ? operands : *most;
        found[count++] = c;
    }
    return count;
}

bool pm_switches_lower(struct pm_ir_function *function, const bool *large, struct pm_words *out,
                       uint32_t *count, struct pm_error *error)
{
    struct pm_arena *arena = function->module->arena;
    struct lowering l = {
        .module = function->module, .cfg = pm_cfg(function), .structure = pm_structure(function)};
    uint32_t most = 0;
    *count = 0;
    l.exit = pm_arena_zalloc(arena, l.cfg->count, sizeof(struct pm_ir_block *));
    l.chosen = pm_arena_zalloc(arena, l.cfg->count, sizeof(struct pm_ir_def *));
    uint32_t *found = pm_arena_zalloc(arena, l.structure->count + (size_t)1, sizeof(*found));
    if (!l.exit || !l.chosen || !found)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    const uint32_t lowerable = keep_lowerable(&l, large, found, &most);
    struct selection *selections = pm_arena_zalloc(arena, most + (size_t)1, sizeof(*selections));
    if (!selections)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (lowerable == 0)
        return true;
    for (uint32_t i = 0; i < lowerable; i++)
        lower_one(&l, &l.structure->constructs[found[i]], selections);
    if (l.module->failed) /* blocks may lack their ends */
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    pm_analysis_preserve(function, 0);
    if (!pm_dominance_order(function, error) || !pm_transposes_keep(l.module, error) ||
        !pm_ir_emit(l.module, out, error))
        return false;
    *count = lowerable;
    return true;
}
