#include "shader_rewrite/partition/schedule/rds.h"

#include "shader_rewrite/partition/schedule/order.h"

#include <stdlib.h>
#include <string.h>

enum decision { BY_HEURISTIC, SAVE, COMPUTE_AGAIN };

/* More operands than this are not tried in all combinations: the largest is saved until the rest
 * fits. */
enum { MOST_COMBINED = 5 };

struct rds {
    const struct pm_operations *graph;
    const struct pm_pass_limits *limits;
    uint32_t *order; /* operations, operands first */
    bool *saved;
    enum decision *forced; /* by operation */
    struct pm_plan *plan;

    /* The region that is looked at: an operation and all that it is computed from in its pass. */
    uint32_t *region;
    uint32_t region_count;
    uint32_t stamp;
    uint32_t *seen;     /* by operation: the stamp of the last region that it is in, or reads */
    uint32_t *input_in; /* by input */
    uint32_t *users;    /* by operation: users in the region that are not behind */
    uint32_t *stack;
};

/* What a region takes. */
struct taken {
    uint64_t alu, texture, temporaries;
    uint32_t inputs[PM_INPUT_KINDS];
    bool once; /* it holds what may not run again */
};

/* Lists what `root` is computed from in one pass, operands first, and marks what it reads. */
static void collect(struct rds *r, uint32_t root)
{
    const struct pm_operations *graph = r->graph;
    uint32_t depth = 0;
    r->stamp++;
    r->region_count = 0;
    r->stack[depth++] = root;
    r->seen[root] = r->stamp;
    r->users[root] = 0; /* the next operand to visit, until it is listed */
    while (depth) {
        uint32_t at = r->stack[depth - 1];
        const struct pm_operation *operation = &graph->operations[at];
        uint32_t into = UINT32_MAX;
        while (r->users[at] < operation->operand_count && into == UINT32_MAX) {
            uint32_t of = graph->operands[operation->first_operand + r->users[at]++].operation;
            if (r->saved[of] || r->seen[of] == r->stamp)
                continue;
            into = of;
        }
        if (into != UINT32_MAX) {
            r->seen[into] = r->stamp;
            r->users[into] = 0;
            r->stack[depth++] = into;
            continue;
        }
        r->region[r->region_count++] = at;
        depth--;
    }
}

/* The temporaries that a region needs in its order. */
static uint64_t temporaries(struct rds *r)
{
    const struct pm_operations *graph = r->graph;
    uint64_t live = 0, most = 0;
    for (uint32_t i = 0; i < r->region_count; i++) {
        const struct pm_operation *operation = &graph->operations[r->region[i]];
        r->users[r->region[i]] = 0;
        for (uint32_t o = 0; o < operation->operand_count; o++)
            r->users[graph->operands[operation->first_operand + o].operation] = 0;
    }
    for (uint32_t i = 0; i < r->region_count; i++) {
        const struct pm_operation *operation = &graph->operations[r->region[i]];
        for (uint32_t o = 0; o < operation->operand_count; o++)
            r->users[graph->operands[operation->first_operand + o].operation]++;
    }
    for (uint32_t i = 0; i < r->region_count; i++) {
        const struct pm_operation *operation = &graph->operations[r->region[i]];
        uint64_t ends = 0;
        for (uint32_t o = 0; o < operation->operand_count; o++) {
            uint32_t of = graph->operands[operation->first_operand + o].operation;
            uint32_t components = graph->operations[of].components;
            if (r->saved[of] && r->seen[of] != r->stamp) {
                r->seen[of] = r->stamp; /* read here first */
                live += components;
            }
            if (--r->users[of] == 0)
                ends += components;
        }
        if (live + operation->held > most)
            most = live + operation->held;
        live = live - ends + operation->components;
        if (live > most)
            most = live;
    }
    return most;
}

/* g(n) of the paper: what it takes to compute `root` in one pass. */
static struct taken measure(struct rds *r, uint32_t root)
{
    const struct pm_operations *graph = r->graph;
    struct taken taken = {0};
    uint64_t reads = 0;
    collect(r, root);
    uint32_t in_region = r->stamp;
    for (uint32_t i = 0; i < r->region_count; i++) {
        const struct pm_operation *operation = &graph->operations[r->region[i]];
        taken.alu += operation->alu;
        taken.texture += operation->texture;
        taken.once |= operation->once;
        for (uint32_t n = 0; n < operation->input_count; n++) {
            uint32_t input = graph->inputs[operation->first_input + n];
            taken.inputs[graph->input_kinds[input]] += r->input_in[input] != in_region;
            r->input_in[input] = in_region;
        }
    }
    taken.temporaries = temporaries(r);
    r->stamp++;
    for (uint32_t i = 0; i < r->region_count; i++) {
        const struct pm_operation *operation = &graph->operations[r->region[i]];
        for (uint32_t o = 0; o < operation->operand_count; o++) {
            uint32_t of = graph->operands[operation->first_operand + o].operation;
            reads += r->saved[of] && r->seen[of] != r->stamp;
            if (r->saved[of])
                r->seen[of] = r->stamp;
        }
    }
    if (r->limits->textures_hold_outputs) {
        taken.texture += reads;
        taken.inputs[PM_INPUT_TEXTURE] += (uint32_t)reads;
    }
    return taken;
}

