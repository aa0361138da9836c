#include "shader_rewrite/partition/emit_pass.h"

#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/canonical/canonical.h"
#include "shader_rewrite/partition/attachments.h"
#include "shader_rewrite/partition/scratch.h"
#include "shader_rewrite/partition/spilled_value.h"

#include <stdlib.h>

/* A guard that is open: its inside is being written. */
struct open_guard {
    uint32_t guard;
    uint32_t scope; /* its number, of all that were ever opened */
    struct pm_ir_block *merge;
};

/* Where a value of the original is to be had. */
struct value {
    struct pm_ir_def *def;      /* NULL: nowhere yet */
    uint32_t scope;             /* where def may be used: 0 everywhere from here on */
    struct pm_ir_def *variable; /* that keeps it over the end of a guard; NULL: none */
};

struct emission {
    const struct pm_emit_info *info;
    uint32_t pass;
    struct pm_error *error;
    struct pm_ir_module *module;
    struct pm_ir_function *function;
    struct pm_arena *arena;
    struct pm_steps steps;
    struct pm_ir_builder builder;
    struct pm_scratch scratch;         /* of a compute shader */
    struct pm_attachments attachments; /* of a fragment shader */
    struct pm_ir_block *entry;
    struct value *values;    /* by id */
    struct open_guard *open; /* from the outermost on */
    uint32_t open_count, scopes;
    uint32_t *step_scope; /* by step: the scope it is put into; UINT32_MAX: it is of another pass */
    uint32_t *scope_parent;   /* by scope; 0: the whole function */
    struct pm_ir_instr **old; /* all instructions of the function */
    size_t old_count;
    struct pm_ir_block **old_blocks;
    uint32_t old_block_count;
    bool *kept;               /* by old block */
    struct pm_ir_def **words; /* of one value */
};

static bool find_scopes(struct emission *e);

/* ---- before ---- */

static bool list_old(struct emission *e)
{
    size_t instrs = 0, blocks = 0;
    for (struct pm_ir_block *b = e->function->first_block; b; b = b->next, blocks++)
        for (struct pm_ir_instr *i = b->body.first; i; i = i->next)
            instrs++;
    e->old = pm_arena_zalloc(e->arena, instrs + 1, sizeof(struct pm_ir_instr *));
    e->old_blocks = pm_arena_zalloc(e->arena, blocks + 1, sizeof(struct pm_ir_block *));
    e->kept = pm_arena_zalloc(e->arena, blocks + 1, sizeof(*e->kept));
    if (!e->old || !e->old_blocks || !e->kept)
        return false;
    for (struct pm_ir_block *b = e->function->first_block; b; b = b->next) {
        b->index = e->old_block_count;
        e->old_blocks[e->old_block_count++] = b;
        for (struct pm_ir_instr *i = b->body.first; i; i = i->next)
            e->old[e->old_count++] = i;
    }
    e->entry = e->function->first_block;
    pm_steps_mark(&e->steps);
    return true;
}

static bool is_behind_construct(const struct emission *e, const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpPhi &&
           e->steps.steps[pm_step_of(&e->steps, instr->result)].kind == PM_STEP_CONSTRUCT;
}

/* Takes all instructions that are steps, or lead from one to another, out of their blocks: those
 * that the pass has are put where they belong. */
static void take_out(struct emission *e)
{
    bool *inside = pm_arena_zalloc(e->arena, e->old_block_count + (size_t)1, sizeof(*inside));
    if (!inside) {
        e->module->failed = true;
        return;
    }
    for (uint32_t i = 0; i < e->steps.count; i++) {
        const struct pm_step *step = &e->steps.steps[i];
        for (uint32_t b = 0; b < step->block_count; b++)
            inside[e->steps.blocks[step->first_block + b]->index] = true;
    }
    for (uint32_t b = 0; b < e->old_block_count; b++)
        for (struct pm_ir_instr *i = e->old_blocks[b]->body.first, *next; i && !inside[b];
             i = next) {
            next = i->next;
            if (i->opcode != SpvOpVariable && !is_behind_construct(e, i))
                pm_ir_detach(i);
        }
    e->kept[0] = true;
}

