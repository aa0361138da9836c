/*
 * Backward over a region (AZP 3.3.2, "Dead code elimination", equations 1 to 4): what S must still
 * compute. On SSA the equations come to marking what is needed, from what has effects and what is
 * used behind the region; an instruction whose result is constant generates no uses (equation 2).
 * The uses behind the region are the precomputed live-ins of its successors (equation 4).
 *
 * A branch is needed only where something inside its construct is, or what is chosen at its merge
 * block; a construct without either is skipped.
 */
#include "shader_rewrite/analysis/analysis_casts.h"
#include "shader_rewrite/zero/region/leaving.h"
#include "shader_rewrite/zero/region/silent.h"

bool pm_zero_is_constant_in_copy(const struct pm_zero_round *round,
                                 const struct pm_zero_region *region, const struct pm_ir_def *def)
{
    if (!pm_zero_state_of(round, region, def) && !pm_zero_is_candidate(region, def))
        return false;
    /* Its constant is for drivers to see no more than in the original. */
    if (pm_is_constant_cast(def->instr))
        return false;
    const struct pm_ir_instr *scalar = pm_scalar_type(pm_ir_type_of(def->instr));
    if (scalar && scalar->opcode != SpvOpTypeBool && !pm_number_types_has(&round->types, scalar))
        return false;
    struct pm_zero_value value = pm_zero_value_in(round, region, def);
    if (region->known && scalar && scalar->opcode == SpvOpTypeFloat &&
        (region->known[def->id] || !pm_zero_value_is_zero(&value)))
        return false;
    bool plus = true;
    const bool beside = pm_float_is_beside_zero(&round->permission, def);
    const uint32_t width = pm_zero_width_of(scalar);
    for (uint32_t i = 0; i < value.components; i++) {
        if (beside && pm_zero_fold_is_zero(value.c[i], width))
            return false;
        if (value.c[i].kind == PM_ZERO_ANY_SIGN)
            plus = plus && pm_float_may_be_plus(&round->permission, def);
        else if (value.c[i].kind != PM_ZERO_CONSTANT)
            return false;
    }
    return plus && value.components > 0;
}

bool pm_zero_is_not_in_copy(const struct pm_zero_round *round, const struct pm_zero_region *region,
                            const struct pm_ir_instr *instr)
{
    if (!instr->result) {
        uint32_t part = pm_zero_part_of(round, region, instr->block->index);
        return part == PM_ZERO_NO_PART || !region->parts[part].reached ||
               instr->opcode == SpvOpAssumeTrueKHR || /* a hint, for R */
               pm_zero_is_silent(round, region, instr);
    }
    const struct pm_zero_state *state = pm_zero_state_of(round, region, instr->result);
    return state && !state->needed;
}

bool pm_zero_is_as_in_copy(const struct pm_zero_round *round, const struct pm_zero_region *region,
                           const struct pm_ir_instr *instr)
{
    const struct pm_zero_state *state =
        instr->result ? pm_zero_state_of(round, region, instr->result) : NULL;
    return !pm_zero_is_not_in_copy(round, region, instr) && !(state && state->value.plus_zero);
}

struct marking {
    struct pm_zero_round *round;
    struct pm_zero_region *region;
    uint32_t count; /* of round->stack */
};

static void need_block(struct marking *m, uint32_t index);
static void need_construct(struct marking *m, uint32_t c);

static void need_value(struct marking *m, struct pm_ir_def *def)
{
    for (;;) {
        struct pm_zero_state *state = pm_zero_state_of(m->round, m->region, def);
        if (!state || state->needed || pm_zero_is_constant_in_copy(m->round, m->region, def))
            return;
        if (pm_zero_value_name(&state->value, def) == def) {
            state->needed = true;
            m->round->stack[m->count++] = def;
            return;
        }
        def = state->value.same;
    }
}

static void need_branch(struct marking *m, struct pm_zero_part *part)
{
    if (part->branch_needed || !part->whole)
        return;
    part->branch_needed = true;
    const struct pm_ir_instr *end = pm_ir_terminator(m->round->cfg->blocks[part->block]);
    bool asks = end->opcode == SpvOpBranchConditional || end->opcode == SpvOpSwitch;
    if (asks && part->folded == PM_NO_BLOCK)
        need_value(m, end->operands[0].def);
    /* Where it leaves a construct around its own, its own must not be skipped. */
    uint32_t c = m->round->structure->innermost[part->block];
    if (c != PM_NO_CONSTRUCT && m->round->structure->constructs[c].header == part->block)
        need_construct(m, c);
}

/* Whether a block is in a construct; of a loop, or in its other one, which shares no block with it.
 */