/* Whether what it takes is within 1/part of a pass. */
static bool within(const struct taken *taken, const struct pm_pass_limits *limits, uint32_t part)
{
    return taken->alu <= limits->alu / part && taken->texture <= limits->texture / part &&
           taken->temporaries <= limits->temporaries / part &&
           taken->inputs[PM_INPUT_VARYING] <= limits->varyings / part &&
           taken->inputs[PM_INPUT_CONSTANT] <= limits->constants / part &&
           taken->inputs[PM_INPUT_TEXTURE] <= limits->textures / part;
}

static bool fits(struct rds *r, uint32_t root)
{
    struct taken taken = measure(r, root);
    return within(&taken, r->limits, 1);
}

/* Ends a pass with the value of an operation. */
static bool save(struct rds *r, uint32_t operation)
{
    collect(r, operation);
    for (uint32_t i = 0; i < r->region_count; i++)
        if (!pm_plan_add(r->plan, r->region[i]))
            return false;
    r->saved[operation] = true;
    return pm_plan_add_pass(r->plan);
}

/* The operands that are computed in the operation's pass as things stand. */
static uint32_t open_operands(const struct rds *r, const struct pm_operation *operation,
                              uint32_t *list, uint32_t most)
{
    uint32_t count = 0;
    for (uint32_t o = 0; o < operation->operand_count; o++) {
        uint32_t of = r->graph->operands[operation->first_operand + o].operation;
        if (r->saved[of])
            continue;
        if (count < most)
            list[count] = of;
        count++;
    }
    return count;
}

/* Saves as few operands as it takes: of all combinations, the one that keeps most operands, and of
 * those most operations. false: none fits. */
static bool choose_saved(struct rds *r, uint32_t at, const uint32_t *list, uint32_t count,
                         uint32_t *chosen)
{
    uint32_t best_kept = 0;
    uint64_t best_alu = 0;
    bool found = false;
    for (uint32_t mask = 1; mask < 1u << count; mask++) { /* saved ones */
        uint32_t kept = count - (uint32_t)__builtin_popcount(mask);
        if (found && kept < best_kept)
            continue;
        for (uint32_t i = 0; i < count; i++)
            r->saved[list[i]] = mask >> i & 1;
        struct taken taken = measure(r, at);
        if (!within(&taken, r->limits, 1) || (found && kept == best_kept && taken.alu <= best_alu))
            continue;
        found = true;
        best_kept = kept;
        best_alu = taken.alu;
        *chosen = mask;
    }
    for (uint32_t i = 0; i < count; i++)
        r->saved[list[i]] = false;
    return found;
}

/* Saves the operand with the largest region. */
static bool save_largest(struct rds *r, const struct pm_operation *operation)
{
    uint32_t largest = UINT32_MAX, most = 0;
    for (uint32_t o = 0; o < operation->operand_count; o++) {
        uint32_t of = r->graph->operands[operation->first_operand + o].operation;
        if (r->saved[of])
            continue;
        collect(r, of);
        if (r->region_count > most) {
            most = r->region_count;
            largest = of;
        }
    }
    return save(r, largest);
}

/* Merges an operation with what it is computed from, saving what does not fit. */
static bool merge(struct rds *r, uint32_t at, struct pm_error *error)
{
    const struct pm_operation *operation = &r->graph->operations[at];
    bool ok = true;
    while (ok && !fits(r, at)) {
        uint32_t list[MOST_COMBINED], mask = 0;
        uint32_t count = open_operands(r, operation, list, MOST_COMBINED);
        bool chosen = count && count <= MOST_COMBINED && choose_saved(r, at, list, count, &mask);
        if (!count || (count <= MOST_COMBINED && !chosen))
            return pm_fail(error, PM_ERROR_UNSUPPORTED, "no pass has room for operation %u", at);
        if (count > MOST_COMBINED)
            ok = save_largest(r, operation);
        for (uint32_t i = 0; i < count && ok && chosen; i++)
            if (mask >> i & 1)
                ok = save(r, list[i]);
    }
    return ok || pm_fail(error, PM_ERROR_MEMORY, "out of memory");
}

