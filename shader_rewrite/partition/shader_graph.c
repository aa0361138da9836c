#include "shader_rewrite/partition/shader_graph.h"

#include "shader_rewrite/partition/spilled_value.h"
#include "shader_rewrite/partition/step_cost.h"
#include "shader_rewrite/partition/step_needs.h"

#include <inttypes.h>
#include <stdlib.h>

struct making {
    struct pm_ir_function *function;
    const struct pm_pass_limits *limits;
    struct pm_arena *arena;
    struct pm_shader_graph *out;
    struct pm_error *error;
    struct pm_step_cost *costs; /* by step */
    struct pm_step_needs needs;

    /* Of the groups of steps that belong together, by their representative. */
    size_t *first_need;  /* by step, and one more: in needs.needs */
    uint32_t *next_with; /* by step: the next one of its group; PM_NO_STEP */
    uint32_t *first_with;
    /* A walk that finds what lies between (Tarjan's strongly connected components). */
    uint32_t *number, *low; /* by representative; number 0: not visited yet */
    bool *on_stack;
    uint32_t *stack, *path;
    uint32_t *path_step; /* by place on the path: the step whose needs are followed */
    size_t *path_need;
    uint32_t numbers, depth;
    uint32_t operations;
};

static bool out_of_memory(const struct making *m)
{
    return pm_fail(m->error, PM_ERROR_MEMORY, "out of memory");
}

/* ---- steps ---- */

static bool fits(const struct making *m, const struct pm_step_cost *cost)
{
    return cost->alu <= m->limits->alu && cost->texture <= m->limits->texture &&
           cost->held <= m->limits->temporaries;
}

static bool can_be_opened(const struct pm_step *step)
{
    return step->kind == PM_STEP_CONSTRUCT && !step->loop &&
           pm_ir_terminator(step->header)->opcode == SpvOpBranchConditional;
}

static bool is_switch(const struct pm_step *step)
{
    return step->kind == PM_STEP_CONSTRUCT && !step->loop && !can_be_opened(step);
}

/* The construct that a selection or switch is. */
static uint32_t construct_of(const struct making *m, const struct pm_step *step)
{
    const struct pm_structure *structure = pm_structure(m->function);
    uint32_t c = 0;
    while (structure->constructs[c].header != step->header->index)
        c++;
    return c;
}

static void open_selection(struct making *m, const struct pm_step *step)
{
    m->out->open[construct_of(m, step)] = true;
    m->out->opened++;
}

static void mark_switch(struct making *m, const struct pm_step *step)
{
    m->out->large_switches[construct_of(m, step)] = true;
    m->out->large_switch_count++;
}

/* A switch whose cases are apart is a selection by the time that this is said of it. */
static bool refuse(const struct making *m, uint32_t step)
{
    const struct pm_step_cost *cost = &m->costs[step];
    const bool loop = m->out->steps.steps[step].loop;
    return pm_fail(m->error, PM_ERROR_UNSUPPORTED,
                   "%s of %" PRIu64 " ALU and %" PRIu64 " texture operations and %" PRIu64
                   " temporaries fits no pass, and %s",
                   loop ? "a loop" : "a switch", cost->alu, cost->texture, cost->held,
                   loop ? "is never cut" : "its cases are not apart");
}

/* Opens the selections that no pass has room for, and marks such switches. *opened: some were, and
 * steps are to be found anew. */
static bool open_selections(struct making *m, bool *opened)
{
    const struct pm_steps *steps = &m->out->steps;
    uint64_t *last_use = pm_arena_zalloc(m->arena, steps->bound + (size_t)1, sizeof(*last_use));
    m->costs = pm_arena_zalloc(m->arena, steps->count + (size_t)1, sizeof(*m->costs));
    if (!last_use || !m->costs)
        return out_of_memory(m);
    *opened = false;
    uint32_t refused = PM_NO_STEP;
    for (uint32_t i = 0; i < steps->count; i++) {
        const struct pm_step *step = &steps->steps[i];
        m->costs[i] = pm_step_cost_of(steps, i, last_use);
        if (step->kind != PM_STEP_CONSTRUCT || fits(m, &m->costs[i]))
            continue;
        if (step->loop) {
            m->out->large_switch_count = 0; /* it is for the loop, whatever becomes of them */
            return refuse(m, i);
        }
        if (can_be_opened(step)) {
            open_selection(m, step);
            *opened = true;
            continue;
        }
        mark_switch(m, step);
        if (refused == PM_NO_STEP)
            refused = i;
    }
    return refused == PM_NO_STEP || refuse(m, refused);
}

