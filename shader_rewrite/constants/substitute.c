#include "shader_rewrite/constants/substitute.h"

#include "shader_rewrite/analysis/analysis_exact.h"
#include "shader_rewrite/constants/constant_load.h"
#include "shader_rewrite/quirks/hidden_constants.h"
#include "shader_rewrite/zero/clone/build_constant.h"

/* Instructions that are looked at for the risk of loops; of those that are left then, which nest
 * deep or are many, it is not told how often they turn. */
static const uint64_t most_work = 5000000;

struct substituting {
    struct pm_zero_round *round;
    struct pm_zero_region *region;
    const struct pm_loops *loops;
    const struct pm_constant_known_word *known; /* one of them */
    struct pm_hidden_constants hidden;          /* zero NULL: nothing was yet */
    struct pm_ir_instr *start; /* of the function; once something is hidden, behind hidden.zero */
    bool *risky;               /* by loop: its number of turns stays hidden */
    bool changed;
};

static bool is_float(const struct pm_ir_instr *type)
{
    const struct pm_ir_instr *scalar = pm_scalar_type(type);
    return scalar && scalar->opcode == SpvOpTypeFloat;
}

/* ---- loops that must not be told how often they turn ---- */

/* Which of its operands are marked, constants aside. */
static void look_at_operands(const struct pm_ir_instr *instr, uint32_t mark, bool *any, bool *all)
{
    *any = false;
    *all = true;
    for (uint32_t o = 0; o < instr->operand_count; o++) {
        const struct pm_ir_instr *operand = pm_ir_operand_instr(instr, o);
        if (!operand || operand->opcode == SpvOpExtInstImport ||
            pm_ir_opcode_is(operand->opcode, PM_IR_OP_CONSTANT))
            continue;
        *any = *any || operand->mark == mark;
        *all = *all && operand->mark == mark;
    }
}

/* Whether a compiler may compute this otherwise where it knows some of the operands, or all: where
 * one is zero it may shorten even a sum or a product (quirks/hidden_constants.h). */
static bool is_risky(const struct substituting *s, const struct pm_ir_instr *instr, bool all)
{
    return is_float(pm_ir_type_of(instr)) &&
           (!pm_exact_is(instr->opcode) ||
            (!all && pm_ir_opcode_is_core(instr->opcode, PM_IR_OP_ARITHMETIC) &&
             !pm_float_permits(&s->round->permission, instr)));
}

/* Marks what is a constant in each turn of a loop once the turns are known; whether that is in
 * inexact arithmetic. The marks are the region's own afterwards. */
static bool find_risk(const struct substituting *s, uint32_t loop)
{
    const struct pm_cfg *cfg = s->round->cfg;
    const uint32_t turns = UINT32_MAX;
    bool risk = false;
    for (uint32_t n = 0; n < cfg->order_count; n++) {
        const uint32_t b = cfg->order[n];
        if (!pm_loop_is_around(s->loops, loop, s->loops->loop_of[b]))
            continue;
        s->round->work++;
        for (struct pm_ir_instr *i = cfg->blocks[b]->body.first; i; i = i->next) {
            s->round->work++;
            bool any = true, all = true;
            const bool counts = i->opcode == SpvOpPhi && b == s->loops->loops[loop].header;
            if (!counts && pm_exact_computes(i))
                look_at_operands(i, turns, &any, &all);
            else if (!counts)
                continue;
            risk = risk || (!counts && any && is_risky(s, i, all));
            if (any && all)
                i->mark = turns;
        }
    }
    for (uint32_t n = 0; n < cfg->order_count; n++) {
        const uint32_t b = cfg->order[n];
        s->round->work++;
        if (!pm_loop_is_around(s->loops, loop, s->loops->loop_of[b]))
            continue;
        for (struct pm_ir_instr *i = cfg->blocks[b]->body.first; i; i = i->next)
            if (i->mark == turns)
                i->mark = s->region->epoch;
    }
    return risk;
}

/* ---- what is hidden ---- */

