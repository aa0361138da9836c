/*
 * Forward over a region (AZP 3.3.2, "Constant propagation"), optimistically, as Wegman and Zadeck's
 * sparse conditional constants: a value is unset until a way that is taken gives it one, so that a
 * loop which only ever adds zeroes is seen through. Values from outside are unknown, but for
 * constants and the candidate.
 */
#include "shader_rewrite/analysis/analysis_casts.h"
#include "shader_rewrite/zero/region/region.h"

#include <math.h>
#include <string.h>

/* ---- what is known ---- */

bool pm_zero_is_candidate(const struct pm_zero_region *region, const struct pm_ir_def *def)
{
    for (uint32_t i = 0; i < region->candidate->value_count; i++)
        if (region->values[i] == def)
            return true;
    return false;
}

struct pm_zero_value pm_zero_value_in(const struct pm_zero_round *round,
                                      const struct pm_zero_region *region,
                                      const struct pm_ir_def *def)
{
    const struct pm_zero_state *state = pm_zero_state_of(round, region, def);
    bool constant = def->instr && pm_is_constant_cast(def->instr);
    if (state && !constant)
        return state->value;
    if (constant || !pm_zero_is_candidate(region, def))
        return pm_zero_value_global(def);
    const struct pm_zero_candidate *c = region->candidate;
    const struct pm_ir_instr *type = pm_ir_type_of(def->instr);
    struct pm_zero_value value = pm_zero_value_all(type, PM_ZERO_UNKNOWN);
    uint32_t zeroes = c->value_count > 1 ? value.components : c->components;
    for (uint32_t i = 0; i < value.components && i < zeroes; i++)
        value.c[i].kind = c->is_float && !c->plus ? PM_ZERO_ANY_SIGN : PM_ZERO_CONSTANT;
    return value;
}

/* What is known of a value from without; NULL: nothing. */
static const struct pm_zero_value *known_of(const struct pm_zero_region *region,
                                            const struct pm_ir_def *def)
{
    return region->known ? region->known[def->id] : NULL;
}

/* What a device that flushes denormals, or has neither NaN nor infinity, might compute otherwise
 * than its bits say. */
static void forget_unusual(const struct pm_ir_instr *type, struct pm_zero_value *value)
{
    const struct pm_ir_instr *scalar = pm_scalar_type(type);
    if (!scalar || scalar->opcode != SpvOpTypeFloat)
        return;
    const uint32_t width = pm_zero_width_of(scalar);
    for (uint32_t i = 0; i < value->components; i++) {
        double number;
        if (value->c[i].kind == PM_ZERO_CONSTANT && !pm_zero_fold_is_zero(value->c[i], width) &&
            !(width == 32 && pm_zero_fold_number(value->c[i], width, &number) &&
              isnormal((float)number)))
            value->c[i] = (struct pm_zero_scalar){PM_ZERO_UNKNOWN, 0};
    }
}

/* ---- propagating ---- */

enum { MOST_SWEEPS = 20 }; /* loops settle in two or three */

struct propagating {
    struct pm_zero_round *round;
    struct pm_zero_region *region;
    struct pm_zero_lookup lookup;
    bool changed;
};

static struct pm_zero_value look_up(const void *user, struct pm_ir_def *def)
{
    const struct propagating *p = user;
    return pm_zero_value_in(p->round, p->region, def);
}

/* Whether the way from one block of the region to another is taken. from_block: by its label. */
static bool is_taken(const struct propagating *p, const struct pm_ir_def *label,
                     const struct pm_zero_part *to)
{
    const struct pm_ir_block *block = pm_ir_block_of(label);
    uint32_t from = pm_zero_part_of(p->round, p->region, block->index);
    if (from == PM_ZERO_NO_PART)
        return true;
    const struct pm_zero_part *part = &p->region->parts[from];
    return part->executable && (part->folded == PM_NO_BLOCK || part->folded == to->block);
}

