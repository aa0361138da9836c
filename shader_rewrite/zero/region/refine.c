/*
 * Region refinement (AZP 3.3.2), and beyond it where else a region may begin and end.
 *
 * It can begin in any block of its chain: the check is there, and what S does before it is done as
 * ever. It can end in any: S and R meet there.
 */
#include "shader_rewrite/zero/region/region.h"

static struct pm_memory_access plain_access(const struct pm_zero_round *round,
                                            const struct pm_ir_instr *instr)
{
    return pm_zero_is_earlier_check(instr) ? (struct pm_memory_access){0}
                                           : pm_memory_access_of(&round->memory, instr);
}

static void leave(struct pm_ir_instr *instr)
{
    instr->mark = 0;
}

/* Sends to the place before the check what S has unchanged and what needs nothing of the region. */
static void refine_start(struct pm_zero_round *round, struct pm_zero_region *region)
{
    struct pm_zero_part *part = &region->parts[0];
    struct pm_memory_access kept = {0};
    uint32_t count = 0;
    for (uint32_t i = 0; i < part->count; i++) {
        struct pm_ir_instr *instr = part->instrs[i];
        struct pm_memory_access access = plain_access(round, instr);
        bool keep =
            !pm_zero_is_as_in_copy(round, region, instr) || pm_memory_conflict(access, kept);
        for (uint32_t o = 0; !keep && o < instr->operand_count; o++) {
            const struct pm_ir_def *def = instr->operands[o].def;
            keep = def && def->instr && pm_zero_in_region(region, def->instr);
        }
        if (!keep) {
            pm_zero_let_stay(region, instr);
            continue;
        }
        kept.reads |= access.reads;
        kept.writes |= access.writes;
        part->instrs[count++] = instr;
    }
    part->count = count;
}

static bool is_used_inside(const struct pm_zero_region *region, const struct pm_ir_instr *instr)
{
    for (const struct pm_ir_operand *use = instr->result ? instr->result->first_use : NULL; use;
         use = use->next_use)
        if (pm_zero_in_region(region, use->user))
            return true;
    return false;
}

/* Sends behind the region what S has unchanged and the region does not need. */
static void refine_end(struct pm_zero_round *round, struct pm_zero_region *region)
{
    struct pm_zero_part *part = &region->parts[region->count - 1];
    struct pm_memory_access kept = {0};
    for (uint32_t i = part->count; i-- > 0;) {
        struct pm_ir_instr *instr = part->instrs[i];
        struct pm_memory_access access = plain_access(round, instr);
        if (instr->opcode != SpvOpPhi && pm_zero_is_as_in_copy(round, region, instr) &&
            !pm_memory_conflict(access, kept) && !is_used_inside(region, instr)) {
            leave(instr);
            continue;
        }
        kept.reads |= access.reads;
        kept.writes |= access.writes;
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < part->count; i++)
        if (pm_zero_in_region(region, part->instrs[i]))
            part->instrs[count++] = part->instrs[i];
    part->count = count;
}

static bool part_is_affected(const struct pm_zero_round *round, const struct pm_zero_region *region,
                             const struct pm_zero_part *part)
{
    if (!pm_cfg_reachable(round->cfg, part->block))
        return false;
    if (!part->reached)
        return true;
    if (part->whole && pm_zero_way_in_copy(round, region, part) != PM_NO_BLOCK)
        return true;
    for (uint32_t i = 0; i < part->count; i++)
        if (!pm_zero_is_as_in_copy(round, region, part->instrs[i]))
            return true;
    return false;
}

