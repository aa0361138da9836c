#include "shader_rewrite/partition/excerpt.h"

#include "shader_rewrite/ir/ir_walk.h"

#include <stdlib.h>
#include <string.h>

enum { HEADER_WORDS = 5, UNDEF_WORDS = 3 };
static const uint32_t ALWAYS = UINT32_MAX; /* a mark */

struct chosen {
    struct pm_ir_instr *instr;
    bool undefined; /* an OpUndef stands for it */
};

/* A name or decoration of something that not every excerpt has. */
struct note {
    struct pm_ir_instr *instr;
    uint32_t next; /* of the same id: its index and 1; 0: none */
};

struct pm_excerpts {
    const struct pm_ir_module *module;
    const struct pm_shader_graph *graph;
    const struct pm_plan *plan;
    struct pm_ir_instr **always; /* what every excerpt has, by place */
    size_t always_count, always_words;
    struct pm_ir_def **used; /* by these, and not among them */
    size_t used_count;
    struct note *notes;
    uint32_t note_count;
    uint32_t *first_note; /* by id, as struct note has it */
    struct chosen *chosen;
    size_t chosen_count;
    uint32_t *step_mark; /* by step: as an instruction's; ALWAYS, where each excerpt has it */
    uint32_t *numbers;
    uint32_t mark; /* of the excerpt at hand: of the first one 1 */
};

/* ---- what every excerpt has ---- */

static bool is_note(const struct pm_ir_instr *instr)
{
    const uint8_t section = pm_ir_opcode_find(instr->opcode)->section;
    return section == PM_IR_SECTION_NAME || section == PM_IR_SECTION_ANNOTATION;
}

/* Of the shader's function: where blocks begin, end and lead to, lines, and variables. Of the rest:
 * all but constants that nothing decorates. */
static bool is_always(const struct pm_excerpts *e, const struct pm_ir_walk *at)
{
    const struct pm_ir_instr *instr = at->instr;
    if (at->function == e->graph->steps.function)
        return !instr->block || instr->list != &instr->block->body ||
               instr->opcode == SpvOpVariable || instr->opcode == SpvOpSelectionMerge ||
               instr->opcode == SpvOpLoopMerge || instr->opcode == SpvOpLine ||
               instr->opcode == SpvOpNoLine || pm_ir_opcode_is_terminator(instr->opcode);
    return !pm_ir_opcode_is(instr->opcode, PM_IR_OP_CONSTANT) || !instr->result ||
           instr->result->decorated;
}

static void add_always(struct pm_excerpts *e, struct pm_ir_instr *instr)
{
    instr->mark = ALWAYS;
    e->always[e->always_count++] = instr;
    e->always_words += pm_ir_instr_words(instr);
}

/* What such an instruction uses: constants of theirs are had always too. */
static void add_used(struct pm_excerpts *e, const struct pm_ir_instr *by)
{
    for (uint32_t o = 0; o < by->operand_count; o++) {
        struct pm_ir_def *def = by->operands[o].def;
        if (!def || !def->instr || def->instr->mark == ALWAYS)
            continue;
        if (pm_step_of(&e->graph->steps, def) == PM_NO_STEP)
            add_always(e, def->instr);
        else
            e->used[e->used_count++] = def;
    }
}

static void add_note(struct pm_excerpts *e, struct pm_ir_instr *instr)
{
    const struct pm_ir_def *of = instr->operands[0].def;
    if (!of || !of->instr || of->instr->mark == ALWAYS) {
        add_always(e, instr);
        return;
    }
    e->notes[e->note_count++] = (struct note){instr, e->first_note[of->id]};
    e->first_note[of->id] = e->note_count;
}

static int by_place(const void *a, const void *b)
{
    const struct pm_ir_instr *const *x = a, *const *y = b;
    return ((*x)->place > (*y)->place) - ((*x)->place < (*y)->place);
}

static void find_always(struct pm_excerpts *e, const struct pm_ir_module *module)
{
    for (struct pm_ir_walk at = pm_ir_walk_begin(module); pm_ir_walk_next(&at);) {
        at.instr->mark = 0;
        if (!is_note(at.instr) && is_always(e, &at))
            add_always(e, at.instr);
    }
    for (size_t i = 0; i < e->always_count; i++)
        add_used(e, e->always[i]);
    for (uint32_t s = 0; s < e->graph->steps.count; s++)
        e->step_mark[s] = e->graph->steps.steps[s].instr->mark;
    for (int s = 0; s < PM_IR_SECTIONS; s++)
        for (struct pm_ir_instr *i = module->sections[s].first; i; i = i->next)
            if (is_note(i))
                add_note(e, i);
    qsort(e->always, e->always_count, sizeof(struct pm_ir_instr *), by_place);
}

struct pm_excerpts *pm_excerpts_create(const struct pm_ir_module *module,
                                       const struct pm_shader_graph *graph,
                                       const struct pm_plan *plan)
{
    size_t instrs = 0, operands = 0, notes = 0;
    for (struct pm_ir_walk at = pm_ir_walk_begin(module); pm_ir_walk_next(&at); instrs++) {
        operands += at.instr->operand_count;
        notes += is_note(at.instr);
    }
    struct pm_arena *arena = module->arena;
    struct pm_excerpts *e = pm_arena_zalloc(arena, 1, sizeof(*e));
    if (!e)
        return NULL;
    const size_t steps = graph->steps.count + (size_t)1;
    *e = (struct pm_excerpts){
        .module = module,
        .graph = graph,
        .plan = plan,
        .always = pm_arena_alloc(arena, instrs * sizeof(struct pm_ir_instr *)),
        .used = pm_arena_alloc(arena, operands * sizeof(struct pm_ir_def *)),
        .notes = pm_arena_alloc(arena, notes * sizeof(struct note)),
        .first_note = pm_arena_zalloc(arena, module->bound + (size_t)1, sizeof(uint32_t)),
        .chosen = pm_arena_alloc(arena, instrs * sizeof(struct chosen)),
        .step_mark = pm_arena_zalloc(arena, steps, sizeof(uint32_t)),
        .numbers = pm_arena_alloc(arena, steps * sizeof(uint32_t)),
    };
    if (!e->always || !e->used || !e->notes || !e->first_note || !e->chosen || !e->step_mark ||
        !e->numbers)
        return NULL;
    find_always(e, module);
    return e;
}

