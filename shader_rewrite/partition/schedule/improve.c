#include "shader_rewrite/partition/schedule/improve.h"

#include <stdlib.h>
#include <string.h>

/* A value may be computed again from so many operations, and so often passes are found too full. */
enum { MOST_CONE = 16, MOST_ROUNDS = 32 };

struct again {
    const struct pm_operations *graph;
    const struct pm_plan *plan;
    const struct pm_plan_value *values;
    uint32_t most_alu;
    bool *closed;      /* by pass: nothing is added to it any more */
    bool *chosen;      /* by operation: computed again wherever it is needed */
    uint32_t *run_in;  /* by operation: the last pass that has run it, while passes are walked */
    uint32_t *read_in; /* by operation: the last pass known to read it from an earlier one */
    uint32_t spared;

    uint32_t cone[MOST_CONE]; /* what it takes to compute a value, operands first */
    uint32_t cone_count, cone_alu;
};

static bool is_pure(const struct pm_operations *graph, uint32_t at)
{
    const struct pm_operation *operation = &graph->operations[at];
    if (operation->once || operation->texture || operation->result || operation->held)
        return false;
    for (uint32_t o = 0; o < operation->operand_count; o++)
        if (!graph->operands[operation->first_operand + o].value)
            return false;
    return true;
}

/* Adds what computes `at` in a pass to the cone. false: it would read what the pass does not. */
static bool add_to_cone(struct again *a, uint32_t at, uint32_t pass)
{
    const struct pm_operation *operation = &a->graph->operations[at];
    for (uint32_t i = 0; i < a->cone_count; i++)
        if (a->cone[i] == at)
            return true;
    a->cone_alu += operation->alu;
    if (!is_pure(a->graph, at) || a->cone_alu > a->most_alu)
        return false;
    for (uint32_t o = 0; o < operation->operand_count; o++) {
        uint32_t of = a->graph->operands[operation->first_operand + o].operation;
        bool there = a->run_in[of] == pass || (a->read_in[of] == pass && !a->chosen[of]);
        if (!there && !add_to_cone(a, of, pass))
            return false;
    }
    if (a->cone_count == MOST_CONE)
        return false;
    a->cone[a->cone_count++] = at;
    return true;
}

/* Calls what is said for each value that a pass reads from an earlier one, at its first use, and
 * marks what has run. */
static bool walk(struct again *a, bool (*at_use)(struct again *a, uint32_t pass, uint32_t value),
                 bool (*at_operation)(struct again *a, uint32_t operation),
                 bool (*at_end)(struct again *a))
{
    const struct pm_operations *graph = a->graph;
    memset(a->run_in, 0xff, graph->count * sizeof(*a->run_in));
    memset(a->read_in, 0xff, graph->count * sizeof(*a->read_in));
    for (uint32_t p = 0; p < a->plan->pass_count; p++) {
        const struct pm_plan_pass *pass = &a->plan->passes[p];
        for (uint32_t i = pass->first; i < pass->first + pass->count; i++) {
            uint32_t at = a->plan->operations[i];
            const struct pm_operation *operation = &graph->operations[at];
            for (uint32_t o = 0; o < operation->operand_count; o++) {
                const struct pm_operand *operand = &graph->operands[operation->first_operand + o];
                uint32_t of = operand->operation;
                if (!operand->value || a->run_in[of] == p || a->read_in[of] == p)
                    continue;
                if (!at_use(a, p, of))
                    return false;
                if (a->run_in[of] != p)
                    a->read_in[of] = p;
            }
            a->run_in[at] = p;
            if (at_operation && !at_operation(a, at))
                return false;
        }
        if (at_end && !at_end(a))
            return false;
    }
    return true;
}

/* A value stays chosen only where each of its readers can compute it. */
static bool judge(struct again *a, uint32_t pass, uint32_t value)
{
    a->cone_count = a->cone_alu = 0;
    if (a->chosen[value] && (a->closed[pass] || !add_to_cone(a, value, pass)))
        a->chosen[value] = false;
    return true;
}