static struct pm_zero_value fold_phi(const struct propagating *p, const struct pm_ir_instr *phi,
                                     const struct pm_zero_part *part)
{
    struct pm_zero_value value = pm_zero_value_all(pm_ir_type_of(phi), PM_ZERO_UNSET);
    const struct pm_ir_instr *scalar = pm_scalar_type(pm_ir_type_of(phi));
    bool single = true;
    for (uint32_t o = 0; o + 1 < phi->operand_count; o += 2) {
        if (!is_taken(p, phi->operands[o + 1].def, part))
            continue;
        struct pm_ir_def *def = phi->operands[o].def;
        struct pm_zero_value way = pm_zero_value_in(p->round, p->region, def);
        if (way.c[0].kind == PM_ZERO_UNSET && pm_zero_state_of(p->round, p->region, def))
            continue;
        for (uint32_t i = 0; i < value.components; i++)
            value.c[i] = pm_zero_value_meet(value.c[i], way.c[i], scalar);
        struct pm_ir_def *from = pm_zero_value_name(&way, def);
        if (from == phi->result)
            continue;
        single = single && (!value.same || value.same == from);
        value.same = from;
    }
    if (!single)
        value.same = NULL;
    return value;
}

static bool values_equal(const struct pm_zero_value *a, const struct pm_zero_value *b)
{
    if (a->same != b->same || a->plus_zero != b->plus_zero || a->components != b->components)
        return false;
    for (uint32_t i = 0; i < a->components; i++)
        if (a->c[i].kind != b->c[i].kind || a->c[i].bits != b->c[i].bits)
            return false;
    return true;
}

/* The one block a constant branch leads to. Branches that leave or open a loop stay as they are,
 * where S is a copy. */
static uint32_t fold_branch(const struct propagating *p, const struct pm_zero_part *part)
{
    const struct pm_ir_block *block = p->round->cfg->blocks[part->block];
    const struct pm_ir_instr *end = pm_ir_terminator(block), *merge = pm_ir_merge(block);
    if (!p->region->known && (!merge || merge->opcode != SpvOpSelectionMerge))
        return PM_NO_BLOCK;
    if (end->opcode != SpvOpBranchConditional && end->opcode != SpvOpSwitch)
        return PM_NO_BLOCK;
    struct pm_zero_value value = pm_zero_value_in(p->round, p->region, end->operands[0].def);
    if (value.c[0].kind != PM_ZERO_CONSTANT)
        return PM_NO_BLOCK;
    if (end->opcode == SpvOpBranchConditional)
        return pm_ir_block_of(end->operands[value.c[0].bits ? 1 : 2].def)->index;
    for (uint32_t o = 2; o + 1 < end->operand_count; o += 2) {
        const struct pm_ir_operand *label = &end->operands[o];
        /* Narrow literals are sign-extended; only zero is told for sure, and it is what matters. */
        if (pm_ir_operand_literal(label) == value.c[0].bits)
            return pm_ir_block_of(end->operands[o + 1].def)->index;
    }
    bool sure =
        value.c[0].bits == 0 ||
        (p->region->known && pm_zero_width_of(pm_ir_type_of(end->operands[0].def->instr)) == 32);
    return sure ? pm_ir_block_of(end->operands[1].def)->index : PM_NO_BLOCK;
}

static bool is_reached(const struct propagating *p, uint32_t index)
{
    const struct pm_zero_part *part = &p->region->parts[index];
    const struct pm_graph *g = &p->round->cfg->flow;
    if (index == 0)
        return true;
    for (uint32_t i = g->predecessor_start[part->block]; i < g->predecessor_start[part->block + 1];
         i++)
        if (is_taken(p, p->round->cfg->blocks[g->predecessors[i]]->label->result, part))
            return true;
    return false;
}

static bool is_known(const struct pm_zero_value *value)
{
    for (uint32_t i = 0; i < value->components; i++)
        if (value->c[i].kind != PM_ZERO_UNKNOWN)
            return true;
    return value->same != NULL;
}

/* Whether an operand is the candidate or became known: what depends on constants alone was folded
 * when the module was made canonical. */