static bool find_steps(struct making *m)
{
    bool opened = true;
    while (opened) {
        if (!pm_steps_find(m->function, m->out->open, m->arena, &m->out->steps, m->error) ||
            !open_selections(m, &opened))
            return false;
    }
    return true;
}

/* ---- operations ---- */

static bool make_rooms(struct making *m)
{
    size_t count = m->out->steps.count + (size_t)1;
    uint32_t **const arrays[] = {
        &m->next_with, &m->first_with,        &m->number,      &m->low, &m->stack, &m->path,
        &m->path_step, &m->out->operation_of, &m->out->members};
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        if (!(*arrays[i] = pm_arena_zalloc(m->arena, count, sizeof(uint32_t))))
            return false;
    m->first_need = pm_arena_zalloc(m->arena, count, sizeof(*m->first_need));
    m->path_need = pm_arena_zalloc(m->arena, count, sizeof(*m->path_need));
    m->on_stack = pm_arena_zalloc(m->arena, count, sizeof(*m->on_stack));
    m->out->first = pm_arena_zalloc(m->arena, count + 1, sizeof(*m->out->first));
    return m->first_need && m->path_need && m->on_stack && m->out->first;
}

/* Lists each group's steps, by their representative; what each needs begins at first_need. */
static void list_groups(struct making *m)
{
    const struct pm_shader_graph *out = m->out;
    for (uint32_t i = 0; i < out->steps.count; i++) {
        m->first_with[i] = PM_NO_STEP;
        out->operation_of[i] = PM_NO_OPERATION;
    }
    for (uint32_t i = out->steps.count; i-- > 0;) {
        if (m->needs.own_step[i])
            continue;
        uint32_t root = pm_step_needs_root(&m->needs, i);
        m->next_with[i] = m->first_with[root];
        m->first_with[root] = i;
    }
    size_t need = 0;
    for (uint32_t i = 0; i <= out->steps.count; i++) {
        while (need < m->needs.need_count && m->needs.needs[need].step < i)
            need++;
        m->first_need[i] = need;
    }
}

/* Ends a component: all on the stack from `root` on is one operation. */
static void end_component(struct making *m, uint32_t root)
{
    uint32_t at;
    do {
        at = m->stack[--m->depth];
        m->on_stack[at] = false;
        for (uint32_t s = m->first_with[at]; s != PM_NO_STEP; s = m->next_with[s])
            m->out->operation_of[s] = m->operations;
    } while (at != root);
    m->operations++;
}

static void enter(struct making *m, uint32_t root, uint32_t *length)
{
    m->number[root] = m->low[root] = ++m->numbers;
    m->stack[m->depth++] = root;
    m->on_stack[root] = true;
    m->path[*length] = root;
    m->path_step[*length] = m->first_with[root];
    m->path_need[*length] = m->first_need[m->first_with[root]];
    (*length)++;
}

/* Components in the order of what they need: operands first. */
static void find_components(struct making *m)
{
    const struct pm_step_need *needs = m->needs.needs;
    for (uint32_t i = 0; i < m->out->steps.count; i++) {
        uint32_t length = 0;
        if (m->first_with[i] == PM_NO_STEP || m->number[i])
            continue;
        enter(m, i, &length);
        while (length) {
            uint32_t at = m->path[length - 1], step = m->path_step[length - 1];
            size_t *need = &m->path_need[length - 1];
            if (step == PM_NO_STEP) {
                length--;
                if (m->low[at] == m->number[at])
                    end_component(m, at);
                if (length && m->low[at] < m->low[m->path[length - 1]])
                    m->low[m->path[length - 1]] = m->low[at];
            } else if (*need == m->first_need[step + 1]) {
                m->path_step[length - 1] = m->next_with[step];
                if (m->next_with[step] != PM_NO_STEP)
                    *need = m->first_need[m->next_with[step]];
            } else {
                uint32_t to = pm_step_needs_root(&m->needs, needs[(*need)++].needs);
                if (!m->number[to])
                    enter(m, to, &length);
                else if (m->on_stack[to] && m->number[to] < m->low[at])
                    m->low[at] = m->number[to];
            }
        }
    }
}