/* Whether the value is saved, rather than computed again for each user. */
static bool is_saved(struct rds *r, uint32_t at)
{
    const struct pm_operation *operation = &r->graph->operations[at];
    if (operation->result || !operation->user_count)
        return true;
    if (operation->user_count == 1)
        return false;
    struct taken taken = measure(r, at);
    if (taken.once)
        return true;
    if (r->forced[at] != BY_HEURISTIC)
        return r->forced[at] == SAVE;
    return !within(&taken, r->limits, 2);
}

static bool run(struct rds *r, struct pm_error *error)
{
    r->plan->operation_count = r->plan->pass_count = 0;
    memset(r->saved, 0, r->graph->count * sizeof(*r->saved));
    for (uint32_t i = 0; i < r->graph->count; i++) {
        uint32_t at = r->order[i];
        if (!merge(r, at, error))
            return false;
        if (is_saved(r, at) && !save(r, at))
            return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    }
    return true;
}

/* RDS: both decisions for each value with several users, the others as they are. */
static bool search_decisions(struct rds *r, struct pm_error *error)
{
    struct pm_plan_cost best = {0};
    if (!run(r, error) || !pm_plan_check(r->graph, r->limits, r->plan, &best, NULL, error))
        return false;
    for (uint32_t i = 0; i < r->graph->count; i++) {
        uint32_t at = r->order[i];
        if (r->graph->operations[at].user_count < 2 || r->graph->operations[at].result)
            continue;
        enum decision kept = BY_HEURISTIC;
        for (enum decision tried = SAVE; tried <= COMPUTE_AGAIN; tried++) {
            struct pm_plan_cost cost;
            struct pm_error unfit;
            r->forced[at] = tried;
            if (!run(r, &unfit) ||
                !pm_plan_check(r->graph, r->limits, r->plan, &cost, NULL, &unfit)) {
                if (unfit.code == PM_ERROR_MEMORY)
                    return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
                continue; /* computed again it fits nowhere */
            }
            bool fewer =
                cost.passes < best.passes ||
                (cost.passes == best.passes && cost.alu + cost.texture < best.alu + best.texture);
            if (!fewer)
                continue;
            best = cost;
            kept = tried;
        }
        r->forced[at] = kept;
    }
    return run(r, error);
}

static bool is_graph_for_it(const struct pm_operations *graph, bool search, struct pm_error *error)
{
    if (search && graph->count > PM_RDS_MOST_OPERATIONS)
        return pm_fail(error, PM_ERROR_UNSUPPORTED, "%u operations are too many to search, of %u",
                       graph->count, PM_RDS_MOST_OPERATIONS);
    for (uint32_t i = 0; i < graph->count; i++) {
        const struct pm_operation *operation = &graph->operations[i];
        if (!operation->components || operation->components > 4)
            return pm_fail(error, PM_ERROR_UNSUPPORTED,
                           "operation %u has no value of 1 to 4 components", i);
    }
    return true;
}

static uint32_t *make_order(const struct pm_operations *graph)
{
    uint32_t *place = pm_order_places(graph, PM_ORDER_SETHI_ULLMAN);
    uint32_t *order = malloc((graph->count + (size_t)1) * sizeof(*order));
    for (uint32_t i = 0; i < graph->count && place && order; i++)
        order[place[i]] = i;
    if (!place) {
        free(order);
        order = NULL;
    }
    free(place);
    return order;
}

bool pm_rds(const struct pm_operations *graph, const struct pm_pass_limits *limits, bool search,
            struct pm_plan *plan, struct pm_error *error)
{
    if (!is_graph_for_it(graph, search, error))
        return false;
    const size_t count = graph->count + (size_t)1;
    struct rds r = {
        .graph = graph,
        .limits = limits,
        .plan = plan,
        .order = make_order(graph),
        .saved = calloc(count, sizeof(*r.saved)),
        .forced = calloc(count, sizeof(*r.forced)),
        .region = calloc(count, sizeof(*r.region)),
        .seen = calloc(count, sizeof(*r.seen)),
        .input_in = calloc(graph->input_count + (size_t)1, sizeof(*r.input_in)),
        .users = calloc(count, sizeof(*r.users)),
        .stack = calloc(count, sizeof(*r.stack)),
    };
    bool ok =
        r.order && r.saved && r.forced && r.region && r.seen && r.input_in && r.users && r.stack;
    if (!ok)
        pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    ok = ok && (search ? search_decisions(&r, error) : run(&r, error));
    free(r.order);
    free(r.saved);
    free(r.forced);
    free(r.region);
    free(r.seen);
    free(r.input_in);
    free(r.users);
    free(r.stack);
    return ok;
}