static bool begin(struct emission *e)
{
    enum pm_stage stage;
    e->module = pm_ir_parse(e->info->words, e->info->count, e->error);
    e->function = e->module ? pm_entry_function(e->module, &stage, e->error) : NULL;
    if (!e->function || !pm_analysis_require(e->function, PM_ANALYSIS_STRUCTURE, e->error))
        return false;
    e->arena = e->module->arena;
    if (!pm_steps_find(e->function, e->info->graph->open, e->arena, &e->steps, e->error) ||
        !(e->info->graph->fragment
              ? pm_attachments_init(&e->attachments, e->module, e->info->spills, e->error)
              : pm_scratch_init(&e->scratch, e->module, e->info->regions, e->error)))
        return false;
    e->values = pm_arena_zalloc(e->arena, e->steps.bound + (size_t)1, sizeof(*e->values));
    e->open = pm_arena_zalloc(e->arena, e->steps.guard_count + (size_t)1, sizeof(*e->open));
    e->words = pm_arena_zalloc(e->arena, PM_SPILLED_MOST_WORDS, sizeof(struct pm_ir_def *));
    if (!e->values || !e->open || !e->words || !list_old(e))
        return pm_fail(e->error, PM_ERROR_MEMORY, "out of memory");
    if (!find_scopes(e))
        return pm_fail(e->error, PM_ERROR_MEMORY, "out of memory");
    take_out(e);
    e->builder = (struct pm_ir_builder){.module = e->module, .block = e->entry};
    if (e->info->graph->fragment)
        pm_attachments_begin(&e->attachments, &e->builder);
    else
        pm_scratch_begin(&e->scratch, &e->builder);
    return true;
}

/* ---- values ---- */

static bool in_scope(const struct emission *e, uint32_t scope)
{
    for (uint32_t i = 0; i < e->open_count && scope; i++)
        if (e->open[i].scope == scope)
            return true;
    return scope == 0;
}

static uint32_t scope_now(const struct emission *e)
{
    return e->open_count ? e->open[e->open_count - 1].scope : 0;
}

static struct pm_ir_def *keep(struct emission *e, const struct pm_ir_def *of, struct pm_ir_def *def)
{
    e->values[of->id].def = def;
    e->values[of->id].scope = scope_now(e);
    return def;
}

static struct pm_ir_def *reload(struct emission *e, const struct pm_ir_def *of)
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

static struct pm_ir_def *value_of(struct emission *e, struct pm_ir_def *of);

/* What every pass computes for itself. */
static struct pm_ir_def *compute_own(struct emission *e, const struct pm_ir_instr *instr)
{
    struct pm_ir_arg args[16];
    if (instr->operand_count > sizeof(args) / sizeof(args[0])) {
        pm_fail(e->error, PM_ERROR_UNSUPPORTED, "%s of %u operands",
                pm_ir_opcode_name(instr->opcode), instr->operand_count);
        e->module->failed = true;
        return NULL;
    }
    for (uint32_t o = 0; o < instr->operand_count; o++)
        args[o] = instr->operands[o].def ? pm_ir_id(value_of(e, instr->operands[o].def))
                                         : pm_ir_word(pm_ir_operand_word(&instr->operands[o]));
    struct pm_ir_def *def =
        pm_ir_build(&e->builder, instr->opcode, instr->type.def, args, instr->operand_count);
    if (def)
        pm_ir_copy_decorations(e->module, instr->result, def, false);
    return def;
}