/* Lists the steps of each operation in program order. */
static void list_members(struct making *m)
{
    struct pm_shader_graph *out = m->out;
    for (uint32_t i = 0; i < out->steps.count; i++)
        if (out->operation_of[i] != PM_NO_OPERATION)
            out->first[out->operation_of[i] + 1]++;
    for (uint32_t o = 0; o < m->operations; o++)
        out->first[o + 1] += out->first[o];
    uint32_t *next = m->low; /* not needed any more */
    for (uint32_t o = 0; o < m->operations; o++)
        next[o] = out->first[o];
    for (uint32_t i = 0; i < out->steps.count; i++)
        if (out->operation_of[i] != PM_NO_OPERATION)
            out->members[next[out->operation_of[i]]++] = i;
}

/* ---- what fits no pass together ---- */

/* The selection among an operation's steps that has most ALU operations; PM_NO_STEP: none. */
static uint32_t largest_selection(const struct making *m, uint32_t operation)
{
    const struct pm_shader_graph *out = m->out;
    uint32_t largest = PM_NO_STEP;
    for (uint32_t i = out->first[operation]; i < out->first[operation + 1]; i++) {
        const uint32_t step = out->members[i];
        if (can_be_opened(&out->steps.steps[step]) &&
            (largest == PM_NO_STEP || m->costs[step].alu > m->costs[largest].alu))
            largest = step;
    }
    return largest;
}

static void mark_switches(struct making *m, uint32_t operation)
{
    const struct pm_shader_graph *out = m->out;
    for (uint32_t i = out->first[operation]; i < out->first[operation + 1]; i++)
        if (is_switch(&out->steps.steps[out->members[i]]))
            mark_switch(m, &out->steps.steps[out->members[i]]);
}

/* Opens a selection of each operation that no pass has room for: each of its steps fits one, and
 * what belongs together does not. Marks its switches where it has no selection. *opened: as above.
 */
static void open_together(struct making *m, bool *opened)
{
    const struct pm_shader_graph *out = m->out;
    *opened = false;
    for (uint32_t o = 0; o < m->operations; o++) {
        struct pm_step_cost all = {0};
        for (uint32_t i = out->first[o]; i < out->first[o + 1]; i++) {
            const struct pm_step_cost *cost = &m->costs[out->members[i]];
            all.alu += cost->alu;
            all.texture += cost->texture;
            all.held = cost->held > all.held ? cost->held : all.held;
        }
        if (fits(m, &all))
            continue;
        const uint32_t selection = largest_selection(m, o);
        if (selection == PM_NO_STEP) {
            mark_switches(m, o);
            continue;
        }
        open_selection(m, &out->steps.steps[selection]);
        *opened = true;
    }
}

/* Each round takes memory, and a selection more of what is too large. */
enum { MOST_ROUNDS = 16 };

/* Finds the operations, as steps that belong together. */
static bool find_operations(struct making *m)
{
    bool opened = true;
    const size_t constructs = pm_structure(m->function)->count + (size_t)1;
    m->out->open = pm_arena_zalloc(m->arena, constructs, sizeof(*m->out->open));
    m->out->large_switches = pm_arena_zalloc(m->arena, constructs, sizeof(*m->out->large_switches));
    if (!m->out->open || !m->out->large_switches)
        return out_of_memory(m);
    for (int round = 0; opened; round++) {
        pm_step_needs_finish(&m->needs);
        m->numbers = m->operations = 0;
        if (!find_steps(m) ||
            !pm_step_needs_find(&m->out->steps, m->out->fragment, &m->out->own_memory, m->arena,
                                &m->needs, m->error))
            return false;
        if (!make_rooms(m))
            return out_of_memory(m);
        list_groups(m);
        find_components(m);
        list_members(m);
        opened = false;
        if (round + 1 < MOST_ROUNDS)
            open_together(m, &opened);
    }
    return true;
}

/* ---- what they take ---- */

static bool is_used_elsewhere(const struct making *m, const struct pm_ir_def *def, uint32_t by);

/* Whether an instruction that uses a value is of another operation, directly or by what every pass
 * computes for itself. */
static bool uses_elsewhere(const struct making *m, const struct pm_ir_instr *user, uint32_t by)
{
    if (!user->block)
        return false; /* a name or decoration */
    if (!user->mark)  /* of no step: what branches where a selection is cut open */
        return user->opcode == SpvOpBranchConditional;
    uint32_t step = user->mark - 1;
    uint32_t operation = m->out->operation_of[step];
    if (operation != PM_NO_OPERATION && operation != by)
        return true;
    return user->result && m->needs.own[user->result->id] && is_used_elsewhere(m, user->result, by);
}

