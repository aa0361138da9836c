#include "shader_rewrite/zero/region/hoist.h"

#include "shader_rewrite/analysis/analysis_lanes.h"
#include "shader_rewrite/analysis/analysis_motion.h"
#include "shader_rewrite/ir/ir_builder.h"

bool pm_zero_is_earlier_check(const struct pm_ir_instr *instr)
{
    return instr->place == UINT32_MAX && (instr->opcode == SpvOpGroupNonUniformAll ||
                                          instr->opcode == SpvOpGroupNonUniformQuadSwap);
}

struct pm_memory_access pm_zero_region_access(const struct pm_zero_round *round,
                                              const struct pm_ir_instr *instr)
{
    if (pm_zero_is_earlier_check(instr))
        return (struct pm_memory_access){0};
    struct pm_memory_access access = pm_memory_access_of(&round->memory, instr);
    if (round->stage == PM_STAGE_FRAGMENT && !round->subgroup_quad && pm_reads_other_lanes(instr))
        access.stops = true;
    return access;
}

bool pm_zero_hoist_find(const struct pm_zero_round *round, struct pm_zero_region *region,
                        const struct pm_ir_block **complete)
{
    const struct pm_zero_candidate *c = region->candidate;
    const struct pm_dominators *d = pm_dominators(round->function);
    const struct pm_ir_block *block = NULL;
    for (uint32_t i = 0; i < c->value_count; i++) {
        const struct pm_ir_instr *instr = pm_ir_find(round->module, c->values[i]);
        if (!instr || !instr->block || instr->block->function != round->function ||
            !pm_cfg_reachable(round->cfg, instr->block->index))
            return false;
        region->values[i] = instr->result;
        if (!block || pm_dominates(d, block->index, instr->block->index))
            block = instr->block;
        else if (!pm_dominates(d, instr->block->index, block->index))
            return false;
    }
    *complete = block;
    return block != NULL;
}

/* ---- within a block ---- */

struct pm_ir_instr *pm_zero_hoist_last(const struct pm_zero_round *round,
                                       const struct pm_zero_region *region,
                                       const struct pm_ir_block *block)
{
    struct pm_ir_instr *last = NULL;
    for (uint32_t i = 0; i < region->candidate->value_count; i++) {
        struct pm_ir_instr *instr = region->values[i]->instr;
        if (instr->block == block &&
            (!last || round->positions[instr->result->id] > round->positions[last->result->id]))
            last = instr;
    }
    return last;
}

static void mark_operands(const struct pm_zero_region *region, const struct pm_ir_instr *instr,
                          const struct pm_ir_block *block)
{
    for (uint32_t o = 0; o < instr->operand_count; o++) {
        struct pm_ir_def *def = instr->operands[o].def;
        if (def && def->instr && def->instr->block == block)
            pm_zero_let_stay(region, def->instr);
    }
}

/* Marks what must stay before the check: what the marked need, what must come before that, and
 * everything that no region may have. From the last to the first, each instruction is seen after
 * its users. */
static void mark_slice(const struct pm_zero_round *round, const struct pm_zero_region *region,
                       struct pm_ir_block *block)
{
    struct pm_memory_access kept = {0};
    struct pm_ir_instr *first = region->first, *last = NULL;
    if (region->hoisted_count) {
        for (struct pm_ir_instr *i = first; i; i = i->next)
            if (pm_zero_stays(region, i))
                last = i;
    } else {
        last = pm_zero_hoist_last(round, region, block);
    }
    if (last && last->opcode == SpvOpPhi)
        return;
    for (struct pm_ir_instr *i = last; i; i = i == first ? NULL : i->prev) {
        struct pm_memory_access access = pm_zero_region_access(round, i);
        bool memory = access.reads || access.writes;
        if (!pm_zero_stays(region, i) && !access.stops &&
            !(memory && pm_memory_conflict(access, kept)))
            continue;
        pm_zero_let_stay(region, i);
        kept.reads |= access.reads;
        kept.writes |= access.writes;
        mark_operands(region, i, block);
    }
}

/* ---- across blocks ---- */