static bool is_inside(const struct marking *m, uint32_t construct, uint32_t block)
{
    const struct pm_structure *s = m->round->structure;
    const struct pm_construct *of = &s->constructs[construct];
    for (uint32_t c = s->innermost[block]; c != PM_NO_CONSTRUCT; c = s->constructs[c].parent)
        if (c == construct ||
            (of->continue_target != PM_NO_BLOCK && s->constructs[c].header == of->header &&
             s->constructs[c].continue_target != PM_NO_BLOCK))
            return true;
    return false;
}

/* The blocks that leave a construct for `to` decide with their branches how it goes on. */
static void need_leaving(struct marking *m, uint32_t construct, uint32_t to)
{
    const struct pm_graph *g = &m->round->cfg->flow;
    for (uint32_t i = g->predecessor_start[to]; i < g->predecessor_start[to + 1]; i++) {
        uint32_t from = g->predecessors[i];
        uint32_t part = pm_zero_part_of(m->round, m->region, from);
        if (part == PM_ZERO_NO_PART || !m->region->parts[part].executable ||
            !is_inside(m, construct, from))
            continue;
        need_branch(m, &m->region->parts[part]);
        need_block(m, part);
    }
}

static void need_construct(struct marking *m, uint32_t c)
{
    struct pm_zero_round *round = m->round;
    const struct pm_construct *construct = &round->structure->constructs[c];
    if (round->construct_epoch[c] == m->region->epoch)
        return;
    round->construct_epoch[c] = m->region->epoch;
    uint32_t header = pm_zero_part_of(round, m->region, construct->header);
    need_branch(m, &m->region->parts[header]);
    need_block(m, header);
    need_leaving(m, c, construct->merge);
    if (construct->continue_target == PM_NO_BLOCK)
        return;
    need_leaving(m, c, construct->continue_target);
    need_leaving(m, c, construct->header);
}

/* Something in the block is needed, so the constructs around it are, as far as the region has them.
 */
static void need_block(struct marking *m, uint32_t index)
{
    const struct pm_structure *s = m->round->structure;
    uint32_t block = m->region->parts[index].block;
    uint32_t c = s->innermost[block];
    /* A selection's header is not yet inside it; a loop's is. */
    if (c != PM_NO_CONSTRUCT && s->constructs[c].header == block &&
        (s->constructs[c].kind == PM_CONSTRUCT_SELECTION ||
         s->constructs[c].kind == PM_CONSTRUCT_SWITCH))
        c = s->constructs[c].parent;
    for (; c != PM_NO_CONSTRUCT; c = s->constructs[c].parent) {
        uint32_t header = pm_zero_part_of(m->round, m->region, s->constructs[c].header);
        if (header == PM_ZERO_NO_PART || !m->region->parts[header].whole)
            return;
        need_construct(m, c);
    }
}

static void need_ways(struct marking *m, const struct pm_ir_instr *phi, struct pm_zero_part *part)
{
    for (uint32_t o = 0; o + 1 < phi->operand_count; o += 2) {
        const struct pm_ir_block *block = pm_ir_block_of(phi->operands[o + 1].def);
        uint32_t from = pm_zero_part_of(m->round, m->region, block->index);
        if (from == PM_ZERO_NO_PART)
            continue;
        struct pm_zero_part *way = &m->region->parts[from];
        if (!way->executable || (way->folded != PM_NO_BLOCK && way->folded != part->block))
            continue;
        need_value(m, phi->operands[o].def);
        need_branch(m, way);
        need_block(m, from);
    }
}

static void need_all(struct marking *m)
{
    while (m->count) {
        const struct pm_ir_def *def = m->round->stack[--m->count];
        const struct pm_ir_instr *instr = def->instr;
        uint32_t index = m->round->states[def->id].part;
        need_block(m, index);
        if (instr->opcode == SpvOpPhi) {
            need_ways(m, instr, &m->region->parts[index]);
            continue;
        }
        if (m->round->states[def->id].value.plus_zero) {
            need_value(m, m->round->states[def->id].value.same);
            continue;
        }
        for (uint32_t o = 0; o < instr->operand_count; o++)
            if (instr->operands[o].def)
                need_value(m, instr->operands[o].def);
    }
}

static bool is_used_behind(const struct marking *m, const struct pm_ir_def *def)
{
    for (const struct pm_ir_operand *use = def->first_use; use; use = use->next_use)
        if (pm_zero_is_behind(m->round, m->region, use->user))
            return true;
    return false;
}

static bool ends_invocation(uint16_t opcode)
{
    return opcode == SpvOpReturn || opcode == SpvOpKill || opcode == SpvOpTerminateInvocation;
}