static bool is_used_elsewhere(const struct making *m, const struct pm_ir_def *def, uint32_t by)
{
    for (const struct pm_ir_operand *use = def->first_use; use; use = use->next_use)
        if (uses_elsewhere(m, use->user, by))
            return true;
    return false;
}

/* The words of an operation's values that others use. Guards' conditions are used by all that is
 * under them. */
static uint64_t value_words(const struct making *m, uint32_t operation)
{
    const struct pm_shader_graph *out = m->out;
    uint64_t words = 0;
    for (uint32_t i = out->first[operation]; i < out->first[operation + 1]; i++) {
        struct pm_step_walk walk = pm_step_walk_begin(&out->steps, out->members[i]);
        while (pm_step_walk_next(&walk))
            if (walk.instr->result && is_used_elsewhere(m, walk.instr->result, operation))
                words += pm_spilled_words(pm_ir_type_of(walk.instr));
    }
    return words;
}

/* Components of the outputs that an operation writes: each has a place of 4. What writes one of
 * them is all in one operation. */
static uint32_t output_components(const struct making *m, uint32_t operation)
{
    const struct pm_shader_graph *out = m->out;
    const struct pm_ir_instr *before[16];
    uint32_t count = 0;
    for (uint32_t i = out->first[operation]; i < out->first[operation + 1] && out->fragment; i++) {
        struct pm_step_walk walk = pm_step_walk_begin(&out->steps, out->members[i]);
        while (pm_step_walk_next(&walk)) {
            const struct pm_ir_instr *variable = pm_stored_output(walk.instr);
            uint32_t at = 0;
            while (at < count && before[at] != variable)
                at++;
            if (variable && at == count && count < sizeof(before) / sizeof(before[0]))
                before[count++] = variable;
        }
    }
    return 4 * count;
}

static enum pm_input_kind input_kind(const struct pm_ir_instr *variable)
{
    switch (pm_ir_operand_word(&variable->operands[0])) {
    case SpvStorageClassInput:
        return PM_INPUT_VARYING;
    case SpvStorageClassUniformConstant:
        return PM_INPUT_TEXTURE;
    default:
        return PM_INPUT_CONSTANT;
    }
}

/* Rooms for what one operation needs, each once. */
struct gathered {
    struct pm_operand *operands;
    uint32_t *operand_place; /* by operation: its place in `operands`, if operand_of says so */
    uint32_t *operand_of;    /* by operation: the last one that needs it, and 1 */
    uint32_t *inputs;
    uint32_t *input_number; /* by id of a variable: its input, and 1 */
    uint32_t *input_of;     /* by id of a variable: the last operation that reads it, and 1 */
    size_t *first_input;    /* by step, and one more: in needs.inputs */
};

static bool make_gathered(struct making *m, struct gathered *g)
{
    size_t operations = m->operations + (size_t)1, ids = m->out->steps.bound + (size_t)1;
    size_t steps = m->out->steps.count + (size_t)1;
    g->operands = pm_arena_zalloc(m->arena, operations, sizeof(*g->operands));
    g->operand_place = pm_arena_zalloc(m->arena, operations, sizeof(*g->operand_place));
    g->operand_of = pm_arena_zalloc(m->arena, operations, sizeof(*g->operand_of));
    g->inputs = pm_arena_zalloc(m->arena, ids, sizeof(*g->inputs));
    g->input_number = pm_arena_zalloc(m->arena, ids, sizeof(*g->input_number));
    g->input_of = pm_arena_zalloc(m->arena, ids, sizeof(*g->input_of));
    g->first_input = pm_arena_zalloc(m->arena, steps + 1, sizeof(*g->first_input));
    if (!g->operands || !g->operand_place || !g->operand_of || !g->inputs || !g->input_number ||
        !g->input_of || !g->first_input)
        return false;
    size_t input = 0;
    for (uint32_t i = 0; i <= m->out->steps.count; i++) {
        while (input < m->needs.input_count && m->needs.inputs[input].step < i)
            input++;
        g->first_input[i] = input;
    }
    return true;
}

