#include "shader_rewrite/partition/emit_pass.h"

#include "shader_rewrite/analysis/analysis_entry.h"
#include "shader_rewrite/analysis/analysis_transposes.h"
#include "shader_rewrite/canonical/canonical.h"
#include "shader_rewrite/partition/emission_steps.h"
#include "shader_rewrite/partition/spilled_value.h"

#include <stdlib.h>

/* ---- before ---- */

static bool list_old(struct pm_emission *e)
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

static bool is_behind_construct(const struct pm_emission *e, const struct pm_ir_instr *instr)
{
    return instr->opcode == SpvOpPhi &&
           e->steps.steps[pm_step_of(&e->steps, instr->result)].kind == PM_STEP_CONSTRUCT;
}

/* Takes all instructions that are steps, or lead from one to another, out of their blocks: those
 * that the pass has are put where they belong. */
static void take_out(struct pm_emission *e)
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

/* Reads what the pass is made of, and finds the steps in it. */
static bool read_excerpt(struct pm_emission *e)
{
    enum pm_stage stage;
    struct pm_excerpt excerpt;
    if (!pm_excerpt_make(e->info->excerpts, e->pass, &excerpt))
        return pm_fail(e->error, PM_ERROR_MEMORY, "out of memory");
    e->numbers = excerpt.numbers;
    e->module = pm_ir_parse(excerpt.words.data, excerpt.words.count, e->error);
    pm_words_finish(&excerpt.words);
    e->function = e->module ? pm_entry_function(e->module, &stage, e->error) : NULL;
    if (!e->function || !pm_analysis_require(e->function, PM_ANALYSIS_STRUCTURE, e->error))
        return false;
    pm_transposes_note_as(e->module, e->info->whole);
    e->arena = e->module->arena;
    if (!pm_steps_find(e->function, e->info->graph->open, e->arena, &e->steps, e->error))
        return false;
    return e->steps.count == excerpt.steps ||
           pm_fail(e->error, PM_ERROR_STATE, "%u steps instead of %u", e->steps.count,
                   excerpt.steps);
}

static bool begin(struct pm_emission *e)
{
    if (!read_excerpt(e) ||
        !(e->info->graph->fragment
              ? pm_attachments_init(&e->attachments, e->module, e->info->spills, e->error)
              : pm_scratch_init(&e->scratch, e->module, e->info->regions, e->error)))
        return false;
    e->values = pm_arena_zalloc(e->arena, e->steps.bound + (size_t)1, sizeof(*e->values));
    e->open = pm_arena_zalloc(e->arena, e->steps.guard_count + (size_t)1, sizeof(*e->open));
    e->words = pm_arena_zalloc(e->arena, PM_SPILLED_MOST_WORDS, sizeof(struct pm_ir_def *));
    if (!e->values || !e->open || !e->words || !list_old(e))
        return pm_fail(e->error, PM_ERROR_MEMORY, "out of memory");
    if (!pm_emission_find_scopes(e))
        return pm_fail(e->error, PM_ERROR_MEMORY, "out of memory");
    take_out(e);
    e->builder = (struct pm_ir_builder){.module = e->module, .block = e->entry};
    if (e->info->graph->fragment)
        pm_attachments_begin(&e->attachments, &e->builder);
    else
        pm_scratch_begin(&e->scratch, &e->builder);
    return true;
}

static void put_steps(struct pm_emission *e)
{
    const struct pm_shader_graph *graph = e->info->graph;
    const struct pm_plan_pass *pass = &e->info->plan->passes[e->pass];
    for (uint32_t i = pass->first; i < pass->first + pass->count && !e->module->failed; i++) {
        uint32_t operation = e->info->plan->operations[i];
        for (uint32_t s = graph->first[operation]; s < graph->first[operation + 1]; s++)
            pm_emission_put_step(e, e->numbers[graph->members[s]]);
    }
    pm_emission_go_under(e, PM_NO_GUARD);
    pm_ir_build_instr(&e->builder, SpvOpReturn, NULL, NULL, 0);
}

/* ---- behind ---- */

static void remove_old(struct pm_emission *e)
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
        if (pm_ir_opcode_is(i->opcode, PM_IR_OP_CONSTANT) && i->result && !i->result->first_use)
            pm_ir_remove(i);
    }
}

/* How the pass is reached. */
static bool describe(const struct pm_emission *e, struct pm_emitted *out)
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
    struct pm_emission e = {.info = info, .pass = pass, .error = error};
    *out = (struct pm_emitted){0};
    bool began = begin(&e), ok = began;
    if (ok) {
        put_steps(&e);
        remove_old(&e);
        pm_own_memory_clean(&info->graph->own_memory, e.module);
        remove_constants(e.module);
        ok = pm_transposes_keep(e.module, error) && describe(&e, out) &&
             pm_ir_emit(e.module, &out->words, error) &&
             pm_validate(out->words.data, out->words.count, &info->target, error);
    }
    if (!ok && error && error->code == PM_ERROR_INPUT)
        error->code = PM_ERROR_STATE;
    if (!ok && error && (began || error->code == PM_ERROR_STATE))
        pm_fail_prefix(error, "pass %u", pass);
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