/* ---- what one has ---- */

static void choose(struct pm_excerpts *e, struct pm_ir_instr *instr, uint32_t step, bool undefined)
{
    if (step != PM_NO_STEP && e->step_mark[step] != ALWAYS)
        e->step_mark[step] = e->mark;
    if (instr->mark == ALWAYS || instr->mark == e->mark)
        return;
    instr->mark = e->mark;
    e->chosen[e->chosen_count++] = (struct chosen){instr, undefined};
}

/* What is used. What every pass computes for itself stays as it is, and so do OpPhis of a construct
 * or behind it, since they are part of its step. */
static void choose_used(struct pm_excerpts *e, const struct pm_ir_def *def)
{
    if (!def || !def->instr || def->instr->mark == ALWAYS || def->instr->mark == e->mark)
        return;
    const uint32_t step = pm_step_of(&e->graph->steps, def);
    const bool of_construct = step != PM_NO_STEP && def->instr->opcode == SpvOpPhi &&
                              e->graph->steps.steps[step].kind == PM_STEP_CONSTRUCT;
    const bool whole =
        step == PM_NO_STEP || e->graph->own[def->id] || of_construct || !def->instr->type.def;
    choose(e, def->instr, step, !whole);
}

static void choose_notes(struct pm_excerpts *e, const struct pm_ir_def *of)
{
    for (uint32_t n = e->first_note[of->id]; n; n = e->notes[n - 1].next)
        choose(e, e->notes[n - 1].instr, PM_NO_STEP, false);
}

static void choose_all(struct pm_excerpts *e, uint32_t pass)
{
    const struct pm_shader_graph *graph = e->graph;
    const struct pm_plan_pass *of = &e->plan->passes[pass];
    e->mark++;
    e->chosen_count = 0;
    for (uint32_t i = of->first; i < of->first + of->count; i++) {
        const uint32_t operation = e->plan->operations[i];
        for (uint32_t s = graph->first[operation]; s < graph->first[operation + 1]; s++) {
            struct pm_step_walk walk = pm_step_walk_begin(&graph->steps, graph->members[s]);
            while (pm_step_walk_next(&walk))
                choose(e, walk.instr, graph->members[s], false);
        }
    }
    for (size_t i = 0; i < e->used_count; i++)
        choose_used(e, e->used[i]);
    for (size_t i = 0; i < e->chosen_count; i++) {
        const struct chosen at = e->chosen[i];
        for (uint32_t o = 0; o < at.instr->operand_count && !at.undefined; o++)
            choose_used(e, at.instr->operands[o].def);
        if (at.instr->result && !at.undefined)
            choose_notes(e, at.instr->result);
    }
}

/* Constructs and lines are there in any case. */
static uint32_t number_steps(struct pm_excerpts *e)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < e->graph->steps.count; s++) {
        const bool here = e->step_mark[s] == ALWAYS || e->step_mark[s] == e->mark;
        e->numbers[s] = here ? count++ : PM_NO_STEP;
    }
    return count;
}

static int chosen_by_place(const void *a, const void *b)
{
    const struct chosen *x = a, *y = b;
    return (x->instr->place > y->instr->place) - (x->instr->place < y->instr->place);
}

static uint32_t *put(uint32_t *at, const struct chosen *chosen)
{
    const struct pm_ir_instr *instr = chosen->instr;
    if (chosen->undefined) {
        *at++ = (uint32_t)UNDEF_WORDS << SpvWordCountShift | SpvOpUndef;
        *at++ = instr->type.def->id;
        *at++ = instr->result->id;
        return at;
    }
    return pm_ir_instr_put(instr, at);
}

bool pm_excerpt_make(struct pm_excerpts *e, uint32_t pass, struct pm_excerpt *out)
{
    *out = (struct pm_excerpt){.numbers = e->numbers};
    choose_all(e, pass);
    out->steps = number_steps(e);
    qsort(e->chosen, e->chosen_count, sizeof(*e->chosen), chosen_by_place);
    size_t count = HEADER_WORDS + e->always_words;
    for (size_t i = 0; i < e->chosen_count; i++)
        count +=
            e->chosen[i].undefined ? (size_t)UNDEF_WORDS : pm_ir_instr_words(e->chosen[i].instr);
    out->words = (struct pm_words){malloc(count * sizeof(uint32_t)), count};
    if (!out->words.data)
        return false;
    const uint32_t header[HEADER_WORDS] = {SpvMagicNumber, e->module->version, e->module->generator,
                                           e->module->bound, e->module->schema};
    memcpy(out->words.data, header, sizeof(header));
    uint32_t *at = out->words.data + HEADER_WORDS;
    for (size_t a = 0, c = 0; a < e->always_count || c < e->chosen_count;) {
        const bool always =
            c == e->chosen_count ||
            (a < e->always_count && e->always[a]->place < e->chosen[c].instr->place);
        const struct chosen next =
            always ? (struct chosen){.instr = e->always[a++]} : e->chosen[c++];
        at = put(at, &next);
    }
    return true;
}