/* An instruction that has an effect beside its result. */
static void need_effect(struct marking *m, const struct pm_ir_instr *instr, uint32_t index)
{
    need_block(m, index);
    struct pm_zero_state *state =
        instr->result ? pm_zero_state_of(m->round, m->region, instr->result) : NULL;
    if (state && !state->needed) {
        state->needed = true;
        m->round->stack[m->count++] = instr->result;
    }
    for (uint32_t o = 0; !state && o < instr->operand_count; o++)
        if (instr->operands[o].def)
            need_value(m, instr->operands[o].def);
}

/* A construct that S never gets through has no block behind it to skip to. */
static bool never_merges(const struct marking *m, const struct pm_ir_instr *merge)
{
    uint32_t to =
        pm_zero_part_of(m->round, m->region, pm_ir_block_of(merge->operands[0].def)->index);
    return to != PM_ZERO_NO_PART && !m->region->parts[to].executable;
}

/* What is needed in any case: effects, values that are used behind the region, ends of the shader.
 */
static void need_roots(struct marking *m, uint32_t index)
{
    struct pm_zero_part *part = &m->region->parts[index];
    for (uint32_t i = 0; i < part->count; i++) {
        const struct pm_ir_instr *instr = part->instrs[i];
        if (pm_zero_region_access(m->round, instr).writes &&
            !pm_zero_is_silent(m->round, m->region, instr))
            need_effect(m, instr, index);
        else if (instr->result && is_used_behind(m, instr->result))
            need_value(m, instr->result);
    }
    const struct pm_ir_block *block = m->round->cfg->blocks[part->block];
    if (!part->whole)
        return;
    if (ends_invocation(pm_ir_terminator(block)->opcode))
        need_block(m, index);
    if (pm_ir_merge(block) && never_merges(m, pm_ir_merge(block)))
        need_construct(m, m->round->structure->innermost[part->block]);
}

uint32_t pm_zero_way_in_copy(const struct pm_zero_round *round, const struct pm_zero_region *region,
                             const struct pm_zero_part *part)
{
    const struct pm_ir_instr *merge = pm_ir_merge(round->cfg->blocks[part->block]);
    if (!part->whole || !merge)
        return part->whole && region->known ? part->folded : PM_NO_BLOCK;
    uint32_t c = round->structure->innermost[part->block];
    if (c != PM_NO_CONSTRUCT && round->structure->constructs[c].header != part->block)
        return PM_NO_BLOCK;
    /* A loop's header that is its own continue target is in the second of its two constructs. */
    if (c != PM_NO_CONSTRUCT && round->structure->constructs[c].kind == PM_CONSTRUCT_CONTINUE)
        return PM_NO_BLOCK;
    if (c != PM_NO_CONSTRUCT && round->construct_epoch[c] != region->epoch)
        return round->structure->constructs[c].merge;
    return part->folded;
}

/* Goes a way of S; plain: it is the only one of where it comes from. */
static void reach_part(struct marking *m, uint32_t block, bool plain)
{
    uint32_t index = pm_zero_part_of(m->round, m->region, block);
    if (index == PM_ZERO_NO_PART)
        return;
    struct pm_zero_part *part = &m->region->parts[index];
    part->joined = !part->reached && plain;
    if (part->reached)
        return;
    part->reached = true;
    m->round->order[m->count++] = index;
}

/* The blocks of S. */
static void reach(struct marking *m)
{
    struct pm_zero_round *round = m->round;
    m->count = 0;
    m->region->parts[0].reached = true;
    round->order[m->count++] = 0;
    for (uint32_t at = 0; at < m->count; at++) {
        const struct pm_zero_part *part = &m->region->parts[round->order[at]];
        const struct pm_graph *g = &round->cfg->flow;
        uint32_t next = pm_zero_way_in_copy(round, m->region, part);
        uint32_t first = g->successor_start[part->block], end = g->successor_start[part->block + 1];
        if (!part->whole)
            continue;
        if (next != PM_NO_BLOCK)
            reach_part(m, next, true);
        bool plain = end - first == 1 && !pm_ir_merge(round->cfg->blocks[part->block]);
        for (uint32_t s = first; next == PM_NO_BLOCK && s < end; s++)
            reach_part(m, g->successors[s], plain);
    }
    m->region->parts[0].joined = false;
}

void pm_zero_find_dead(struct pm_zero_round *round, struct pm_zero_region *region)
{
    struct marking m = {.round = round, .region = region};
    for (uint32_t i = 0; i < region->count; i++) {
        region->parts[i].branch_needed = region->parts[i].reached = false;
        region->parts[i].joined = false;
        for (uint32_t k = 0; k < region->parts[i].count; k++)
            if (region->parts[i].instrs[k]->result)
                round->states[region->parts[i].instrs[k]->result->id].needed = false;
    }
    for (uint32_t i = 0; i < region->count; i++)
        if (region->parts[i].executable)
            need_roots(&m, i);
    need_all(&m);
    reach(&m);
}
