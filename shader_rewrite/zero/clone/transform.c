#include "shader_rewrite/zero/clone/transform.h"

#include "shader_rewrite/ir/block_open.h"
#include "shader_rewrite/zero/clone/clone.h"
#include "shader_rewrite/zero/region/leaving.h"

/* ---- parting the blocks ---- */

static void move_before(struct pm_ir_block *block, struct pm_ir_instr *end,
                        struct pm_ir_instr *instr)
{
    pm_ir_detach(instr);
    pm_ir_insert(&block->body, block, end, instr);
}

/* Puts behind the others what is neither of the region nor stays before the check; returns the
 * first of it, or the block's end. */
static struct pm_ir_instr *move_behind(struct pm_ir_block *block,
                                       const struct pm_zero_region *region,
                                       struct pm_ir_instr *first)
{
    struct pm_ir_instr *end = pm_ir_block_end(block), *behind = end, *next;
    for (struct pm_ir_instr *i = first; i != behind && i != end; i = next) {
        next = i->next;
        if (pm_zero_in_region(region, i) || pm_zero_stays(region, i))
            continue;
        move_before(block, end, i);
        if (behind == end)
            behind = i;
    }
    return behind;
}

/* The check's block: what stays, the region's part, what comes behind it. Returns the first of
 * the region's part, or of what follows it. */
static struct pm_ir_instr *order_first(struct pm_ir_block *block,
                                       const struct pm_zero_region *region)
{
    const struct pm_zero_part *part = &region->parts[0];
    struct pm_ir_instr *behind = move_behind(block, region, region->first);
    for (uint32_t i = 0; i < part->count; i++)
        move_before(block, behind, part->instrs[i]);
    return part->count ? part->instrs[0] : behind;
}

/* A loop's header keeps its OpPhi and its OpLoopMerge: the rest becomes a block of its own. */
static struct pm_ir_block *open_header(struct pm_ir_module *module, struct pm_ir_block *block)
{
    const struct pm_ir_instr *merge = pm_ir_merge(block);
    if (!merge || merge->opcode != SpvOpLoopMerge)
        return block;
    struct pm_ir_builder b = {.module = module};
    struct pm_ir_block *rest = pm_block_open(&b, block);
    pm_ir_build_branch(&b, rest);
    return rest;
}

/* ---- behind the region ---- */

struct joining {
    struct pm_zero_round *round;
    struct pm_zero_region *region;
    struct pm_ir_block *r_end, *s_end; /* that lead to the merge block; s_end NULL: S does not */
    struct pm_ir_builder b;            /* at the merge block's start */
};

static struct pm_ir_def *join_value(struct joining *j, struct pm_ir_def *def);

static struct pm_ir_def *build_phi(struct joining *j, struct pm_ir_def *def)
{
    struct pm_ir_module *module = j->round->module;
    struct pm_ir_builder b = {module, j->b.block, j->b.block->body.first};
    struct pm_ir_instr *phi = pm_ir_build_instr(&b, SpvOpPhi, def->instr->type.def, NULL, 0);
    if (!phi)
        return NULL;
    phi->mark = j->region->epoch;
    pm_ir_phi_add(module, phi, def, j->r_end);
    if (j->s_end)
        pm_ir_phi_add(module, phi, pm_zero_in_copy(j->round, j->region, def), j->s_end);
    pm_ir_copy_decorations(module, def, phi->result, true);
    return phi->result;
}

static struct pm_ir_def *remake(struct joining *j, struct pm_ir_def *def)
{
    const struct pm_ir_instr *instr = def->instr;
    struct pm_ir_module *module = j->round->module;
    struct pm_ir_instr *copy = pm_ir_instr_like(module, instr, instr->type.def);
    for (uint32_t o = 0; copy && o < instr->operand_count; o++) {
        const struct pm_ir_operand *from = &instr->operands[o];
        struct pm_ir_def *with = from->def ? join_value(j, from->def) : NULL;
        if (with)
            pm_ir_operand_set(&copy->operands[o], with);
        else if (!from->def)
            pm_ir_operand_copy_literal(&copy->operands[o], from);
        else
            module->failed = true;
    }
    if (!copy)
        return NULL;
    copy->mark = j->region->epoch;
    pm_ir_insert(&j->b.block->body, j->b.block, j->b.before, copy);
    pm_ir_copy_decorations(module, def, copy->result, false);
    return copy->result;
}