uint32_t pm_zero_hoist_above(const struct pm_zero_round *round, uint32_t block)
{
    uint32_t above = pm_dominators(round->function)->parent[block];
    if (above == PM_NO_BLOCK ||
        pm_zero_construct_around(round, above) != pm_zero_construct_around(round, block))
        return PM_NO_BLOCK;
    const struct pm_ir_block *from = round->cfg->blocks[above], *to = round->cfg->blocks[block];
    const struct pm_ir_instr *merge = pm_ir_merge(from), *own = pm_ir_merge(to);
    const struct pm_ir_instr *end = pm_ir_terminator(from);
    /* A loop's header runs again. */
    if (own && own->opcode == SpvOpLoopMerge)
        return PM_NO_BLOCK;
    if (merge)
        return merge->opcode == SpvOpSelectionMerge && merge->operands[0].def == to->label->result
                   ? above
                   : PM_NO_BLOCK;
    return end->opcode == SpvOpBranch ? above : PM_NO_BLOCK;
}

/* Puts the marked instructions of a block before those that are listed already. false: one of them
 * must stay, or there are too many. */
static bool list_marked(struct pm_zero_round *round, struct pm_zero_region *region,
                        const struct pm_ir_block *block)
{
    uint32_t count = 0;
    for (struct pm_ir_instr *i = block->body.first; i; i = i->next)
        if (pm_zero_stays(region, i)) {
            if (!pm_motion_may_be_earlier(&round->memory, &round->permission, i) ||
                region->hoisted_count + count == PM_ZERO_MOST_HOISTED)
                return false;
            count++;
        }
    for (uint32_t k = region->hoisted_count; k-- > 0;)
        round->hoisted[k + count] = round->hoisted[k];
    count = 0;
    for (struct pm_ir_instr *i = block->body.first; i; i = i->next)
        if (pm_zero_stays(region, i)) {
            round->hoisted[count++] = i;
            region->hoisted_count++;
        }
    return true;
}

/* What the listed instructions need of a block. */
static void mark_needed(const struct pm_zero_round *round, const struct pm_zero_region *region,
                        const struct pm_ir_block *block)
{
    for (uint32_t k = 0; k < region->hoisted_count; k++)
        mark_operands(region, round->hoisted[k], block);
}

/* Takes a block's part of the slice along: what those taken before need of it, too. false: it must
 * stay, or needs something from in between. */
static bool take_along(struct pm_zero_round *round, struct pm_zero_region *region,
                       struct pm_ir_block *block, uint32_t above)
{
    const struct pm_dominators *d = pm_dominators(round->function);
    mark_needed(round, region, block);
    for (struct pm_ir_instr *i = pm_ir_terminator(block); i; i = i->prev) {
        if (!pm_zero_stays(region, i))
            continue;
        for (uint32_t o = 0; o < i->operand_count; o++) {
            struct pm_ir_def *def = i->operands[o].def;
            struct pm_ir_block *from = def && def->instr ? def->instr->block : NULL;
            if (from == block)
                pm_zero_let_stay(region, def->instr);
            else if (from && !pm_dominates(d, from->index, above))
                return false;
        }
    }
    return list_marked(round, region, block);
}

bool pm_zero_hoist(struct pm_zero_round *round, struct pm_zero_region *region,
                   struct pm_ir_block *block)
{
    const struct pm_dominators *d = pm_dominators(round->function);
    const struct pm_zero_candidate *c = region->candidate;
    struct pm_ir_block *lowest = NULL;
    for (uint32_t i = 0; i < c->value_count; i++) {
        struct pm_ir_instr *instr = region->values[i]->instr;
        if (instr->block != block && pm_dominates(d, instr->block->index, block->index))
            continue;
        pm_zero_let_stay(region, instr);
        if (!lowest || pm_dominates(d, lowest->index, instr->block->index))
            lowest = instr->block;
    }
    for (struct pm_ir_block *at = lowest; at && at != block;) {
        uint32_t above = pm_zero_hoist_above(round, at->index);
        if (above == PM_NO_BLOCK || !take_along(round, region, at, above))
            return false;
        at = round->cfg->blocks[above];
    }
    mark_needed(round, region, block);
    mark_slice(round, region, block);
    return true;
}