static bool may_fold(const struct propagating *p, const struct pm_ir_instr *instr)
{
    for (uint32_t o = 0; o < instr->operand_count; o++) {
        const struct pm_ir_def *def = instr->operands[o].def;
        if (!def)
            continue;
        const struct pm_zero_state *state = pm_zero_state_of(p->round, p->region, def);
        if (state ? state->known : pm_zero_is_candidate(p->region, def))
            return true;
    }
    return false;
}

static void sweep_part(struct propagating *p, struct pm_zero_part *part)
{
    p->round->work += part->count;
    for (uint32_t i = 0; i < part->count; i++) {
        const struct pm_ir_instr *instr = part->instrs[i];
        struct pm_zero_state *state =
            instr->result ? pm_zero_state_of(p->round, p->region, instr->result) : NULL;
        if (!state)
            continue;
        struct pm_zero_value value;
        const struct pm_zero_value *known = known_of(p->region, instr->result);
        if (known)
            value = *known;
        else if (instr->opcode == SpvOpPhi)
            value = fold_phi(p, instr, part);
        else if (may_fold(p, instr))
            value = pm_zero_fold(&p->lookup, instr);
        else if (state->known)
            value = pm_zero_value_all(pm_ir_type_of(instr), PM_ZERO_UNKNOWN);
        else
            continue;
        if (p->region->known)
            forget_unusual(pm_ir_type_of(instr), &value);
        if (values_equal(&value, &state->value))
            continue;
        p->changed = true;
        state->value = value;
        state->known = is_known(&value);
        p->region->changes |= state->known;
    }
    uint32_t folded = part->whole ? fold_branch(p, part) : PM_NO_BLOCK;
    p->changed |= folded != part->folded;
    part->folded = folded;
    p->region->changes |= folded != PM_NO_BLOCK;
}

static void reset(struct pm_zero_round *round, struct pm_zero_region *region,
                  enum pm_zero_kind kind)
{
    for (uint32_t i = 0; i < region->count; i++) {
        struct pm_zero_part *part = &region->parts[i];
        part->executable = kind == PM_ZERO_UNKNOWN && pm_cfg_reachable(round->cfg, part->block);
        part->folded = PM_NO_BLOCK;
        for (uint32_t k = 0; k < part->count; k++) {
            const struct pm_ir_instr *instr = part->instrs[k];
            if (!instr->result)
                continue;
            struct pm_zero_state *state = &round->states[instr->result->id];
            state->value = pm_zero_value_all(pm_ir_type_of(instr), kind);
            state->known = kind != PM_ZERO_UNKNOWN;
        }
    }
}

/* Without one, a single sweep in reverse post order is all. */
static bool has_loops(const struct pm_zero_round *round, const struct pm_zero_region *region)
{
    for (uint32_t i = 0; i < region->count; i++) {
        const struct pm_ir_instr *merge = pm_ir_merge(round->cfg->blocks[region->parts[i].block]);
        if (merge && merge->opcode == SpvOpLoopMerge)
            return true;
    }
    return false;
}

void pm_zero_propagate(struct pm_zero_round *round, struct pm_zero_region *region)
{
    struct propagating p = {.round = round, .region = region};
    p.lookup = (struct pm_zero_lookup){&round->permission, round->exact_ones, look_up, &p};
    reset(round, region, PM_ZERO_UNSET);
    bool loops = has_loops(round, region);
    for (int sweeps = 0; sweeps < MOST_SWEEPS; sweeps++) {
        p.changed = false;
        for (uint32_t i = 0; i < region->count; i++) {
            struct pm_zero_part *part = &region->parts[i];
            bool reached = is_reached(&p, i);
            p.changed |= reached != part->executable;
            part->executable = reached;
            if (reached)
                sweep_part(&p, part);
        }
        if (!p.changed || !loops)
            return;
    }
    /* It did not settle: nothing is known. */
    reset(round, region, PM_ZERO_UNKNOWN);
}
