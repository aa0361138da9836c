/*
 * Beyond region refinement (AZP 3.3.2), for the rounds that follow. What S has unchanged goes
 * before the check or behind the region, so that it is there once. But what is made there for a
 * value of the region alone could not be left out for that value's sake any more: S and R need it,
 * and it is in neither. So where a value in S will be looked at as a candidate of its own, what
 * only the region uses stays in it, and what only comes behind it goes there.
 */
#include "shader_rewrite/ir/ir_builder.h"
#include "shader_rewrite/zero/region/region.h"

/* What the others of the block do with memory. */
struct keeping {
    struct pm_zero_round *round;
    struct pm_zero_region *region;
    const bool *wanted;
    struct pm_memory_access stays, inside; /* behind the instruction that is looked at */
};

enum place { BEFORE, INSIDE, BEHIND };

static void join(struct pm_memory_access *all, struct pm_memory_access one)
{
    all->reads |= one.reads;
    all->writes |= one.writes;
    all->stops |= one.stops;
}

static bool is_wanted(const struct keeping *k, const struct pm_ir_def *def)
{
    return def && def->id < k->round->id_count && k->wanted[def->id];
}

static bool uses_wanted(const struct keeping *k, const struct pm_ir_instr *instr)
{
    for (uint32_t o = 0; o < instr->operand_count; o++)
        if (is_wanted(k, instr->operands[o].def))
            return true;
    return false;
}

/* Whether it was the region's before it was refined, and has a result. */
static bool was_inside(const struct keeping *k, const struct pm_ir_instr *instr)
{
    return instr->result && instr->result->id < k->round->id_count && instr->opcode != SpvOpPhi &&
           k->round->states[instr->result->id].epoch == k->region->epoch;
}

/* Whether S needs a value that will be looked at, or something from one. */
static bool wants(const struct keeping *k, const struct pm_ir_instr *instr)
{
    return was_inside(k, instr) && k->round->states[instr->result->id].needed &&
           (is_wanted(k, instr->result) || uses_wanted(k, instr));
}

static bool wants_any(const struct keeping *k, const struct pm_ir_block *first)
{
    for (const struct pm_ir_instr *i = first->body.first; i; i = i->next)
        if (wants(k, i))
            return true;
    for (uint32_t p = 1; p < k->region->count; p++)
        for (uint32_t i = 0; i < k->region->parts[p].count; i++)
            if (wants(k, k->region->parts[p].instrs[i]))
                return true;
    return false;
}

/* Where the users of an instruction before the check are, if all are at one place; else, or where
 * others in between are in its way, it stays. */
static enum place place_of(const struct keeping *k, const struct pm_ir_instr *instr)
{
    struct pm_memory_access access = pm_zero_region_access(k->round, instr);
    uint32_t inside = 0, behind = 0;
    if (!was_inside(k, instr) || is_wanted(k, instr->result) || access.writes || access.stops ||
        pm_memory_conflict(access, k->stays))
        return BEFORE;
    for (const struct pm_ir_operand *use = instr->result->first_use; use; use = use->next_use) {
        if (!use->user->block)
            continue;
        if (pm_zero_stays(k->region, use->user))
            return BEFORE;
        inside += pm_zero_in_region(k->region, use->user);
        behind += !pm_zero_in_region(k->region, use->user);
    }
    if (inside && !behind)
        return INSIDE;
    /* Of more than one block the end is in another. */
    return behind && !inside && k->region->count == 1 && !pm_memory_conflict(access, k->inside)
               ? BEHIND
               : BEFORE;
}

void pm_zero_region_keep(struct pm_zero_round *round, struct pm_zero_region *region,
                         const bool *wanted)
{
    struct keeping k = {.round = round, .region = region, .wanted = wanted};
    struct pm_zero_part *part = &region->parts[0];
    struct pm_ir_block *block = round->cfg->blocks[part->block];
    if (!region->first || !wants_any(&k, block))
        return;
    /* From the last to the first, each instruction is seen after its users. */
    for (struct pm_ir_instr *i = pm_ir_terminator(block); i;
         i = i == region->first ? NULL : i->prev) {
        struct pm_memory_access access = pm_zero_region_access(round, i);
        if (pm_zero_in_region(region, i)) {
            join(&k.inside, access);
            continue;
        }
        if (!pm_zero_stays(region, i))
            continue;
        switch (place_of(&k, i)) {
        case INSIDE:
            i->mark = region->epoch;
            join(&k.inside, access);
            break;
        case BEHIND:
            i->mark = 0;
            break;
        default:
            join(&k.stays, access);
        }
    }
    /* There is room: they were in it. */
    part->count = 0;
    for (struct pm_ir_instr *i = region->first; i && i != pm_ir_block_end(block); i = i->next)
        if (pm_zero_in_region(region, i))
            part->instrs[part->count++] = i;
}
