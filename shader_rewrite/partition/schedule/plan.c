#include "shader_rewrite/partition/schedule/plan.h"

#include "shader_rewrite/partition/schedule/outputs.h"

#include <inttypes.h>
#include <stdlib.h>

void pm_plan_finish(struct pm_plan *plan)
{
    free(plan->operations);
    free(plan->passes);
    *plan = (struct pm_plan){0};
}

bool pm_plan_add(struct pm_plan *plan, uint32_t operation)
{
    if (plan->operation_count == plan->operation_capacity) {
        uint32_t capacity = plan->operation_capacity ? 2 * plan->operation_capacity : 256;
        uint32_t *grown = realloc(plan->operations, (size_t)capacity * sizeof(*grown));
        if (!grown)
            return false;
        plan->operations = grown;
        plan->operation_capacity = capacity;
    }
    plan->operations[plan->operation_count++] = operation;
    return true;
}

bool pm_plan_add_pass(struct pm_plan *plan)
{
    if (plan->pass_count == plan->pass_capacity) {
        uint32_t capacity = plan->pass_capacity ? 2 * plan->pass_capacity : 16;
        struct pm_plan_pass *grown = realloc(plan->passes, capacity * sizeof(*grown));
        if (!grown)
            return false;
        plan->passes = grown;
        plan->pass_capacity = capacity;
    }
    const struct pm_plan_pass *last = &plan->passes[plan->pass_count - 1];
    uint32_t first = plan->pass_count ? last->first + last->count : 0;
    plan->passes[plan->pass_count++] =
        (struct pm_plan_pass){.first = first, .count = plan->operation_count - first};
    return true;
}

/* All that is found out of a plan. Stamps are numbers of passes. */
struct check {
    const struct pm_operations *graph;
    const struct pm_pass_limits *limits;
    const struct pm_plan *plan;
    struct pm_plan_cost *cost;
    struct pm_plan_value *values;
    uint32_t *run_in;    /* by operation: the last pass that ran it */
    uint32_t *read_in;   /* by operation: the last pass that read it from an earlier one */
    uint32_t *last_use;  /* by operation: the place in the plan of the pass's last use */
    uint32_t *output_in; /* by output: the last pass that read it */
    uint32_t *input_in;  /* by input: the last pass that read it */
    uint32_t *order;     /* a pass's spilled values, those of fewer components behind */
    uint32_t output_count;
};

#define NONE UINT32_MAX

static bool init(struct check *c, struct pm_error *error)
{
    uint32_t **const by_operation[] = {&c->run_in, &c->read_in, &c->last_use, &c->order};
    bool ok = true;
    for (size_t i = 0; i < sizeof(by_operation) / sizeof(by_operation[0]); i++)
        ok &= (*by_operation[i] = calloc(c->graph->count + (size_t)1, sizeof(uint32_t))) != NULL;
    c->output_in = calloc(c->graph->count + (size_t)1, sizeof(uint32_t));
    c->input_in = calloc(c->graph->input_count + (size_t)1, sizeof(uint32_t));
    c->values = calloc(c->graph->count + (size_t)1, sizeof(*c->values));
    if (!ok || !c->output_in || !c->input_in || !c->values)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < c->graph->count; i++) {
        c->run_in[i] = c->read_in[i] = c->output_in[i] = NONE;
        c->values[i] = (struct pm_plan_value){.pass = NONE, .output = NONE};
    }
    for (uint32_t i = 0; i < c->graph->input_count; i++)
        c->input_in[i] = NONE;
    return true;
}

static void finish(struct check *c)
{
    free(c->run_in);
    free(c->read_in);
    free(c->last_use);
    free(c->order);
    free(c->output_in);
    free(c->input_in);
    free(c->values);
}