/* Readies what constants are hidden with: 0, as the word is what it is known to be. */
static bool ready_to_hide(struct substituting *s)
{
    struct pm_ir_module *module = s->round->module;
    struct pm_ir_block *entry = s->round->function->first_block;
    if (s->hidden.zero)
        return true;
    s->start = pm_ir_block_start(entry);
    struct pm_ir_builder b = {module, entry, s->start};
    struct pm_ir_def *bits = pm_constant_load(&b, s->known->word);
    s->hidden = (struct pm_hidden_constants){.module = module};
    s->hidden.zero = pm_ir_build(
        &b, SpvOpBitwiseXor, pm_ir_type_int(module, 32, false),
        PM_IR_ARGS(pm_ir_id(bits), pm_ir_id(pm_ir_constant_uint(module, s->known->bits))));
    return s->hidden.zero != NULL;
}

/* Makes a use name a constant, where the compiler may see it, or else one that it cannot see. */
static void use_constant(struct substituting *s, struct pm_ir_operand *use,
                         struct pm_ir_def *constant, bool seen)
{
    struct pm_ir_instr *user = use->user;
    if (!seen && ready_to_hide(s))
        constant =
            pm_hide_constant(&s->hidden, user->opcode == SpvOpPhi ? s->start : user, constant);
    if (!constant)
        return;
    pm_ir_operand_set(use, constant);
    s->changed = true;
}

/* Hides what a compiler would find out in the simplified module. */
static void hide_found(struct substituting *s, const struct pm_constant_found *found)
{
    for (uint32_t f = 0; f < found->count; f++) {
        const struct pm_constant_use *use = &found->uses[f];
        struct pm_ir_instr *user = pm_ir_find(s->round->module, use->user);
        const bool there = user && user->block && use->operand < user->operand_count;
        struct pm_ir_def *value = there ? user->operands[use->operand].def : NULL;
        if (!value || !pm_can_be_hidden(value->instr) || !ready_to_hide(s))
            continue;
        struct pm_ir_instr *before = user;
        if (user->opcode == SpvOpPhi)
            before = pm_ir_block_end(pm_ir_block_of(user->operands[use->operand + 1].def));
        pm_ir_operand_set(&user->operands[use->operand],
                          pm_hide_constant(&s->hidden, before, value));
    }
}

/* ---- uses ---- */

/* Whether it makes a float of an integer. */
static bool makes_float(const struct pm_ir_instr *user)
{
    return user->result && is_float(pm_ir_type_of(user)) &&
           (user->opcode == SpvOpExtInst ||
            pm_ir_opcode_is_core(user->opcode, PM_IR_OP_CONVERSION));
}

/* Whether a compiler could count a loop's turns by seeing the constant here. */
static bool tells_turns(const struct substituting *s, const struct pm_ir_instr *user)
{
    const uint32_t block = user->block->index;
    const bool compares = pm_ir_opcode_is_core(user->opcode, PM_IR_OP_RELATIONAL);
    for (uint32_t l = s->loops->loop_of[block]; l != PM_NO_LOOP; l = s->loops->loops[l].parent)
        if (s->risky[l] &&
            (compares || (user->opcode == SpvOpPhi && s->loops->loops[l].header == block)))
            return true;
    return false;
}

/* Whether it computes, of constants alone, what is not known here: a compiler that saw them would
 * know it, and compute of it at once what is computed of a float that it becomes. */
static bool tells_more(const struct substituting *s, const struct pm_ir_instr *user)
{
    if (!user->result || !pm_exact_computes(user) || pm_is_move(user) ||
        pm_zero_is_constant_in_copy(s->round, s->region, user->result))
        return false;
    for (uint32_t o = 0; o < user->operand_count; o++) {
        const struct pm_ir_instr *operand = pm_ir_operand_instr(user, o);
        if (operand && operand->block &&
            !pm_zero_is_constant_in_copy(s->round, s->region, operand->result))
            return false;
    }
    return true;
}