/* The value that stands for one of the original, where the builder is. */
static struct pm_ir_def *value_of(struct emission *e, struct pm_ir_def *of)
{
    uint32_t step = pm_step_of(&e->steps, of);
    if (step == PM_NO_STEP)
        return of;
    struct value *value = &e->values[of->id];
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
static void set_operands(struct emission *e, struct pm_ir_instr *instr, uint32_t of)
{
    for (uint32_t o = 0; o < instr->operand_count; o++) {
        struct pm_ir_def *def = instr->operands[o].def;
        uint32_t step = def ? pm_step_of(&e->steps, def) : PM_NO_STEP;
        if (step == PM_NO_STEP || step == of)
            continue;
        struct pm_ir_def *value = value_of(e, def);
        if (value)
            pm_ir_operand_set(&instr->operands[o], value);
    }
}

static bool scope_is_in(const struct emission *e, uint32_t scope, uint32_t outer)
{
    while (scope && scope != outer)
        scope = e->scope_parent[scope];
    return scope == outer;
}

/* Whether a value of the original is used in this pass where what is computed in a scope is not to
 * be had any more. */
static bool is_used_outside(const struct emission *e, const struct pm_ir_def *def, uint32_t scope)
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

/* A value has been computed: it is stored for later passes, and kept beyond its guard. */
static void computed(struct emission *e, struct pm_ir_def *def)
{
    const struct pm_spill *spill = &e->info->spills->spills[def->id];
    uint32_t words = pm_spilled_words(pm_ir_type_of(def->instr));
    keep(e, def, def);
    if (spill->pass == e->pass && spill->last > e->pass) {
        pm_spilled_split(&e->builder, def, e->words);
        for (uint32_t w = 0; w < words; w++) {
            const uint32_t place = e->info->spills->places[spill->first_word + w];
            if (e->info->graph->fragment)
                pm_attachments_store(&e->attachments, &e->builder, place, e->words[w]);
            else
                pm_scratch_store(&e->scratch, &e->builder, place, NULL, e->words[w]);
        }
    }
    if (!e->open_count || !words || !is_used_outside(e, def, scope_now(e)))
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

/* Whether a guard is another one or lies around it. */
static bool is_around(const struct emission *e, uint32_t guard, uint32_t inner)
{
    while (inner != PM_NO_GUARD && inner != guard)
        inner = e->steps.guards[inner].parent;
    return inner == guard;
}

static uint32_t innermost_guard(const struct emission *e)
{
    return e->open_count ? e->open[e->open_count - 1].guard : PM_NO_GUARD;
}

/* Of a guard that is not open and those around it the outermost that is not. */
static uint32_t outermost_closed(const struct emission *e, uint32_t guard)
{
    while (e->steps.guards[guard].parent != innermost_guard(e))
        guard = e->steps.guards[guard].parent;
    return guard;
}

/* Closes and opens guards so that the builder is under this one. */
static void go_under(struct emission *e, uint32_t guard)
{
    while (e->open_count && !is_around(e, innermost_guard(e), guard))
        pm_ir_build_end_if(&e->builder, e->open[--e->open_count].merge);
    while (innermost_guard(e) != guard && !e->module->failed) {
        uint32_t next = outermost_closed(e, guard);
        struct pm_ir_def *condition = value_of(e, e->steps.guards[next].condition);
        struct pm_ir_block *merge =
            pm_ir_build_if(&e->builder, condition, e->steps.guards[next].when, NULL);
        e->open[e->open_count] =
            (struct open_guard){.guard = next, .scope = ++e->scopes, .merge = merge};
        e->open_count++;
    }
}

/* Walks the pass's steps and opens and closes guards as putting them does; how many scopes there
 * are. fill: notes which each step is in, and each one's parent. */
static uint32_t walk_scopes(struct emission *e, bool fill)
{
    const struct pm_shader_graph *graph = e->info->graph;
    const struct pm_plan_pass *pass = &e->info->plan->passes[e->pass];
    uint32_t scopes = 0;
    for (uint32_t i = pass->first; i < pass->first + pass->count; i++) {
        uint32_t operation = e->info->plan->operations[i];
        for (uint32_t s = graph->first[operation]; s < graph->first[operation + 1]; s++) {
            uint32_t guard = e->steps.steps[graph->members[s]].guard;
            while (innermost_guard(e) != PM_NO_GUARD && !is_around(e, innermost_guard(e), guard))
                e->open_count--;
            while (innermost_guard(e) != guard) {
                uint32_t parent = scope_now(e);
                e->open[e->open_count] =
                    (struct open_guard){.guard = outermost_closed(e, guard), .scope = ++scopes};
                e->open_count++;
                if (fill)
                    e->scope_parent[scopes] = parent;
            }
            if (fill)
                e->step_scope[graph->members[s]] = scope_now(e);
        }
    }
    e->open_count = 0;
    return scopes;
}

static bool find_scopes(struct emission *e)
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

/* ---- steps ---- */

static void put(struct emission *e, struct pm_ir_instr *instr)
{
    pm_ir_detach(instr);
    pm_ir_insert(&e->builder.block->body, e->builder.block, e->builder.before, instr);
}

/* Makes the OpPhis of a block that came from one block come from another. */
static void set_predecessor(struct pm_ir_instr *first, const struct pm_ir_block *from,
                            const struct pm_ir_block *to)
{
    for (struct pm_ir_instr *phi = first; phi && phi->opcode == SpvOpPhi; phi = phi->next)
        for (uint32_t o = 1; o < phi->operand_count; o += 2)
            if (phi->operands[o].def == from->label->result)
                pm_ir_operand_set(&phi->operands[o], to->label->result);
}

/* The block from which a loop's header is reached; NULL: from within alone. */
static const struct pm_ir_block *entered_from(const struct emission *e, const struct pm_step *step)
{
    const struct pm_ir_instr *phi = step->header->body.first;
    for (uint32_t o = 1; phi->opcode == SpvOpPhi && o < phi->operand_count; o += 2) {
        const struct pm_ir_block *from = pm_ir_block_of(phi->operands[o].def);
        bool inside = false;
        for (uint32_t b = 0; b < step->block_count && !inside; b++)
            inside = e->steps.blocks[step->first_block + b] == from;
        if (!inside)
            return from;
    }
    return NULL;
}

/* What loads or stores a variable that lies in memory does it there. */
static void move_own(struct emission *e, struct pm_ir_instr *instr)
{
    pm_own_memory_move(&e->info->graph->own_memory, &e->scratch, e->info->spills->words, instr,
                       e->words);
}

static void put_construct(struct emission *e, const struct pm_step *step, uint32_t number)
{
    struct pm_step_walk walk = pm_step_walk_begin(&e->steps, number);
    while (pm_step_walk_next(&walk))
        set_operands(e, walk.instr, number);
    struct pm_ir_block *before = e->builder.block, *last = before;
    const struct pm_ir_block *from = step->loop ? entered_from(e, step) : step->header;
    if (step->loop) {
        pm_ir_build_branch(&e->builder, step->header);
    } else {
        put(e, step->instr);
        put(e, step->branch);
    }
    for (uint32_t b = 0; b < step->block_count; b++) {
        struct pm_ir_block *block = e->steps.blocks[step->first_block + b];
        pm_ir_block_move(block, last);
        e->kept[block->index] = true;
        last = block;
        if (from)
            set_predecessor(block->body.first, from, before);
    }
    for (uint32_t b = 0; b < step->block_count; b++)
        for (struct pm_ir_instr *i = e->steps.blocks[step->first_block + b]->body.first, *next; i;
             i = next) {
            next = i->next;
            move_own(e, i);
        }
    if (from)
        set_predecessor(step->merge->body.first, from, before);
    pm_ir_block_move(step->merge, last);
    e->kept[step->merge->index] = true;
    e->builder.block = step->merge;
    e->builder.before = NULL;
}

/* An OpPhi behind a selection that is cut open: chosen by its condition. */
static void put_join(struct emission *e, const struct pm_step *step)
{
    struct pm_ir_instr *phi = step->instr;
    if (step->opened == PM_NO_GUARD) {
        struct pm_ir_def *only = value_of(e, phi->operands[0].def);
        pm_ir_operands_remove(phi, 1, 1);
        phi->opcode = SpvOpCopyObject;
        if (only)
            pm_ir_operand_set(&phi->operands[0], only);
        put(e, phi);
        return;
    }
    const struct pm_guard *guard = &e->steps.guards[step->opened];
    struct pm_ir_def *yes = value_of(e, phi->operands[step->then_value].def);
    struct pm_ir_def *no = value_of(e, phi->operands[2 - step->then_value].def);
    struct pm_ir_def *condition = value_of(e, guard->condition);
    struct pm_ir_block *before = e->builder.block;
    struct pm_ir_block *merge = pm_ir_build_if(&e->builder, condition, true, NULL);
    struct pm_ir_block *inside = e->builder.block;
    pm_ir_build_end_if(&e->builder, merge);
    if (e->module->failed)
        return;
    pm_ir_operand_set(&phi->operands[0], yes);
    pm_ir_operand_set(&phi->operands[1], inside->label->result);
    pm_ir_operand_set(&phi->operands[2], no);
    pm_ir_operand_set(&phi->operands[3], before->label->result);
    put(e, phi);
}

static void put_step(struct emission *e, uint32_t number)
{
    const struct pm_step *step = &e->steps.steps[number];
    go_under(e, step->guard);
    if (step->kind == PM_STEP_CONSTRUCT) {
        put_construct(e, step, number);
    } else if (step->kind == PM_STEP_JOIN) {
        put_join(e, step);
    } else {
        set_operands(e, step->instr, number);
        put(e, step->instr);
        move_own(e, step->instr);
    }
    struct pm_step_walk walk = pm_step_walk_begin(&e->steps, number);
    while (pm_step_walk_next(&walk) && !e->module->failed)
        if (walk.instr->result && walk.instr->result->id < e->steps.bound) /* not ours */
            computed(e, walk.instr->result);
}

static void put_steps(struct emission *e)
{
    const struct pm_shader_graph *graph = e->info->graph;
    const struct pm_plan_pass *pass = &e->info->plan->passes[e->pass];
    for (uint32_t i = pass->first; i < pass->first + pass->count && !e->module->failed; i++) {
        uint32_t operation = e->info->plan->operations[i];
        for (uint32_t s = graph->first[operation]; s < graph->first[operation + 1]; s++)
            put_step(e, graph->members[s]);
    }
    go_under(e, PM_NO_GUARD);
    pm_ir_build_instr(&e->builder, SpvOpReturn, NULL, NULL, 0);
}

/* ---- behind ---- */

static void remove_old(struct emission *e)
{
    for (uint32_t b = 0; b < e->old_block_count; b++)
        for (struct pm_ir_instr *i = e->old_blocks[b]->body.first, *next; i && !e->kept[b];
             i = next) {
            next = i->next;
            pm_ir_detach(i);
        }
    for (size_t i = 0; i < e->old_count; i++)
        if (!e->old[i]->list)
            pm_ir_remove(e->old[i]);
    for (uint32_t b = 0; b < e->old_block_count; b++)
        if (!e->kept[b]) {
            pm_ir_remove(e->old_blocks[b]->label);
            pm_ir_block_remove(e->old_blocks[b]);
        }
}

/* Constants of other passes alone. Those that only they use come before them. */
static void remove_constants(struct pm_ir_module *module)
{
    struct pm_ir_list *globals = &module->sections[PM_IR_SECTION_GLOBAL];
    for (struct pm_ir_instr *i = globals->last, *before; i; i = before) {
        before = i->prev;
        if (pm_ir_opcode_is(i->opcode, PM_IR_OP_CONSTANT) && !i->result->first_use)
            pm_ir_remove(i);
    }
}

/* How the pass is reached. */
static bool describe(const struct emission *e, struct pm_emitted *out)
{
    const struct pm_spills *spills = e->info->spills;
    const struct pm_attachments *a = &e->attachments;
    if (!e->info->graph->fragment) {
        out->spec_ids[0] = e->scratch.address.spec_id_low;
        out->spec_ids[1] = e->scratch.address.spec_id_high;
        out->spec_ids[2] = e->scratch.region.spec_id;
        return true;
    }
    out->set = a->set;
    out->own = pm_attachments_own(a);
    out->reads = calloc(spills->image_count + (size_t)1, sizeof(*out->reads));
    out->wrote = calloc(spills->attachment_count + (size_t)1, sizeof(*out->wrote));
    if (!out->reads || !out->wrote)
        return pm_fail(e->error, PM_ERROR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < spills->image_count; i++)
        out->reads[i] = a->read[i] != NULL;
    for (uint32_t i = 0; i < spills->attachment_count; i++)
        out->wrote[i] = a->wrote[i] ? (uint8_t)(a->location[i] + 1) : 0;
    return true;
}

bool pm_emit_pass(const struct pm_emit_info *info, uint32_t pass, struct pm_emitted *out,
                  struct pm_error *error)
{
    struct emission e = {.info = info, .pass = pass, .error = error};
    *out = (struct pm_emitted){0};
    bool ok = begin(&e);
    if (ok) {
        put_steps(&e);
        remove_old(&e);
        pm_own_memory_clean(&info->graph->own_memory, e.module);
        remove_constants(e.module);
        ok = describe(&e, out) && pm_ir_emit(e.module, &out->words, error) &&
             pm_validate(out->words.data, out->words.count, &info->target, error);
        if (!ok) {
            pm_fail_prefix(error, "pass %u", pass);
            if (error && error->code == PM_ERROR_INPUT)
                error->code = PM_ERROR_STATE;
        }
    }
    pm_ir_module_destroy(e.module);
    return ok;
}

void pm_emitted_finish(struct pm_emitted *emitted)
{
    pm_words_finish(&emitted->words);
    free(emitted->reads);
    free(emitted->wrote);
    *emitted = (struct pm_emitted){0};
}
