#include "shader_rewrite/partition/emission.h"

#include "shader_rewrite/partition/spilled_value.h"

static bool in_scope(const struct pm_emission *e, uint32_t scope)
{
    for (uint32_t i = 0; i < e->open_count && scope; i++)
        if (e->open[i].scope == scope)
            return true;
    return scope == 0;
}

static uint32_t scope_now(const struct pm_emission *e)
{
    return e->open_count ? e->open[e->open_count - 1].scope : 0;
}

static struct pm_ir_def *keep(struct pm_emission *e, const struct pm_ir_def *of,
                              struct pm_ir_def *def)
{
    e->values[of->id].def = def;
    e->values[of->id].scope = scope_now(e);
    return def;
}

static struct pm_ir_def *reload(struct pm_emission *e, const struct pm_ir_def *of)
{
    const struct pm_ir_instr *type = pm_ir_type_of(of->instr);
    const struct pm_spill *spill = &e->info->spills->spills[of->id];
    uint32_t words = pm_spilled_words(type);
    for (uint32_t w = 0; w < words; w++) {
        const uint32_t place = e->info->spills->places[spill->first_word + w];
        e->words[w] = e->info->graph->fragment
                          ? pm_attachments_load(&e->attachments, &e->builder, place)
                          : pm_scratch_load(&e->scratch, &e->builder, place, NULL);
    }
    return pm_spilled_join(&e->builder, type, e->words);
}

/* What every pass computes for itself. */
static struct pm_ir_def *compute_own(struct pm_emission *e, const struct pm_ir_instr *instr)
{
    struct pm_ir_arg args[16];
    if (instr->operand_count > sizeof(args) / sizeof(args[0])) {
        pm_fail(e->error, PM_ERROR_UNSUPPORTED, "%s of %u operands",
                pm_ir_opcode_name(instr->opcode), instr->operand_count);
        e->module->failed = true;
        return NULL;
    }
    for (uint32_t o = 0; o < instr->operand_count; o++)
        args[o] = instr->operands[o].def ? pm_ir_id(pm_emission_value(e, instr->operands[o].def))
                                         : pm_ir_word(pm_ir_operand_word(&instr->operands[o]));
    struct pm_ir_def *def =
        pm_ir_build(&e->builder, instr->opcode, instr->type.def, args, instr->operand_count);
    if (def) {
        pm_ir_copy_decorations(e->module, instr->result, def, false);
        def->instr->noted = instr->noted;
    }
    return def;
}

/* The value that stands for one of the original, where the builder is. */
struct pm_ir_def *pm_emission_value(struct pm_emission *e, struct pm_ir_def *of)
{
    uint32_t step = pm_step_of(&e->steps, of);
    if (step == PM_NO_STEP)
        return of;
    struct pm_emitted_value *value = &e->values[of->id];
    bool own = e->info->graph->own[of->id];
    /* An OpSampledImage must be in the block of its use. */
    if (value->def && in_scope(e, value->scope) && of->instr->opcode != SpvOpSampledImage)
        return value->def;
    if (own)
        return keep(e, of, compute_own(e, of->instr));
    if (value->variable)
        return keep(e, of,
                    pm_ir_build(&e->builder, SpvOpLoad, of->instr->type.def,
                                PM_IR_ARGS(pm_ir_id(value->variable))));
    return keep(e, of, reload(e, of));
}

/* Makes an instruction use what stands for its operands. of: its step. */
void pm_emission_set_operands(struct pm_emission *e, struct pm_ir_instr *instr, uint32_t of)
{
    for (uint32_t o = 0; o < instr->operand_count; o++) {
        struct pm_ir_def *def = instr->operands[o].def;
        uint32_t step = def ? pm_step_of(&e->steps, def) : PM_NO_STEP;
        if (step == PM_NO_STEP || step == of)
            continue;
        struct pm_ir_def *value = pm_emission_value(e, def);
        if (value)
            pm_ir_operand_set(&instr->operands[o], value);
    }
}

static bool scope_is_in(const struct pm_emission *e, uint32_t scope, uint32_t outer)
{
    while (scope && scope != outer)
        scope = e->scope_parent[scope];
    return scope == outer;
}

/* Whether a value of the original is used in this pass where what is pm_emission_computed in a
 * scope is not to be had any more. */
static bool is_used_outside(const struct pm_emission *e, const struct pm_ir_def *def,
                            uint32_t scope)
{
    for (const struct pm_ir_operand *use = def->first_use; use; use = use->next_use) {
        const struct pm_ir_instr *user = use->user;
        if (!user->mark) {
            if (!user->list && user->opcode == SpvOpBranchConditional)
                return true; /* a guard's condition */
            continue;
        }
        uint32_t of = e->step_scope[user->mark - 1];
        bool own = user->result && e->info->graph->own[user->result->id];
        if ((of != UINT32_MAX && !scope_is_in(e, of, scope)) ||
            (own && is_used_outside(e, user->result, scope)))
            return true;
    }
    return false;
}