/* Whether a compiler may see the constant that an operand of this is. */
static bool may_see(const struct substituting *s, const struct pm_ir_instr *user,
                    const struct pm_ir_def *constant)
{
    const struct pm_ir_instr *type = pm_ir_type_of(constant->instr);
    if (pm_scalar_type(type)->opcode == SpvOpTypeBool)
        return true;
    if (tells_turns(s, user) || tells_more(s, user))
        return false;
    const struct pm_zero_value value = pm_zero_value_global(constant);
    const bool zero = pm_zero_value_is_zero(&value);
    if (is_float(type))
        return zero && (!user->result || pm_is_move(user));
    return zero || !makes_float(user);
}

static void put_everywhere(struct substituting *s, struct pm_ir_def *def,
                           struct pm_ir_def *constant)
{
    for (struct pm_ir_operand *use = def->first_use, *next; use && constant; use = next) {
        next = use->next_use;
        if (use->user->block && pm_zero_in_region(s->region, use->user))
            use_constant(s, use, constant, may_see(s, use->user, constant));
    }
}

/* Whether a value is there wherever another one is. */
static bool is_before(const struct substituting *s, const struct pm_ir_def *value,
                      const struct pm_ir_def *other)
{
    const struct pm_ir_instr *a = value->instr, *b = other->instr;
    if (a->block == b->block)
        return s->round->positions[value->id] < s->round->positions[other->id];
    return pm_dominates(pm_dominators(s->round->function), a->block->index, b->block->index);
}

static void put_name(struct substituting *s, struct pm_ir_def *def, struct pm_ir_def *name)
{
    if (!name->instr || !name->instr->block) {
        if (name->instr && pm_ir_opcode_is(name->instr->opcode, PM_IR_OP_CONSTANT) &&
            pm_scalar_type(pm_ir_type_of(name->instr)))
            put_everywhere(s, def, name);
        return;
    }
    if (def->instr->opcode == SpvOpPhi || !is_before(s, name, def))
        return;
    for (struct pm_ir_operand *use = def->first_use, *next; use; use = next) {
        next = use->next_use;
        if (!use->user->block)
            continue;
        pm_ir_operand_set(use, name);
        s->changed = true;
    }
}

/* Whether every component is known, and a float: what is only moved would be seen once the moves
 * are gone; what is computed is computed of what is hidden. */
static bool is_moved_float(const struct pm_ir_def *def, const struct pm_zero_value *value)
{
    if (!is_float(pm_ir_type_of(def->instr)) || !pm_is_move(def->instr) ||
        !pm_zero_is_plain(pm_ir_type_of(def->instr)))
        return false;
    for (uint32_t i = 0; i < value->components; i++)
        if (value->c[i].kind != PM_ZERO_CONSTANT)
            return false;
    return true;
}

static void put(struct substituting *s, struct pm_ir_def *def)
{
    const struct pm_zero_state *state = pm_zero_state_of(s->round, s->region, def);
    if (!state || !state->known)
        return;
    struct pm_ir_def *name = pm_zero_value_name(&state->value, def);
    const struct pm_ir_instr *type = pm_ir_type_of(def->instr);
    if (pm_zero_is_constant_in_copy(s->round, s->region, def) ||
        (!s->region->known[def->id] && is_moved_float(def, &state->value)))
        put_everywhere(s, def, pm_zero_build_constant(s->round->module, type, &state->value));
    else if (name != def)
        put_name(s, def, name);
}

bool pm_constant_substitute(struct pm_zero_round *round, struct pm_zero_region *region,
                            const struct pm_constant_known_word *known,
                            const struct pm_constant_found *found)
{
    struct substituting s = {
        .round = round, .region = region, .known = known, .loops = pm_loops(round->function)};
    s.risky = pm_arena_zalloc(round->arena, s.loops->count + 1u, sizeof(*s.risky));
    if (!s.risky) {
        round->failed = true;
        return false;
    }
    const uint64_t start = round->work;
    for (uint32_t l = 0; l < s.loops->count; l++)
        s.risky[l] = round->work - start > most_work || find_risk(&s, l);
    for (uint32_t p = 0; p < region->count && !round->module->failed; p++)
        for (uint32_t i = 0; region->parts[p].executable && i < region->parts[p].count; i++)
            if (region->parts[p].instrs[i]->result)
                put(&s, region->parts[p].instrs[i]->result);
    hide_found(&s, found);
    return s.changed;
}
