/*
 * Versioning of rare bodies: a selection around a body that hardly any subgroup enters is put
 * behind a vote of the subgroup. Then the shader has two versions of it, with the body and without,
 * and the branch between them is uniform, which a driver that runs both sides of divergent branches
 * does not flatten:
 *
 *     if (c) { body }     becomes     if (any(c)) { if (c) { body } }
 *
 * Helper lanes need not join the vote (HAZARDS 2), and so might miss the body, and with it what
 * keeps a loop behind from going on for ever, or an index in bounds. So in a fragment shader a lane
 * that would enter the body does so whatever the vote says: any(c) || c. Still nothing behind may
 * look at other lanes there, and the selection may be in no loop.
 */
#include "shader_rewrite/blocks/block_worth.h"

#include "shader_rewrite/analysis/analysis_lanes.h"
#include "shader_rewrite/analysis/analysis_uniform.h"
#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/quirks/leaving_values.h"
#include "shader_rewrite/quirks/quirks.h"

static const char pass_name[] = "optimize_version";

struct context {
    struct pm_blocks *blocks;
    const struct pm_cfg *cfg;
    struct pm_uniform uniform;
    struct pm_leaving_values leaving; /* where there are guards */
    bool guards;                      /* the driver may choose again behind a loop */
    const bool *lanes_read_behind;    /* by block */
};

/* The one way of a branch that is not the merge block; NULL: there are two. */
static struct pm_ir_block *body_of(const struct pm_ir_instr *branch, const struct pm_ir_def *merge)
{
    const struct pm_ir_def *yes = branch->operands[1].def, *no = branch->operands[2].def;
    if ((yes == merge) == (no == merge))
        return NULL;
    return pm_ir_block_of(yes == merge ? no : yes);
}

static const char *why_not(const struct context *c, const struct pm_ir_block *header,
                           const struct pm_ir_instr *merge)
{
    const struct pm_ir_instr *branch = pm_ir_terminator(header);
    if (branch->opcode != SpvOpBranchConditional)
        return "a switch";
    const struct pm_ir_block *body = body_of(branch, merge->operands[0].def);
    if (!body)
        return "it has two sides";
    if (pm_ir_merge(pm_ir_block_of(merge->operands[0].def)) &&
        pm_ir_merge(pm_ir_block_of(merge->operands[0].def))->opcode == SpvOpLoopMerge)
        return "a loop begins where it ends";
    if (!pm_blocks_is_cold(c->blocks, body, header))
        return "its body is not rare";
    if (pm_uniform_in(&c->uniform, branch->operands[0].def, header))
        return "its condition is uniform already";
    if (!c->blocks->info->subgroup_vote)
        return "the device has no vote";
    if (c->guards &&
        pm_leaving_values_chosen_by(&c->leaving, pm_loops(c->blocks->function), header))
        return "it chooses what is used behind a loop, which the driver does again";
    if (c->blocks->stage == PM_STAGE_COMPUTE)
        return NULL;
    if (pm_loops(c->blocks->function)->loop_of[header->index] != PM_NO_LOOP)
        return "in a loop of a fragment shader";
    return c->lanes_read_behind[header->index] ? "other lanes are looked at behind it" : NULL;
}

/* The pairs of an OpPhi that are not of the header move to one in the body's own merge block. */
static void move_phi(struct pm_ir_module *module, struct pm_ir_instr *phi,
                     struct pm_ir_block *header, struct pm_ir_block *inner,
                     struct pm_ir_block *inner_header)
{
    struct pm_ir_instr *moved = pm_ir_instr_create(module, SpvOpPhi, phi->type.def, 0);
    struct pm_ir_def *without = NULL;
    if (!moved)
        return;
    pm_ir_insert(&inner->body, inner, pm_ir_terminator(inner), moved);
    pm_ir_copy_decorations(module, phi->result, moved->result, true);
    for (uint32_t o = 0; o + 1 < phi->operand_count; o += 2) {
        struct pm_ir_block *from = pm_ir_block_of(phi->operands[o + 1].def);
        if (from == header)
            without = phi->operands[o].def;
        pm_ir_phi_add(module, moved, phi->operands[o].def, from == header ? inner_header : from);
    }
    pm_ir_operands_remove(phi, 0, phi->operand_count);
    pm_ir_phi_add(module, phi, without, header);
    pm_ir_phi_add(module, phi, moved->result, inner);
}

/* The body is come to from another block. */
static void rename_phis(struct pm_ir_block *body, const struct pm_ir_block *header,
                        const struct pm_ir_block *inner_header)
{
    for (struct pm_ir_instr *i = body->body.first; i && i->opcode == SpvOpPhi; i = i->next)
        for (uint32_t o = 1; o < i->operand_count; o += 2)
            if (i->operands[o].def == header->label->result)
                pm_ir_operand_set(&i->operands[o], inner_header->label->result);
}

/* Branches to the merge block, but for the header's, lead to the body's own. */
static void move_branches(struct pm_ir_def *merge, const struct pm_ir_block *header,
                          const struct pm_ir_block *inner_header, struct pm_ir_block *inner)
{
    for (struct pm_ir_operand *use = merge->first_use, *next; use; use = next) {
        next = use->next_use;
        const struct pm_ir_instr *user = use->user;
        if (!user->block || user->block == header || user->block == inner)
            continue;
        const bool leads = pm_ir_opcode_is_terminator(user->opcode);
        if (leads || (user->opcode == SpvOpSelectionMerge && user->block == inner_header))
            pm_ir_operand_set(use, inner->label->result);
    }
}