/* Who computes and who reads what, and whether all is there when it is needed. */
static bool find_values(struct check *c, struct pm_error *error)
{
    const struct pm_operations *graph = c->graph;
    for (uint32_t p = 0; p < c->plan->pass_count; p++) {
        const struct pm_plan_pass *pass = &c->plan->passes[p];
        for (uint32_t i = pass->first; i < pass->first + pass->count; i++) {
            uint32_t at = c->plan->operations[i];
            const struct pm_operation *operation = &graph->operations[at];
            for (uint32_t o = 0; o < operation->operand_count; o++) {
                const struct pm_operand *need = &graph->operands[operation->first_operand + o];
                struct pm_plan_value *value = &c->values[need->operation];
                if (value->pass == NONE)
                    return pm_fail(error, PM_ERROR_STATE,
                                   "pass %u: operation %u runs before %u, which it needs", p, at,
                                   need->operation);
                if (need->value && c->run_in[need->operation] != p)
                    value->last = p;
            }
            struct pm_plan_value *own = &c->values[at];
            if (own->pass != NONE && (operation->once || c->run_in[at] == p))
                return pm_fail(error, PM_ERROR_STATE, "pass %u: operation %u runs again", p, at);
            c->run_in[at] = p;
            if (own->pass == NONE)
                *own = (struct pm_plan_value){.pass = p, .last = p, .output = NONE};
        }
    }
    for (uint32_t i = 0; i < graph->count; i++)
        if (c->values[i].pass == NONE)
            return pm_fail(error, PM_ERROR_STATE, "no pass runs operation %u", i);
    return true;
}

/* Puts what a pass spills into outputs. Returns how many. */
static uint32_t place_outputs(struct check *c, uint32_t p)
{
    const struct pm_plan_pass *pass = &c->plan->passes[p];
    struct pm_outputs outputs = {0};
    uint32_t count[4] = {0}, start[4], total = 0;
    for (int again = 0; again < 2; again++) {
        for (uint32_t i = pass->first; i < pass->first + pass->count; i++) {
            uint32_t at = c->plan->operations[i];
            const struct pm_operation *operation = &c->graph->operations[at];
            bool spilled = c->values[at].last > p;
            if (c->values[at].pass != p || !operation->components ||
                !(spilled || operation->result))
                continue;
            uint32_t rest = operation->components % 4;
            if (again) {
                c->order[start[rest]++] = at;
                continue;
            }
            count[rest]++;
            pm_outputs_add(&outputs, operation->components);
            c->cost->spilled_components += spilled ? operation->components : 0;
        }
        for (uint32_t rest = 0; rest < 4 && !again; rest++) {
            start[rest] = total;
            total += count[rest];
        }
    }
    /* order: values of 4n components, then those with one, two and three over. */
    uint32_t single = count[0], single_end = single + count[1], pair_end = single_end + count[2];
    uint32_t next = c->output_count, filled = 0;
    for (uint32_t i = 0; i < count[0]; i++)
        c->values[c->order[i]].output = next++;
    for (uint32_t i = pair_end; i < total; i++, next++) {
        c->values[c->order[i]].output = next;
        if (single < single_end)
            c->values[c->order[single++]].output = next;
    }
    for (uint32_t i = single_end; i < pair_end; i++, filled += 2)
        c->values[c->order[i]].output = next + filled / 4;
    for (; single < single_end; single++, filled++)
        c->values[c->order[single]].output = next + filled / 4;
    c->output_count = next + (filled + 3) / 4;
    return pm_outputs_count(&outputs);
}

struct use {
    uint64_t alu, texture, reads, live, most_live;
    uint32_t inputs[PM_INPUT_KINDS];
};

/* A value of an earlier pass is read: what that takes, and it lives from here on. */
static void read_value(struct check *c, uint32_t p, uint32_t operation, struct use *use)
{
    if (c->read_in[operation] == p)
        return;
    c->read_in[operation] = p;
    uint32_t components = c->graph->operations[operation].components;
    uint32_t output = c->values[operation].output;
    use->live += components;
    uint32_t reads = components % 4 ? components / 4 : components / 4 - 1;
    if (c->output_in[output] != p)
        reads++;
    c->output_in[output] = p;
    use->reads += reads;
}

static void find_last_uses(struct check *c, const struct pm_plan_pass *pass)
{
    for (uint32_t i = pass->first; i < pass->first + pass->count; i++) {
        const struct pm_operation *operation = &c->graph->operations[c->plan->operations[i]];
        c->last_use[c->plan->operations[i]] = i;
        for (uint32_t o = 0; o < operation->operand_count; o++) {
            const struct pm_operand *operand = &c->graph->operands[operation->first_operand + o];
            if (operand->value)
                c->last_use[operand->operation] = i;
        }
    }
}