/* A value has been pm_emission_computed: it is stored for later passes, and kept beyond its guard.
 */
void pm_emission_computed(struct pm_emission *e, struct pm_ir_def *def)
{
    const struct pm_spill *spill = &e->info->spills->spills[def->id];
    const struct pm_ir_instr *type = pm_ir_type_of(def->instr);
    uint32_t words = pm_spilled_words(type);
    keep(e, def, def);
    if (words > 0 && spill->pass == e->pass && spill->last > e->pass) {
        pm_spilled_split(&e->builder, def, e->words);
        for (uint32_t w = 0; w < words; w++) {
            const uint32_t place = e->info->spills->places[spill->first_word + w];
            if (e->info->graph->fragment)
                pm_attachments_store(&e->attachments, &e->builder, place, e->words[w]);
            else
                pm_scratch_store(&e->scratch, &e->builder, place, NULL, e->words[w]);
        }
    }
    if (!e->open_count || pm_is_handle(type) || !is_used_outside(e, def, scope_now(e)))
        return;
    struct pm_ir_def *pointer =
        pm_ir_type_pointer(e->module, SpvStorageClassFunction, def->instr->type.def);
    struct pm_ir_instr *variable = pm_ir_instr_with(
        e->module, SpvOpVariable, pointer, PM_IR_ARGS(pm_ir_word(SpvStorageClassFunction)));
    if (!variable)
        return;
    pm_ir_insert(&e->entry->body, e->entry, e->entry->body.first, variable);
    pm_ir_build_instr(&e->builder, SpvOpStore, NULL,
                      PM_IR_ARGS(pm_ir_id(variable->result), pm_ir_id(def)));
    e->values[def->id].variable = variable->result;
}

/* ---- guards ---- */

static uint32_t innermost_guard(const struct pm_emission *e)
{
    return e->open_count ? e->open[e->open_count - 1].guard : PM_NO_GUARD;
}

/* Of a guard that is not open and those around it the outermost that is not. */
static uint32_t outermost_closed(const struct pm_emission *e, uint32_t guard)
{
    while (e->steps.guards[guard].parent != innermost_guard(e))
        guard = e->steps.guards[guard].parent;
    return guard;
}

/* Closes and opens guards so that the builder is under this one. */
void pm_emission_go_under(struct pm_emission *e, uint32_t guard)
{
    while (e->open_count && !pm_guard_is_around(&e->steps, innermost_guard(e), guard))
        pm_ir_build_end_if(&e->builder, e->open[--e->open_count].merge);
    while (innermost_guard(e) != guard && !e->module->failed) {
        uint32_t next = outermost_closed(e, guard);
        struct pm_ir_def *condition = pm_emission_value(e, e->steps.guards[next].condition);
        struct pm_ir_block *merge =
            pm_ir_build_if(&e->builder, condition, e->steps.guards[next].when, NULL);
        e->open[e->open_count] =
            (struct pm_open_guard){.guard = next, .scope = ++e->scopes, .merge = merge};
        e->open_count++;
    }
}

/* Walks the pass's steps and opens and closes guards as putting them does; how many scopes there
 * are. fill: notes which each step is in, and each one's parent. */
static uint32_t walk_scopes(struct pm_emission *e, bool fill)
{
    const struct pm_shader_graph *graph = e->info->graph;
    const struct pm_plan_pass *pass = &e->info->plan->passes[e->pass];
    uint32_t scopes = 0;
    for (uint32_t i = pass->first; i < pass->first + pass->count; i++) {
        uint32_t operation = e->info->plan->operations[i];
        for (uint32_t s = graph->first[operation]; s < graph->first[operation + 1]; s++) {
            const uint32_t number = e->numbers[graph->members[s]];
            uint32_t guard = e->steps.steps[number].guard;
            while (innermost_guard(e) != PM_NO_GUARD &&
                   !pm_guard_is_around(&e->steps, innermost_guard(e), guard))
                e->open_count--;
            while (innermost_guard(e) != guard) {
                uint32_t parent = scope_now(e);
                e->open[e->open_count] =
                    (struct pm_open_guard){.guard = outermost_closed(e, guard), .scope = ++scopes};
                e->open_count++;
                if (fill)
                    e->scope_parent[scopes] = parent;
            }
            if (fill)
                e->step_scope[number] = scope_now(e);
        }
    }
    e->open_count = 0;
    return scopes;
}

bool pm_emission_find_scopes(struct pm_emission *e)
{
    size_t scopes = walk_scopes(e, false) + (size_t)1;
    e->scope_parent = pm_arena_zalloc(e->arena, scopes, sizeof(*e->scope_parent));
    e->step_scope = pm_arena_alloc(e->arena, (e->steps.count + (size_t)1) * sizeof(*e->step_scope));
    if (!e->scope_parent || !e->step_scope)
        return false;
    for (uint32_t i = 0; i < e->steps.count; i++)
        e->step_scope[i] = UINT32_MAX;
    walk_scopes(e, true);
    return true;
}