/* Ends the region in an earlier part of its chain. */
static void cut(struct pm_zero_round *round, struct pm_zero_region *region, uint32_t count)
{
    for (uint32_t p = count; p < region->count; p++) {
        struct pm_zero_part *part = &region->parts[p];
        for (uint32_t i = 0; i < part->count; i++)
            leave(part->instrs[i]);
        round->part_epoch[part->block] = 0;
        if (part->whole) {
            const struct pm_ir_block *block = round->cfg->blocks[part->block];
            leave(pm_ir_terminator(block));
            if (pm_ir_merge(block))
                leave(pm_ir_merge(block));
        }
    }
    region->count = count;
    struct pm_zero_part *last = &region->parts[count - 1];
    const struct pm_ir_block *block = round->cfg->blocks[last->block];
    last->whole = false;
    leave(pm_ir_terminator(block));
    if (pm_ir_merge(block))
        leave(pm_ir_merge(block));
}

bool pm_zero_region_refine(struct pm_zero_round *round, struct pm_zero_region *region)
{
    uint32_t last = region->count;
    while (last > 0 && !part_is_affected(round, region, &region->parts[last - 1]))
        last--;
    if (last == 0)
        return false;
    /* An affected branch is in the region with the construct it opens. */
    const struct pm_zero_part *end = &region->parts[last - 1];
    if (end->chain && end->whole && pm_zero_way_in_copy(round, region, end) != PM_NO_BLOCK)
        last++;
    while (!region->parts[last - 1].chain)
        last++;
    if (last < region->count)
        cut(round, region, last);
    refine_start(round, region);
    refine_end(round, region);
    return true;
}

/* ---- where else it may begin and end ---- */

static bool phis_are_affected(const struct pm_zero_round *round,
                              const struct pm_zero_region *region, const struct pm_zero_part *part)
{
    for (uint32_t i = 0; i < part->count && part->instrs[i]->opcode == SpvOpPhi; i++)
        if (!pm_zero_is_as_in_copy(round, region, part->instrs[i]))
            return true;
    return false;
}

/* As part_is_affected, but for its OpPhi: those stay outside of a region that begins in it. */
static bool rest_is_affected(const struct pm_zero_round *round, const struct pm_zero_region *region,
                             const struct pm_zero_part *part)
{
    struct pm_zero_part rest = *part;
    while (rest.count && rest.instrs[0]->opcode == SpvOpPhi) {
        rest.instrs++;
        rest.count--;
    }
    return part_is_affected(round, region, &rest);
}

/* Whether S differs from the chain's part p on, up to the next of the chain, *next. */
static bool stretch_is_affected(const struct pm_zero_round *round,
                                const struct pm_zero_region *region, uint32_t p, uint32_t *next)
{
    bool affected = rest_is_affected(round, region, &region->parts[p]);
    for (p++; p < region->count && !region->parts[p].chain; p++)
        affected = affected || part_is_affected(round, region, &region->parts[p]);
    *next = p;
    return affected || (p < region->count && phis_are_affected(round, region, &region->parts[p]));
}

/* At most `most` of the first `count` of round->order, evenly taken. */
static uint32_t take_evenly(const struct pm_zero_round *round, uint32_t count, uint32_t most,
                            uint32_t *places)
{
    uint32_t taken = count < most ? count : most;
    for (uint32_t i = 0; i < taken; i++)
        places[i] = round->order[(uint64_t)i * count / taken];
    return taken;
}

uint32_t pm_zero_region_starts(struct pm_zero_round *round, const struct pm_zero_region *region,
                               uint32_t most, uint32_t *starts)
{
    uint32_t count = 0;
    for (uint32_t p = 0, next; p < region->count; p = next)
        if (stretch_is_affected(round, region, p, &next) && p > 0)
            round->order[count++] = region->parts[p].block;
    return take_evenly(round, count, most, starts);
}

uint32_t pm_zero_region_ends(struct pm_zero_round *round, const struct pm_zero_region *region,
                             uint32_t most, uint32_t *ends)
{
    uint32_t count = 0;
    bool affected = false;
    for (uint32_t p = 0; p + 1 < region->count; p++) {
        affected = affected || part_is_affected(round, region, &region->parts[p]);
        if (!affected || !region->parts[p].chain)
            continue;
        round->order[count++] = region->parts[p].block;
        affected = false;
    }
    return take_evenly(round, count, most, ends);
}
