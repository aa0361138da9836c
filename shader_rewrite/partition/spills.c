#include "shader_rewrite/partition/spills.h"

#include "shader_rewrite/partition/spilled_value.h"

struct finding {
    const struct pm_shader_graph *graph;
    const struct pm_plan *plan;
    struct pm_spills *out;
    struct pm_arena *arena;
    uint32_t *run_in; /* by operation: the last pass that runs it, while passes are walked */
    uint32_t pass;
    uint32_t *free_places; /* as a stack */
    uint32_t free_count;
};

static uint32_t words_of(const struct finding *f, uint32_t id)
{
    const struct pm_ir_instr *instr = pm_ir_find(f->graph->steps.function->module, id);
    return pm_spilled_words(pm_ir_type_of(instr));
}

/* A step of the pass at hand uses a value. */
static void use(void *user, const struct pm_ir_def *value)
{
    struct finding *f = user;
    uint32_t operation = f->graph->operation_of[pm_step_of(&f->graph->steps, value)];
    if (f->run_in[operation] != f->pass)
        f->out->spills[value->id].last = f->pass;
}

static void for_each_step(struct finding *f, uint32_t pass,
                          void (*visit)(struct finding *f, uint32_t step))
{
    const struct pm_plan_pass *of = &f->plan->passes[pass];
    for (uint32_t i = of->first; i < of->first + of->count; i++) {
        uint32_t operation = f->plan->operations[i];
        for (uint32_t s = f->graph->first[operation]; s < f->graph->first[operation + 1]; s++)
            visit(f, f->graph->members[s]);
    }
}

static void mark_run(struct finding *f, uint32_t step)
{
    struct pm_step_walk walk = pm_step_walk_begin(&f->graph->steps, step);
    bool again = f->run_in[f->graph->operation_of[step]] != UINT32_MAX &&
                 f->run_in[f->graph->operation_of[step]] != f->pass;
    while (pm_step_walk_next(&walk))
        if (walk.instr->result && !again) {
            struct pm_spill *spill = &f->out->spills[walk.instr->result->id];
            spill->pass = spill->last = f->pass;
        }
}

static void mark_used(struct finding *f, uint32_t step)
{
    pm_shader_graph_each_value(f->graph, step, use, f);
}

/* Gives a spilled value of the pass its places. */
static void place(struct finding *f, uint32_t step)
{
    struct pm_step_walk walk = pm_step_walk_begin(&f->graph->steps, step);
    while (pm_step_walk_next(&walk)) {
        if (!walk.instr->result)
            continue;
        struct pm_spill *spill = &f->out->spills[walk.instr->result->id];
        if (spill->pass != f->pass || spill->last == f->pass)
            continue;
        uint32_t words = words_of(f, walk.instr->result->id);
        for (uint32_t w = 0; w < words; w++)
            f->out->places[spill->first_word + w] =
                f->free_count ? f->free_places[--f->free_count] : f->out->words++;
    }
}

/* Which ids end in which pass, as lists. */
struct endings {
    uint32_t *first; /* by pass */
    uint32_t *next;  /* by id */
};

static void free_ended(struct finding *f, const struct endings *endings)
{
    for (uint32_t id = endings->first[f->pass]; id; id = endings->next[id])
        for (uint32_t w = 0, words = words_of(f, id); w < words; w++)
            f->free_places[f->free_count++] = f->out->places[f->out->spills[id].first_word + w];
}

static bool place_all(struct finding *f)
{
    uint32_t bound = f->graph->steps.bound, total = 0;
    struct endings endings = {
        .first = pm_arena_zalloc(f->arena, f->plan->pass_count + (size_t)1, sizeof(uint32_t)),
        .next = pm_arena_zalloc(f->arena, bound + (size_t)1, sizeof(uint32_t)),
    };
    if (!endings.first || !endings.next)
        return false;
    for (uint32_t id = 1; id < bound; id++) {
        struct pm_spill *spill = &f->out->spills[id];
        if (spill->last == spill->pass)
            continue;
        spill->first_word = total;
        total += words_of(f, id);
        endings.next[id] = endings.first[spill->last];
        endings.first[spill->last] = id;
    }
    f->out->places = pm_arena_zalloc(f->arena, total + (size_t)1, sizeof(uint32_t));
    f->free_places = pm_arena_zalloc(f->arena, total + (size_t)1, sizeof(uint32_t));
    if (!f->out->places || !f->free_places)
        return false;
    for (f->pass = 0; f->pass < f->plan->pass_count; f->pass++) {
        /* A pass may write a place before it has read what was there: so not before it is over. */
        for_each_step(f, f->pass, place);
        free_ended(f, &endings);
    }
    return true;
}