/* Whether the subgroup has to look at the body: any lane of it, or, where it has helpers, this one.
 * when: of the condition for which a lane enters. */
static struct pm_ir_def *build_vote(struct pm_ir_builder *b, struct pm_ir_def *condition, bool when,
                                    bool has_helpers)
{
    struct pm_ir_def *boolean = pm_ir_type_bool(b->module);
    struct pm_ir_def *scope = pm_ir_constant_uint(b->module, SpvScopeSubgroup);
    struct pm_ir_def *vote =
        pm_ir_build(b, when ? SpvOpGroupNonUniformAny : SpvOpGroupNonUniformAll, boolean,
                    PM_IR_ARGS(pm_ir_id(scope), pm_ir_id(condition)));
    return has_helpers ? pm_ir_build(b, when ? SpvOpLogicalOr : SpvOpLogicalAnd, boolean,
                                     PM_IR_ARGS(pm_ir_id(vote), pm_ir_id(condition)))
                       : vote;
}

static void version(struct pm_ir_module *module, struct pm_ir_block *header,
                    struct pm_ir_instr *merge, bool has_helpers)
{
    struct pm_ir_def *condition = pm_ir_terminator(header)->operands[0].def;
    struct pm_ir_block *end = pm_ir_block_of(merge->operands[0].def);
    struct pm_ir_block *body = body_of(pm_ir_terminator(header), merge->operands[0].def);
    const bool when = body->label->result == pm_ir_terminator(header)->operands[1].def;
    pm_ir_require_version(module, PM_SPIRV_1_3);
    pm_ir_require_capability(module, SpvCapabilityGroupNonUniform);
    pm_ir_require_capability(module, SpvCapabilityGroupNonUniformVote);
    /* The inner selection: a block with the old branch, behind the header. */
    struct pm_ir_block *inner_header = pm_ir_block_create(module, header);
    struct pm_ir_block *inner = pm_ir_block_create(module, end->prev);
    if (!inner_header || !inner)
        return;
    for (struct pm_ir_instr *i = merge, *next; i; i = next) {
        next = i->next;
        pm_ir_detach(i);
        pm_ir_insert(&inner_header->body, inner_header, NULL, i);
    }
    struct pm_ir_builder b = {module, header, NULL};
    struct pm_ir_def *vote = build_vote(&b, condition, when, has_helpers);
    pm_ir_build_instr(
        &b, SpvOpSelectionMerge, NULL,
        PM_IR_ARGS(pm_ir_id(end->label->result), pm_ir_word(SpvSelectionControlDontFlattenMask)));
    pm_ir_build_branch_conditional(&b, vote, when ? inner_header : end, when ? end : inner_header);
    b = (struct pm_ir_builder){module, inner, NULL};
    pm_ir_build_branch(&b, end);
    rename_phis(body, header, inner_header);
    move_branches(end->label->result, header, inner_header, inner);
    for (struct pm_ir_instr *i = end->body.first; i && i->opcode == SpvOpPhi; i = i->next)
        move_phi(module, i, header, inner, inner_header);
}

/* Without the vote and its branch. */
static double saved(const struct pm_blocks *blocks, const struct pm_ir_block *header,
                    const struct pm_ir_instr *merge)
{
    const struct pm_ir_block *body = body_of(pm_ir_terminator(header), merge->operands[0].def);
    return pm_blocks_skipped(blocks, body, header) -
           pm_blocks_entries(blocks, header) * blocks->costs->cycles[PM_COST_CHECK];
}

static bool find_facts(struct context *c, struct pm_ir_module *module)
{
    const struct pm_memory memory = pm_memory_of(module);
    c->lanes_read_behind = pm_other_lanes_read_behind(c->blocks->function, c->blocks->arena);
    c->guards = pm_quirks_of(c->blocks->info->driver) & PM_QUIRK_CHOOSES_AGAIN;
    if (c->guards &&
        !pm_leaving_values_compute(&c->leaving, module, c->blocks->function, c->blocks->arena))
        return false;
    return c->lanes_read_behind &&
           pm_uniform_compute(&c->uniform, PM_UNIFORM_SUBGROUP, module, &memory,
                              c->blocks->function, c->blocks->arena);
}

static enum pm_pass_result run(struct pm_ir_module *module, void *context, struct pm_error *error)
{
    struct pm_blocks *blocks = context;
    struct context c = {.blocks = blocks, .cfg = pm_cfg(blocks->function)};
    const uint32_t before = blocks->changes;
    if (!find_facts(&c, module)) {
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        return PM_PASS_FAILED;
    }
    for (uint32_t b = 0; b < c.cfg->count && !module->failed; b++) {
        struct pm_ir_block *header = c.cfg->blocks[b];
        struct pm_ir_instr *merge = pm_ir_merge(header);
        if (!merge || merge->opcode != SpvOpSelectionMerge || !pm_cfg_reachable(c.cfg, b))
            continue;
        const char *reason = why_not(&c, header, merge);
        if (!reason) {
            pm_blocks_saves(blocks, PM_BLOCK_VERSION, saved(blocks, header, merge));
            version(module, header, merge, blocks->stage != PM_STAGE_COMPUTE);
        }
        pm_blocks_decide(blocks, pass_name, header, 0, !reason, "its body behind a vote",
                         reason ? reason : "hardly any subgroup enters its body");
    }
    return pm_pass_result_of(true, blocks->changes != before);
}

const struct pm_pass pm_pass_optimize_version = {
    pass_name, PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_POSTDOMINATORS | PM_ANALYSIS_LOOPS, 0, run};
