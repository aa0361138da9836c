#include "shader_rewrite/partition/schedule/beyond.h"

#include "base/stop.h"
#include "shader_rewrite/partition/schedule/improve.h"
#include "shader_rewrite/partition/schedule/mio.h"

#include <math.h>

/* In operations: a spilled component is a store and a load, and what a pass costs on lavapipe is in
 * docs/results/partition.md (Figure 2). Where reads of outputs count as texture operations a load
 * counts there as well. */
static const double SPILL_WORTH = 2, PASS_WORTH = 50;

/* A pass may end one operation earlier for each component that is spilled less. */
static const double SPILL_WEIGHT = 1;

/* What is computed again takes no more operations than its store and load, and as much once more
 * for what it then keeps alive. */
enum { MOST_AGAIN = 4 };

static double cost_of(const struct pm_plan_cost *cost)
{
    return (double)cost->alu + (double)cost->texture +
           SPILL_WORTH * (double)cost->spilled_components + PASS_WORTH * cost->passes;
}

struct trying {
    const struct pm_operations *graph;
    const struct pm_pass_limits *limits;
    struct pm_plan *best;
    double cost;           /* of the best */
    bool found;            /* there is one */
    struct pm_error error; /* of the first that failed */
};

/* Keeps a plan if it takes less than the best. false: not for lack of room. */
static bool try_plan(struct trying *t, enum pm_order order, double spill_weight)
{
    const struct pm_mio_options options = {.order = order, .spill_weight = spill_weight};
    struct pm_error error = {0};
    struct pm_plan plan = {0};
    struct pm_plan_cost takes;
    bool ok = pm_stop_check(&error) && pm_mio(t->graph, t->limits, &options, &plan, &error) &&
              pm_plan_check(t->graph, t->limits, &plan, &takes, NULL, &error);
    if (ok && (!t->found || cost_of(&takes) < t->cost)) {
        const struct pm_plan worse = *t->best;
        *t->best = plan;
        plan = worse;
        t->cost = cost_of(&takes);
        t->found = true;
    }
    pm_plan_finish(&plan);
    /* What one of them has no room for another may have. */
    const bool no_room = !ok && error.code == PM_ERROR_UNSUPPORTED;
    if (!ok && (!no_room || !t->error.code))
        t->error = error;
    return ok || no_room;
}

bool pm_beyond(const struct pm_operations *graph, const struct pm_pass_limits *limits,
               struct pm_plan *plan, struct pm_error *error)
{
    struct trying t = {.graph = graph, .limits = limits, .best = plan};
    bool ok = try_plan(&t, PM_ORDER_SETHI_ULLMAN, SPILL_WEIGHT);
    const double deep = t.found ? t.cost : INFINITY;
    ok = ok && try_plan(&t, PM_ORDER_PROGRAM, SPILL_WEIGHT);
    const enum pm_order better =
        t.found && t.cost < deep ? PM_ORDER_PROGRAM : PM_ORDER_SETHI_ULLMAN;
    ok = ok && try_plan(&t, better, 0);
    if (!ok || !t.found) {
        if (error)
            *error = t.error;
        return false;
    }
    uint32_t spared;
    return pm_plan_compute_again(graph, limits, MOST_AGAIN, plan, &spared, error) &&
           pm_plan_order_passes(graph, limits, plan, error);
}
