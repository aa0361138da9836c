#include "shader_rewrite/partition/schedule/improve.h"

#include <stdlib.h>

/* One pass reads from or must follow another. */
struct edge {
    uint32_t from, to;
    uint32_t value; /* UINT32_MAX: only the order */
};

struct passes {
    const struct pm_operations *graph;
    const struct pm_plan *plan;
    const struct pm_plan_value *values;
    struct edge *edges; /* by `to` */
    uint32_t edge_count, edge_capacity;
    uint32_t *first;   /* by pass: its edges; one more */
    uint32_t *readers; /* by operation: passes that have yet to read it */
    uint32_t *place;   /* by pass: where it comes; UINT32_MAX: not yet */
    uint64_t *gives;   /* by pass: components that it spills */
    uint32_t *new_order;
};

static void finish(struct passes *s)
{
    free(s->edges);
    free(s->first);
    free(s->readers);
    free(s->place);
    free(s->gives);
    free(s->new_order);
}

static bool add_edge(struct passes *s, uint32_t from, uint32_t to, uint32_t value)
{
    if (s->edge_count == s->edge_capacity) {
        uint32_t capacity = s->edge_capacity ? 2 * s->edge_capacity : 64;
        struct edge *grown = realloc(s->edges, capacity * sizeof(*grown));
        if (!grown)
            return false;
        s->edges = grown;
        s->edge_capacity = capacity;
    }
    s->edges[s->edge_count++] = (struct edge){.from = from, .to = to, .value = value};
    return true;
}

/* The edges into one pass, each value once. read_in: by operation, the last pass that read it. */
static bool add_edges(struct passes *s, uint32_t p, uint32_t *run_in, uint32_t *read_in)
{
    const struct pm_plan_pass *pass = &s->plan->passes[p];
    s->first[p] = s->edge_count;
    for (uint32_t i = pass->first; i < pass->first + pass->count; i++) {
        uint32_t at = s->plan->operations[i];
        const struct pm_operation *operation = &s->graph->operations[at];
        for (uint32_t o = 0; o < operation->operand_count; o++) {
            const struct pm_operand *operand = &s->graph->operands[operation->first_operand + o];
            uint32_t of = operand->operation;
            if (run_in[of] == p || read_in[of] == p)
                continue;
            bool value = operand->value && s->graph->operations[of].components;
            if (!add_edge(s, s->values[of].pass, p, value ? of : UINT32_MAX))
                return false;
            if (value) {
                read_in[of] = p;
                s->readers[of]++;
            }
        }
        run_in[at] = p;
    }
    return true;
}

static bool find_edges(struct passes *s)
{
    size_t count = s->graph->count + (size_t)1, passes = s->plan->pass_count + (size_t)1;
    uint32_t *run_in = malloc(count * sizeof(*run_in)), *read_in = malloc(count * sizeof(*read_in));
    s->first = calloc(passes, sizeof(*s->first));
    s->readers = calloc(count, sizeof(*s->readers));
    s->place = malloc(passes * sizeof(*s->place));
    s->gives = calloc(passes, sizeof(*s->gives));
    s->new_order = calloc(passes, sizeof(*s->new_order));
    bool ok = run_in && read_in && s->first && s->readers && s->place && s->gives && s->new_order;
    for (uint32_t i = 0; i < s->graph->count && ok; i++) {
        run_in[i] = read_in[i] = UINT32_MAX;
        if (s->values[i].last > s->values[i].pass)
            s->gives[s->values[i].pass] += s->graph->operations[i].components;
    }
    for (uint32_t p = 0; p < s->plan->pass_count && ok; p++) {
        s->place[p] = UINT32_MAX;
        ok = add_edges(s, p, run_in, read_in);
    }
    if (ok)
        s->first[s->plan->pass_count] = s->edge_count;
    free(run_in);
    free(read_in);
    return ok;
}

/* What more lies in memory behind a pass than before it; false: it cannot run yet. */
static bool change(const struct passes *s, uint32_t p, int64_t *by)
{
    *by = (int64_t)s->gives[p];
    for (uint32_t e = s->first[p]; e < s->first[p + 1]; e++) {
        const struct edge *edge = &s->edges[e];
        if (s->place[edge->from] == UINT32_MAX)
            return false;
        if (edge->value != UINT32_MAX && s->readers[edge->value] == 1)
            *by -= s->graph->operations[edge->value].components;
    }
    return true;
}

static void choose(struct passes *s)
{
    for (uint32_t n = 0; n < s->plan->pass_count; n++) {
        uint32_t best = UINT32_MAX;
        int64_t best_by = 0, by;
        for (uint32_t p = 0; p < s->plan->pass_count; p++)
            if (s->place[p] == UINT32_MAX && change(s, p, &by) &&
                (best == UINT32_MAX || by < best_by)) {
                best = p;
                best_by = by;
            }
        s->place[best] = n;
        s->new_order[n] = best;
        for (uint32_t e = s->first[best]; e < s->first[best + 1]; e++)
            if (s->edges[e].value != UINT32_MAX)
                s->readers[s->edges[e].value]--;
    }
}

static bool write(const struct passes *s, struct pm_plan *out)
{
    bool ok = true;
    for (uint32_t n = 0; n < s->plan->pass_count && ok; n++) {
        const struct pm_plan_pass *pass = &s->plan->passes[s->new_order[n]];
        for (uint32_t i = pass->first; i < pass->first + pass->count && ok; i++)
            ok = pm_plan_add(out, s->plan->operations[i]);
        ok = ok && pm_plan_add_pass(out);
    }
    return ok;
}

bool pm_plan_order_passes(const struct pm_operations *graph, const struct pm_pass_limits *limits,
                          struct pm_plan *plan, struct pm_error *error)
{
    struct pm_plan_value *values = NULL;
    struct pm_plan_cost before, cost;
    struct pm_plan out = {0};
    if (plan->pass_count > PM_PLAN_MOST_ORDERED || plan->pass_count < 3)
        return true;
    if (!pm_plan_check(graph, limits, plan, &before, &values, error))
        return false;
    struct passes s = {.graph = graph, .plan = plan, .values = values};
    bool ok = find_edges(&s);
    if (ok) {
        choose(&s);
        ok = write(&s, &out);
    }
    if (!ok)
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    /* Another order may place outputs otherwise; whatever does not fit then stays as it was. */
    struct pm_error unfit = {0};
    const bool fits = ok && pm_plan_check(graph, limits, &out, &cost, NULL, &unfit);
    if (unfit.code == PM_ERROR_MEMORY)
        ok = pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    if (fits && cost.most_components < before.most_components) {
        struct pm_plan old = *plan;
        *plan = out;
        out = old;
    }
    finish(&s);
    pm_plan_finish(&out);
    free(values);
    return ok;
}