static void add_operation(struct making *m, struct gathered *g, uint32_t at)
{
    struct pm_shader_graph *out = m->out;
    struct pm_operation operation = {0};
    uint32_t operand_count = 0, input_count = 0;
    uint64_t alu = 0, texture = 0, held = 0;
    for (uint32_t i = out->first[at]; i < out->first[at + 1]; i++) {
        uint32_t step = out->members[i];
        alu += m->costs[step].alu;
        texture += m->costs[step].texture;
        held = m->costs[step].held > held ? m->costs[step].held : held;
        operation.once |= m->needs.once[step];
        for (size_t n = m->first_need[step]; n < m->first_need[step + 1]; n++) {
            uint32_t of = out->operation_of[m->needs.needs[n].needs];
            if (of == at)
                continue;
            if (g->operand_of[of] != at + 1) {
                g->operand_of[of] = at + 1;
                g->operand_place[of] = operand_count;
                g->operands[operand_count++] = (struct pm_operand){.operation = of};
            }
            g->operands[g->operand_place[of]].value |= m->needs.needs[n].value;
        }
        for (size_t n = g->first_input[step]; n < g->first_input[step + 1]; n++) {
            uint32_t id = m->needs.inputs[n].variable;
            if (!g->input_number[id])
                g->input_number[id] =
                    pm_operations_add_input(&out->operations,
                                            input_kind(pm_ir_find(m->function->module, id))) +
                    1;
            if (g->input_of[id] != at + 1)
                g->inputs[input_count++] = g->input_number[id] - 1;
            g->input_of[id] = at + 1;
        }
    }
    const uint32_t given = output_components(m, at);
    const uint64_t words = value_words(m, at) + given;
    operation.result = given > 0;
    operation.alu = alu < UINT32_MAX ? (uint32_t)alu : UINT32_MAX;
    operation.texture = texture < UINT32_MAX ? (uint32_t)texture : UINT32_MAX;
    operation.held = held < UINT32_MAX ? (uint32_t)held : UINT32_MAX;
    operation.components = words < UINT32_MAX ? (uint32_t)words : UINT32_MAX;
    pm_operations_add(&out->operations, &operation, g->operands, operand_count, g->inputs,
                      input_count);
}

static bool make_operations(struct making *m)
{
    struct gathered g;
    pm_steps_mark(&m->out->steps);
    if (!make_gathered(m, &g))
        return out_of_memory(m);
    for (uint32_t o = 0; o < m->operations; o++)
        add_operation(m, &g, o);
    m->out->own = m->needs.own;
    return pm_operations_link(&m->out->operations) || out_of_memory(m);
}

bool pm_shader_graph_make(struct pm_ir_function *function, bool fragment, bool spill_own,
                          const struct pm_pass_limits *limits, struct pm_arena *arena,
                          struct pm_shader_graph *out, struct pm_error *error)
{
    struct making m = {
        .function = function, .limits = limits, .arena = arena, .out = out, .error = error};
    *out = (struct pm_shader_graph){.fragment = fragment};
    bool ok = (!spill_own || pm_own_memory_find(function, arena, &out->own_memory) ||
               out_of_memory(&m)) &&
              find_operations(&m) && make_operations(&m);
    pm_step_needs_finish(&m.needs);
    return ok;
}

struct visiting {
    const struct pm_shader_graph *graph;
    uint32_t step;
    void (*visit)(void *user, const struct pm_ir_def *value);
    void *user;
};

static void visit_value(const struct visiting *v, const struct pm_ir_def *def)
{
    uint32_t step = pm_step_of(&v->graph->steps, def);
    if (step == PM_NO_STEP || step == v->step)
        return;
    if (!v->graph->own[def->id]) {
        v->visit(v->user, def);
        return;
    }
    const struct pm_ir_instr *instr = def->instr;
    for (uint32_t o = 0; o < instr->operand_count; o++)
        if (instr->operands[o].def)
            visit_value(v, instr->operands[o].def);
}

static void visit_guards(const struct visiting *v, uint32_t guard)
{
    for (; guard != PM_NO_GUARD; guard = v->graph->steps.guards[guard].parent)
        visit_value(v, v->graph->steps.guards[guard].condition);
}

void pm_shader_graph_each_value(const struct pm_shader_graph *graph, uint32_t step,
                                void (*visit)(void *user, const struct pm_ir_def *value),
                                void *user)
{
    const struct visiting v = {.graph = graph, .step = step, .visit = visit, .user = user};
    struct pm_step_walk walk = pm_step_walk_begin(&graph->steps, step);
    while (pm_step_walk_next(&walk))
        for (uint32_t o = 0; o < walk.instr->operand_count; o++)
            if (walk.instr->operands[o].def)
                visit_value(&v, walk.instr->operands[o].def);
    if (graph->steps.steps[step].kind == PM_STEP_JOIN)
        visit_guards(&v, graph->steps.steps[step].opened);
    visit_guards(&v, graph->steps.steps[step].guard);
}
