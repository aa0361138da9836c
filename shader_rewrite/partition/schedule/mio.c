#include "shader_rewrite/partition/schedule/mio.h"

#include "shader_rewrite/partition/schedule/pass_state.h"
#include "shader_rewrite/partition/schedule/ready_list.h"

#include <stdlib.h>

struct mio {
    const struct pm_operations *graph;
    const struct pm_mio_options *options;
    struct pm_pass_state state;
    struct pm_ready_list ready;
    uint32_t *place;    /* by operation: in the order */
    uint32_t *by_place; /* operations in the order; in_order only */
    uint32_t next;      /* in by_place */
    uint32_t *pass;     /* the operations of the pass that is being filled */
    uint64_t *spills;   /* by their places in it: components that live behind each */
    bool *within;       /* likewise: whether the outputs suffice there */
    uint32_t count;
    uint32_t *put_off; /* operations that do not fit this pass */
    uint32_t put_off_count;
    const char *why; /* what the last one that did not fit had no room for */
};

static void finish(struct mio *m)
{
    pm_pass_state_finish(&m->state);
    pm_ready_list_finish(&m->ready);
    free(m->place);
    free(m->by_place);
    free(m->pass);
    free(m->spills);
    free(m->within);
    free(m->put_off);
}

static bool init(struct mio *m, const struct pm_pass_limits *limits)
{
    const size_t count = m->graph->count + (size_t)1;
    const enum pm_order order = m->options->in_order ? PM_ORDER_SETHI_ULLMAN : m->options->order;
    bool ok = pm_pass_state_init(&m->state, m->graph, limits);
    m->place = pm_order_places(m->graph, order);
    m->by_place = malloc(count * sizeof(*m->by_place));
    m->pass = malloc(count * sizeof(*m->pass));
    m->spills = malloc(count * sizeof(*m->spills));
    m->within = malloc(count * sizeof(*m->within));
    m->put_off = malloc(count * sizeof(*m->put_off));
    ok = ok && m->place && m->by_place && m->pass && m->spills && m->within && m->put_off;
    ok = pm_ready_list_init(&m->ready, m->place, m->graph->count) && ok;
    for (uint32_t i = 0; i < m->graph->count && ok; i++) {
        m->by_place[m->place[i]] = i;
        if (!m->options->in_order && !m->graph->operations[i].operand_count)
            pm_ready_list_add(&m->ready, i);
    }
    return ok;
}

/* The next one to try; UINT32_MAX: none is ready. */
static uint32_t take(struct mio *m)
{
    if (m->options->in_order)
        return m->next < m->graph->count ? m->by_place[m->next++] : UINT32_MAX;
    while (m->ready.count) {
        uint32_t at = pm_ready_list_take(&m->ready);
        if (!m->state.missing[at]) /* else what it needs was taken out again */
            return at;
    }
    return UINT32_MAX;
}

static void put_back(struct mio *m, uint32_t operation)
{
    if (m->options->in_order)
        m->next--;
    else
        pm_ready_list_add(&m->ready, operation);
}

static void scheduled(struct mio *m, uint32_t operation)
{
    const struct pm_operation *of = &m->graph->operations[operation];
    m->spills[m->count] = m->state.outputs.components;
    m->within[m->count] = pm_outputs_count(&m->state.outputs) <= m->state.limits->outputs;
    m->pass[m->count++] = operation;
    for (uint32_t u = 0; u < of->user_count && !m->options->in_order; u++) {
        uint32_t user = m->graph->users[of->first_user + u];
        if (!m->state.missing[user])
            pm_ready_list_add(&m->ready, user);
    }
}

/* Schedules what fits. */
static void fill(struct mio *m)
{
    uint32_t at;
    m->count = 0;
    while ((at = take(m)) != UINT32_MAX) {
        enum pm_fit fit = pm_pass_state_add(&m->state, at, &m->why);
        if (fit == PM_FITS) {
            scheduled(m, at);
        } else if (fit == PM_FIT_FULL || m->options->in_order) {
            put_back(m, at);
            break;
        } else {
            m->put_off[m->put_off_count++] = at;
        }
    }
    while (m->put_off_count)
        pm_ready_list_add(&m->ready, m->put_off[--m->put_off_count]);
}

/* How many of the pass's operations stay: as many as the outputs suffice for (Mio's rollback), or
 * fewer where that spills less. */
static uint32_t choose_end(const struct mio *m, bool last)
{
    uint32_t most = m->count;
    while (most && !m->within[most - 1])
        most--;
    if (last && most == m->count)
        return most;
    uint32_t best = most;
    double best_cost = 0;
    for (uint32_t end = most; end && end >= most - most / 4; end--) {
        if (!m->within[end - 1])
            continue;
        double cost = m->options->spill_weight * (double)m->spills[end - 1] + (most - end);
        if (end == most || cost < best_cost) {
            best = end;
            best_cost = cost;
        }
        if (m->options->spill_weight <= 0)
            break;
    }
    return best;
}

static bool end_pass(struct mio *m, bool last, struct pm_plan *plan, struct pm_error *error)
{
    uint32_t end = choose_end(m, last);
    if (!end) {
        const char *why = m->count ? "outputs" : m->why;
        uint32_t at = m->count ? m->pass[0] : m->options->in_order ? m->by_place[m->next] : take(m);
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "no pass has room for the %s of operation %u",
                       why, at);
    }
    for (uint32_t i = m->count; i > end; i--)
        pm_pass_state_remove(&m->state, m->pass[i - 1]);
    for (uint32_t i = m->count; i > end; i--) {
        if (m->options->in_order)
            m->next--;
        else if (!m->state.missing[m->pass[i - 1]])
            pm_ready_list_add(&m->ready, m->pass[i - 1]);
    }
    pm_pass_state_end(&m->state, m->pass, end);
    bool ok = true;
    for (uint32_t i = 0; i < end; i++)
        ok = ok && pm_plan_add(plan, m->pass[i]);
    ok = ok && pm_plan_add_pass(plan);
    return ok || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

bool pm_mio(const struct pm_operations *graph, const struct pm_pass_limits *limits,
            const struct pm_mio_options *options, struct pm_plan *plan, struct pm_error *error)
{
    struct mio m = {.graph = graph, .options = options, .why = "operations"};
    bool ok = init(&m, limits) || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    while (ok && plan->operation_count < graph->count) {
        fill(&m);
        ok = end_pass(&m, plan->operation_count + m.count == graph->count, plan, error);
    }
    finish(&m);
    return ok;
}