struct rewrite {
    struct again again; /* first: what walk() hands around */
    struct pm_plan *out;
};

static bool copy_cone(struct again *a, uint32_t pass, uint32_t value)
{
    struct rewrite *rewrite = (struct rewrite *)a;
    a->cone_count = a->cone_alu = 0;
    if (!a->chosen[value] || !add_to_cone(a, value, pass))
        return true;
    for (uint32_t i = 0; i < a->cone_count; i++) {
        if (!pm_plan_add(rewrite->out, a->cone[i]))
            return false;
        a->run_in[a->cone[i]] = pass;
    }
    return true;
}

static bool copy_operation(struct again *a, uint32_t operation)
{
    return pm_plan_add(((struct rewrite *)a)->out, operation);
}

static bool copy_end(struct again *a)
{
    return pm_plan_add_pass(((struct rewrite *)a)->out);
}

/* Chooses values, and writes the plan in which they are computed again. */
static bool attempt(struct rewrite *rewrite)
{
    struct again *a = &rewrite->again;
    rewrite->out->operation_count = rewrite->out->pass_count = 0;
    a->spared = 0;
    for (uint32_t i = 0; i < a->graph->count; i++)
        a->chosen[i] = a->values[i].last > a->values[i].pass && is_pure(a->graph, i);
    /* What is not chosen any more is read, so that others may be computed from it, or is not there
     * for them: twice. */
    if (!walk(a, judge, NULL, NULL) || !walk(a, judge, NULL, NULL))
        return false;
    for (uint32_t i = 0; i < a->graph->count; i++)
        a->spared += a->chosen[i];
    return walk(a, copy_cone, copy_operation, copy_end);
}

static bool init(struct again *a)
{
    size_t count = a->graph->count + (size_t)1;
    a->closed = calloc(a->plan->pass_count + (size_t)1, sizeof(*a->closed));
    a->chosen = calloc(count, sizeof(*a->chosen));
    a->run_in = calloc(count, sizeof(*a->run_in));
    a->read_in = calloc(count, sizeof(*a->read_in));
    return a->closed && a->chosen && a->run_in && a->read_in;
}

bool pm_plan_compute_again(const struct pm_operations *graph, const struct pm_pass_limits *limits,
                           uint32_t most_alu, struct pm_plan *plan, uint32_t *spared,
                           struct pm_error *error)
{
    struct pm_plan out = {0};
    struct pm_plan_value *values = NULL;
    struct pm_plan_cost before, cost;
    struct rewrite rewrite = {.again = {.graph = graph, .plan = plan, .most_alu = most_alu},
                              .out = &out};
    *spared = 0;
    bool ok = pm_plan_check(graph, limits, plan, &before, &values, error);
    rewrite.again.values = values;
    if (ok && !init(&rewrite.again))
        ok = pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    bool better = false;
    for (int round = 0; round < MOST_ROUNDS && ok && !better; round++) {
        struct pm_error unfit;
        if (!attempt(&rewrite))
            ok = pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        else if (!rewrite.again.spared)
            break;
        else if (pm_plan_check(graph, limits, &out, &cost, NULL, &unfit))
            better = cost.spilled_components < before.spilled_components;
        else if (unfit.code == PM_ERROR_MEMORY)
            ok = pm_fail(error, PM_ERROR_MEMORY, "out of memory");
        else if (cost.failed != UINT32_MAX)
            rewrite.again.closed[cost.failed] = true;
        else
            break;
        if (ok && !better && cost.failed == UINT32_MAX)
            break;
    }
    if (ok && better) {
        struct pm_plan old = *plan;
        *plan = out;
        out = old;
        *spared = rewrite.again.spared;
    }
    pm_plan_finish(&out);
    free(values);
    free(rewrite.again.closed);
    free(rewrite.again.chosen);
    free(rewrite.again.run_in);
    free(rewrite.again.read_in);
    return ok;
}
