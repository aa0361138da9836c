/*
 * How much of a shader is looked at for one candidate. A few instructions of thousands are zero, or
 * needed no more, because a value is: so a region is found in a window around it first, and in a
 * larger one as long as what is found of it could go on outside.
 *
 * Forward, what is known goes on where a value of which something is known has a user, or where S
 * never comes. Backward, what is dead goes on where all users of a value before the window are.
 * Where neither is so, S is outside of the window what R is, and refine.c would cut that off.
 */
#include "shader_rewrite/zero/region/hoist.h"
#include "shader_rewrite/zero/region/silent.h"

/* Instructions; the first window has most shaders' regions whole. */
enum { FIRST_WINDOW = 64, GROWTH = 4 };

/* Whether a region around the window could have an instruction that the window has not: it stands
 * in the construct around it all, at any depth. */
static bool may_be_behind(const struct pm_zero_round *round, const struct pm_zero_region *region,
                          const struct pm_ir_instr *user)
{
    if (!user->block || pm_zero_in_region(region, user) || pm_zero_stays(region, user) ||
        user->block->function != round->function)
        return false;
    const struct pm_structure *s = round->structure;
    uint32_t level = pm_zero_construct_around(round, region->parts[0].block);
    uint32_t c = s->innermost[user->block->index];
    while (c != level && c != PM_NO_CONSTRUCT)
        c = s->constructs[c].parent;
    return c == level;
}

static bool goes_on_behind(struct pm_zero_round *round, const struct pm_zero_region *region,
                           const struct pm_ir_def *def)
{
    for (const struct pm_ir_operand *use = def->first_use; use; use = use->next_use) {
        round->work++;
        if (may_be_behind(round, region, use->user))
            return true;
    }
    return false;
}

static bool is_open_behind(struct pm_zero_round *round, const struct pm_zero_region *region)
{
    for (uint32_t i = 0; i < region->candidate->value_count; i++)
        if (goes_on_behind(round, region, region->values[i]))
            return true;
    if (!region->parts[region->count - 1].executable)
        return true;
    for (uint32_t p = 0; p < region->count; p++)
        for (uint32_t i = 0; i < region->parts[p].count; i++) {
            const struct pm_ir_def *def = region->parts[p].instrs[i]->result;
            const struct pm_zero_state *state = def ? pm_zero_state_of(round, region, def) : NULL;
            if (state && (state->known || !region->parts[p].executable) &&
                goes_on_behind(round, region, def))
                return true;
        }
    return false;
}

/* Whether S takes the way to a block that this OpPhi's operand and the next name. */
static bool is_way_taken(const struct pm_zero_round *round, const struct pm_zero_region *region,
                         const struct pm_ir_operand *value)
{
    uint32_t from = pm_zero_part_of(round, region, pm_ir_block_of(value[1].def)->index);
    if (from == PM_ZERO_NO_PART)
        return true;
    const struct pm_zero_part *way = &region->parts[from];
    return way->executable &&
           (way->folded == PM_NO_BLOCK || way->folded == value->user->block->index);
}

/* Whether this operand of an instruction of the region is still asked for in S. */
static bool is_asked(const struct pm_zero_round *round, const struct pm_zero_region *region,
                     const struct pm_ir_operand *operand)
{
    const struct pm_ir_instr *user = operand->user;
    if (!user->result && user == pm_ir_terminator(user->block)) {
        uint32_t index = pm_zero_part_of(round, region, user->block->index);
        return index != PM_ZERO_NO_PART && region->parts[index].reached &&
               region->parts[index].branch_needed && region->parts[index].folded == PM_NO_BLOCK;
    }
    if (pm_zero_is_not_in_copy(round, region, user))
        return false;
    if (user->opcode == SpvOpPhi)
        return is_way_taken(round, region, operand);
    return pm_zero_is_as_in_copy(round, region, user) ||
           round->states[user->result->id].value.same == operand->def;
}

/* Whether S would do without a value from before the window. */
static bool is_dead_before(struct pm_zero_round *round, const struct pm_zero_region *region,
                           const struct pm_ir_def *def)
{
    const struct pm_ir_instr *instr = def->instr;
    const struct pm_ir_block *block = round->cfg->blocks[region->parts[0].block];
    if (!instr || instr->block != block || instr->opcode == SpvOpPhi ||
        instr->opcode == SpvOpVariable || instr->opcode == SpvOpLabel ||
        pm_zero_in_region(region, instr) || pm_zero_stays(region, instr) ||
        pm_memory_access_of(&round->memory, instr).writes)
        return false;
    for (const struct pm_ir_operand *use = def->first_use; use; use = use->next_use) {
        round->work++;
        if (use->user->block &&
            (!pm_zero_in_region(region, use->user) || is_asked(round, region, use)))
            return false;
    }
    return true;
}

static bool has_dead_operand(struct pm_zero_round *round, const struct pm_zero_region *region,
                             const struct pm_ir_instr *instr)
{
    if (instr->result && instr->opcode != SpvOpPhi && pm_zero_is_as_in_copy(round, region, instr))
        return false;
    for (uint32_t o = 0; o < instr->operand_count; o++) {
        const struct pm_ir_def *def = instr->operands[o].def;
        bool label = instr->opcode == SpvOpPhi && o % 2 == 1;
        if (def && !label && !is_asked(round, region, &instr->operands[o]) &&
            is_dead_before(round, region, def))
            return true;
    }
    return false;
}

static bool is_open_before(struct pm_zero_round *round, const struct pm_zero_region *region)
{
    for (uint32_t p = 0; p < region->count; p++) {
        const struct pm_zero_part *part = &region->parts[p];
        for (uint32_t i = 0; i < part->count; i++)
            if (has_dead_operand(round, region, part->instrs[i]))
                return true;
        if (part->whole &&
            has_dead_operand(round, region, pm_ir_terminator(round->cfg->blocks[part->block])))
            return true;
    }
    return false;
}

/* A pack's values may have users before the window, between them. */
static bool has_users_before(struct pm_zero_round *round, const struct pm_zero_region *region)
{
    for (uint32_t i = 0; i < region->candidate->value_count; i++)
        if (region->candidate->value_count > 1 && goes_on_behind(round, region, region->values[i]))
            return true;
    return false;
}

bool pm_zero_region_explore(struct pm_zero_round *round, const struct pm_zero_candidate *candidate,
                            struct pm_zero_extent extent, struct pm_zero_region *region)
{
    struct pm_zero_window window = {FIRST_WINDOW, FIRST_WINDOW};
    for (;;) {
        if (!pm_zero_region_find(round, candidate, extent, window, region))
            return false;
        pm_zero_propagate(round, region);
        region->changes = region->changes || pm_zero_has_silent(round, region);
        if (region->changes)
            pm_zero_find_dead(round, region);
        const bool behind = region->cut_behind && is_open_behind(round, region);
        const bool before =
            region->cut_before &&
            (has_users_before(round, region) || (region->changes && is_open_before(round, region)));
        if (!behind && !before)
            break;
        /* Both limit how much there is room for. */
        window.behind = behind ? window.behind * GROWTH : window.behind;
        window.before = before ? window.before * GROWTH : window.before;
    }
    if (!region->changes)
        region->reason = "it would change nothing";
    return region->changes;
}