/* What stands behind the region for a value: itself, an OpPhi, or it made once more. */
static struct pm_ir_def *join_value(struct joining *j, struct pm_ir_def *def)
{
    struct pm_zero_state *state = pm_zero_state_of(j->round, j->region, def);
    if (!state)
        return def;
    if (!state->behind)
        state->behind = pm_zero_may_be_phi(j->round, pm_ir_type_of(def->instr)) ? build_phi(j, def)
                                                                                : remake(j, def);
    return state->behind;
}

static void join_values(struct joining *j)
{
    for (uint32_t p = 0; p < j->region->count; p++) {
        const struct pm_zero_part *part = &j->region->parts[p];
        for (uint32_t i = 0; i < part->count; i++) {
            struct pm_ir_def *def = part->instrs[i]->result;
            struct pm_ir_operand *next;
            for (struct pm_ir_operand *use = def ? def->first_use : NULL; use; use = next) {
                next = use->next_use;
                if (!pm_zero_is_behind(j->round, j->region, use->user))
                    continue;
                struct pm_ir_def *with = join_value(j, def);
                if (!with)
                    return;
                /* Making it may have changed what comes next in the list. */
                next = use->next_use;
                pm_ir_operand_set(use, with);
            }
        }
    }
}

bool pm_zero_transform(struct pm_zero_round *round, struct pm_zero_region *region,
                       const struct pm_candidate_check *check, struct pm_zero_transformed *out)
{
    struct pm_ir_module *module = round->module;
    struct pm_zero_part *last = &region->parts[region->count - 1];
    struct pm_ir_block *block = round->cfg->blocks[region->parts[0].block];
    struct pm_ir_block *end = round->cfg->blocks[last->block];
    for (uint32_t i = 0; i < region->hoisted_count; i++)
        move_before(block, pm_ir_block_end(block), round->hoisted[i]);
    if (!pm_zero_clone(round, region, block))
        return false;
    struct pm_ir_block *first_copy = region->parts[0].copy;

    struct pm_ir_block *opened = open_header(module, block);
    if (!opened)
        return false;
    struct pm_ir_instr *first = order_first(opened, region);
    struct pm_ir_block *r = pm_ir_block_split(module, opened, first);
    struct pm_ir_block *r_end = region->count == 1 ? r : end;
    if (!r)
        return false;
    struct pm_ir_instr *behind = move_behind(r_end, region, r_end->body.first);
    struct pm_ir_block *merge = pm_ir_block_split(module, r_end, behind);
    if (!merge)
        return false;

    struct pm_ir_builder b = {module, r_end, NULL};
    pm_ir_build_branch(&b, merge);
    b.block = last->reached ? last->copy : NULL;
    if (b.block)
        pm_ir_build_branch(&b, merge);
    b.block = opened;
    struct pm_zero_candidate candidate = *region->candidate;
    candidate.quad = region->quad;
    struct pm_ir_def *zero =
        region->uniform ? pm_candidate_check_build_uniform(check, &b, &candidate, region->values)
                        : pm_candidate_check_build(check, &b, &candidate, region->values);
    pm_ir_build_selection_merge(&b, merge);
    pm_ir_build_branch_conditional(&b, zero, first_copy, r);

    struct joining j = {.round = round,
                        .region = region,
                        .r_end = r_end,
                        .s_end = last->reached ? last->copy : NULL,
                        .b = {module, merge, merge->body.first}};
    join_values(&j);
    *out = (struct pm_zero_transformed){opened, r, merge};
    return !module->failed;
}
