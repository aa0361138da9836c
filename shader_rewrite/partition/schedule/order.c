#include "shader_rewrite/partition/schedule/order.h"

#include <stdlib.h>
#include <string.h>

/* An operand, by how much it needs beyond what is left of it. */
struct child {
    uint64_t need, components;
    uint32_t operation;
};

/* A depth-first walk's arrays, by operation. */
struct walk {
    const struct pm_operations *graph;
    uint64_t *need;         /* the registers that its subtree needs */
    struct child *children; /* of the one at hand */
    uint32_t *sorted;       /* operands, by operation, in the order in which they are visited */
};

static int by_need(const void *a, const void *b)
{
    const struct child *x = a, *y = b;
    uint64_t x_more = x->need - x->components, y_more = y->need - y->components;
    if (x_more != y_more)
        return x_more < y_more ? 1 : -1;
    return x->operation < y->operation ? -1 : 1;
}

/* The first pass through the input: numbers, and the order of each one's operands. */
static void number(struct walk *walk)
{
    const struct pm_operations *graph = walk->graph;
    for (uint32_t at = 0; at < graph->count; at++) {
        const struct pm_operation *operation = &graph->operations[at];
        uint32_t count = operation->operand_count;
        for (uint32_t o = 0; o < count; o++) {
            const struct pm_operand *operand = &graph->operands[operation->first_operand + o];
            uint32_t of = operand->operation;
            uint64_t components = operand->value ? graph->operations[of].components : 0;
            walk->children[o] =
                (struct child){.need = walk->need[of] > components ? walk->need[of] : components,
                               .components = components,
                               .operation = of};
        }
        qsort(walk->children, count, sizeof(*walk->children), by_need);
        uint64_t most = (uint64_t)operation->components + operation->held, held = 0;
        for (uint32_t o = 0; o < count; o++) {
            if (held + walk->children[o].need > most)
                most = held + walk->children[o].need;
            held += walk->children[o].components;
            walk->sorted[operation->first_operand + o] = walk->children[o].operation;
        }
        walk->need[at] = most > held + operation->held ? most : held + operation->held;
    }
}

/* The second one: postorder, by a stack of its own, since graphs are deep. */
static bool visit(const struct walk *walk, uint32_t *place)
{
    const struct pm_operations *graph = walk->graph;
    uint32_t *stack = malloc((graph->count + (size_t)1) * sizeof(*stack));
    uint32_t *next = calloc(graph->count + (size_t)1, sizeof(*next));
    uint32_t places = 0;
    for (uint32_t i = 0; i < graph->count; i++)
        place[i] = UINT32_MAX;
    for (uint32_t root = 0; root < graph->count && stack && next; root++) {
        if (graph->operations[root].user_count)
            continue;
        uint32_t depth = 0;
        stack[depth++] = root;
        while (depth) {
            uint32_t at = stack[depth - 1];
            const struct pm_operation *operation = &graph->operations[at];
            while (next[at] < operation->operand_count) {
                uint32_t of = walk->sorted[operation->first_operand + next[at]++];
                if (place[of] != UINT32_MAX || next[of])
                    continue;
                stack[depth++] = of;
                break;
            }
            if (stack[depth - 1] != at)
                continue;
            place[at] = places++;
            depth--;
        }
    }
    bool ok = stack && next;
    free(stack);
    free(next);
    return ok;
}

static uint32_t *sethi_ullman(const struct pm_operations *graph)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < graph->count; i++)
        if (graph->operations[i].operand_count > most)
            most = graph->operations[i].operand_count;
    struct walk walk = {
        .graph = graph,
        .need = calloc(graph->count + (size_t)1, sizeof(*walk.need)),
        .children = malloc((most + (size_t)1) * sizeof(*walk.children)),
        .sorted = malloc((graph->operand_count + (size_t)1) * sizeof(*walk.sorted)),
    };
    uint32_t *place = malloc((graph->count + (size_t)1) * sizeof(*place));
    bool ok = walk.need && walk.children && walk.sorted && place;
    if (ok) {
        number(&walk);
        ok = visit(&walk, place);
    }
    free(walk.need);
    free(walk.children);
    free(walk.sorted);
    if (ok)
        return place;
    free(place);
    return NULL;
}

static uint32_t *program(const struct pm_operations *graph)
{
    uint32_t *place = malloc((graph->count + (size_t)1) * sizeof(*place));
    for (uint32_t i = 0; i < graph->count && place; i++)
        place[i] = i;
    return place;
}

struct ranked {
    uint32_t rank, place, operation;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? 1 : -1;
    return x->place < y->place ? -1 : 1;
}

/* The highest rank first. */
static bool order_by_rank(const struct pm_operations *graph, enum pm_order order, uint32_t *place)
{
    struct ranked *ranked = calloc(graph->count + (size_t)1, sizeof(*ranked));
    if (!ranked)
        return false;
    for (uint32_t i = graph->count; i-- > 0;) {
        const struct pm_operation *operation = &graph->operations[i];
        ranked[i] = (struct ranked){.place = place[i], .operation = i};
        if (order == PM_ORDER_MOST_SUCCESSORS)
            ranked[i].rank = operation->user_count;
        for (uint32_t u = 0; u < operation->user_count && order == PM_ORDER_CRITICAL_PATH; u++) {
            uint32_t behind = ranked[graph->users[operation->first_user + u]].rank;
            if (behind + 1 > ranked[i].rank)
                ranked[i].rank = behind + 1;
        }
    }
    qsort(ranked, graph->count, sizeof(*ranked), by_rank);
    for (uint32_t i = 0; i < graph->count; i++)
        place[ranked[i].operation] = i;
    free(ranked);
    return true;
}

uint32_t *pm_order_places(const struct pm_operations *graph, enum pm_order order)
{
    if (order == PM_ORDER_PROGRAM)
        return program(graph);
    uint32_t *place = sethi_ullman(graph);
    if (!place || order == PM_ORDER_SETHI_ULLMAN || order_by_rank(graph, order, place))
        return place;
    free(place);
    return NULL;
}