/* One operation of a pass. */
static void run(struct check *c, uint32_t p, uint32_t place, struct use *use)
{
    uint32_t at = c->plan->operations[place];
    const struct pm_operation *operation = &c->graph->operations[at];
    const struct pm_operand *operands =
        operation->operand_count > 0 ? &c->graph->operands[operation->first_operand] : NULL;
    for (uint32_t i = 0; i < operation->input_count; i++) {
        uint32_t input = c->graph->inputs[operation->first_input + i];
        use->inputs[c->graph->input_kinds[input]] += c->input_in[input] != p;
        c->input_in[input] = p;
    }
    for (uint32_t o = 0; o < operation->operand_count; o++)
        if (operands[o].value && c->run_in[operands[o].operation] != p)
            read_value(c, p, operands[o].operation, use);
    use->alu += operation->alu;
    use->texture += operation->texture;
    if (use->live + operation->held > use->most_live)
        use->most_live = use->live + operation->held;
    for (uint32_t o = 0; o < operation->operand_count; o++) {
        uint32_t of = operands[o].operation;
        const struct pm_plan_value *value = &c->values[of];
        bool kept = value->pass == p && (value->last > p || c->graph->operations[of].result);
        if (operands[o].value && c->last_use[of] == place && !kept)
            use->live -= c->graph->operations[of].components;
    }
    const struct pm_plan_value *own = &c->values[at];
    bool kept = own->pass == p && (own->last > p || operation->result);
    c->run_in[at] = p;
    if (c->last_use[at] > place || kept)
        use->live += operation->components;
    if (use->live > use->most_live)
        use->most_live = use->live;
}

static bool within(uint32_t p, const char *what, uint64_t used, uint32_t limit,
                   struct pm_error *error)
{
    return used <= limit || pm_fail(error, PM_ERROR_STATE, "pass %u takes %" PRIu64 " %s of %u", p,
                                    used, what, limit);
}

static bool check_pass(struct check *c, uint32_t p, struct pm_error *error)
{
    const struct pm_pass_limits *limits = c->limits;
    const struct pm_plan_pass *pass = &c->plan->passes[p];
    struct use use = {0};
    find_last_uses(c, pass);
    for (uint32_t i = pass->first; i < pass->first + pass->count; i++)
        run(c, p, i, &use);
    uint32_t outputs = place_outputs(c, p);
    if (limits->textures_hold_outputs) {
        use.texture += use.reads;
        use.inputs[PM_INPUT_TEXTURE] += (uint32_t)use.reads;
    }
    c->cost->alu += use.alu;
    c->cost->texture += use.texture;
    c->cost->reads += use.reads;
    c->cost->outputs += outputs;
    return within(p, "ALU operations", use.alu, limits->alu, error) &&
           within(p, "texture operations", use.texture, limits->texture, error) &&
           within(p, "temporaries", use.most_live, limits->temporaries, error) &&
           within(p, "varyings", use.inputs[PM_INPUT_VARYING], limits->varyings, error) &&
           within(p, "constants", use.inputs[PM_INPUT_CONSTANT], limits->constants, error) &&
           within(p, "textures", use.inputs[PM_INPUT_TEXTURE], limits->textures, error) &&
           within(p, "outputs", outputs, limits->outputs, error);
}

/* The components that are in memory between two passes. */
static bool find_most(struct check *c)
{
    uint32_t passes = c->plan->pass_count;
    int64_t *change = calloc(passes + (size_t)1, sizeof(*change));
    if (!change)
        return false;
    for (uint32_t i = 0; i < c->graph->count; i++)
        if (c->values[i].last > c->values[i].pass) {
            change[c->values[i].pass] += c->graph->operations[i].components;
            change[c->values[i].last] -= c->graph->operations[i].components;
        }
    int64_t now = 0;
    for (uint32_t p = 0; p < passes; p++) {
        now += change[p];
        if ((uint64_t)now > c->cost->most_components)
            c->cost->most_components = (uint64_t)now;
    }
    free(change);
    return true;
}

bool pm_plan_check(const struct pm_operations *graph, const struct pm_pass_limits *limits,
                   const struct pm_plan *plan, struct pm_plan_cost *cost,
                   struct pm_plan_value **values, struct pm_error *error)
{
    struct pm_plan_cost unused;
    struct check c = {
        .graph = graph, .limits = limits, .plan = plan, .cost = cost ? cost : &unused};
    *c.cost = (struct pm_plan_cost){.passes = plan->pass_count, .failed = NONE};
    bool ok = init(&c, error) && find_values(&c, error);
    for (uint32_t i = 0; i < graph->count && ok; i++)
        c.run_in[i] = NONE; /* anew, for the second walk */
    for (uint32_t p = 0; p < plan->pass_count && ok; p++) {
        ok = check_pass(&c, p, error);
        c.cost->failed = ok ? NONE : p;
    }
    if (ok && !find_most(&c))
        ok = pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (ok && values) {
        *values = c.values;
        c.values = NULL;
    }
    finish(&c);
    return ok;
}