/* Gives a spilled value of the pass the next words of the pass's attachments. */
static void attach(struct finding *f, uint32_t step)
{
    struct pm_step_walk walk = pm_step_walk_begin(&f->graph->steps, step);
    while (pm_step_walk_next(&walk)) {
        if (!walk.instr->result)
            continue;
        struct pm_spill *spill = &f->out->spills[walk.instr->result->id];
        if (spill->pass != f->pass || spill->last == f->pass)
            continue;
        for (uint32_t w = 0, words = words_of(f, walk.instr->result->id); w < words; w++) {
            struct pm_spill_attachment *attachment = &f->out->attachments[f->out->words / 4];
            f->out->places[spill->first_word + w] = f->out->words++;
            attachment->pass = f->pass;
            if (spill->last > attachment->last)
                attachment->last = spill->last;
        }
    }
}

/* An image is free again behind the last pass that reads it. */
static void choose_image(struct pm_spills *out, uint32_t at)
{
    bool taken = true;
    uint32_t image = 0;
    for (; taken; image += taken) {
        taken = false;
        for (uint32_t a = 0; a < at && !taken; a++)
            taken = out->attachments[a].image == image &&
                    out->attachments[a].last >= out->attachments[at].pass;
    }
    out->attachments[at].image = image;
    if (image >= out->image_count)
        out->image_count = image + 1;
}

static bool attach_all(struct finding *f)
{
    uint32_t total = 0;
    for (uint32_t id = 1; id < f->graph->steps.bound; id++) {
        struct pm_spill *spill = &f->out->spills[id];
        if (spill->last == spill->pass)
            continue;
        spill->first_word = total;
        total += words_of(f, id);
    }
    /* Each pass begins with a whole one. */
    size_t most = total / 4 + (size_t)f->plan->pass_count + 1;
    f->out->places = pm_arena_zalloc(f->arena, total + (size_t)1, sizeof(uint32_t));
    f->out->attachments = pm_arena_zalloc(f->arena, most, sizeof(*f->out->attachments));
    if (!f->out->places || !f->out->attachments)
        return false;
    for (f->pass = 0; f->pass < f->plan->pass_count; f->pass++) {
        for_each_step(f, f->pass, attach);
        f->out->words = (f->out->words + 3) / 4 * 4;
    }
    f->out->attachment_count = f->out->words / 4;
    for (uint32_t a = 0; a < f->out->attachment_count; a++)
        choose_image(f->out, a);
    return true;
}

bool pm_spills_find(const struct pm_shader_graph *graph, const struct pm_plan *plan,
                    struct pm_arena *arena, struct pm_spills *out)
{
    struct finding f = {.graph = graph, .plan = plan, .out = out, .arena = arena};
    *out = (struct pm_spills){
        .spills = pm_arena_zalloc(arena, graph->steps.bound + (size_t)1, sizeof(struct pm_spill))};
    f.run_in = pm_arena_alloc(arena, (graph->operations.count + (size_t)1) * sizeof(*f.run_in));
    if (!out->spills || !f.run_in)
        return false;
    for (uint32_t i = 0; i < graph->operations.count; i++)
        f.run_in[i] = UINT32_MAX;
    for (f.pass = 0; f.pass < plan->pass_count; f.pass++) {
        const struct pm_plan_pass *pass = &plan->passes[f.pass];
        for_each_step(&f, f.pass, mark_run);
        for (uint32_t i = pass->first; i < pass->first + pass->count; i++)
            f.run_in[plan->operations[i]] = f.pass;
        for_each_step(&f, f.pass, mark_used);
    }
    return graph->fragment ? attach_all(&f) : place_all(&f);
}
