/*
 * Layered drawing of a control-flow graph (Sugiyama's four steps): edges that close a loop are set
 * aside, blocks take the rank of the longest path to them, long edges get a place in every rank
 * they cross, and ranks are ordered by barycentres.
 */
#include "tools/report/report_layout.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    NODE_WIDTH = PM_GRAPH_NODE_WIDTH,
    NODE_HEIGHT = PM_GRAPH_NODE_HEIGHT,
    GAP_X = 18,
    GAP_Y = 34,
    MARGIN = 14,
    SWEEPS = 12,
    BACK_GAP = 12,
    LOOP_ROOM = 8, /* below the last rank, where an edge turns back */
    NARROW = 340   /* what a phone has room for */
};

struct node {
    uint32_t rank, order;
    double x; /* centre */
    double barycentre;
    uint32_t above, below; /* for the places of long edges: the neighbours in the chain */
};

struct edge {
    uint32_t from, to; /* nodes of the graph */
    bool back;
    uint32_t first_place, place_count; /* nodes standing for it in the ranks between */
};

struct layout {
    const struct pm_graph *graph;
    struct node *nodes; /* the graph's first, then places */
    uint32_t node_count, rank_count;
    struct edge *edges;
    uint32_t edge_count;
    uint32_t *by_rank, *rank_start; /* nodes of a rank in order; rank_count + 1 starts */
    double width, height;
};

static bool find_back_edges(const struct pm_graph *graph, struct edge *edges,
                            const uint32_t *first_edge)
{
    enum { UNSEEN, OPEN, DONE };
    uint32_t count = graph->count, depth = 0;
    uint8_t *state = calloc(count, 1);
    uint32_t *stack = calloc(count, sizeof(*stack)), *next = calloc(count, sizeof(*next));
    bool ok = state && stack && next;
    if (ok) {
        stack[depth++] = 0;
        state[0] = OPEN;
    }
    while (ok && depth > 0) {
        uint32_t block = stack[depth - 1];
        if (next[block] == graph->nodes[block].successor_count) {
            state[block] = DONE;
            depth--;
            continue;
        }
        struct edge *edge = &edges[first_edge[block] + next[block]++];
        edge->back = state[edge->to] == OPEN;
        if (state[edge->to] == UNSEEN) {
            state[edge->to] = OPEN;
            stack[depth++] = edge->to;
        }
    }
    free(state);
    free(stack);
    free(next);
    return ok;
}

static bool collect_edges(struct layout *layout)
{
    const struct pm_graph *graph = layout->graph;
    uint32_t *first_edge = calloc(graph->count, sizeof(*first_edge));
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->count; i++)
        count += graph->nodes[i].successor_count;
    layout->edges = calloc(count + 1u, sizeof(*layout->edges));
    bool ok = first_edge && layout->edges;
    for (uint32_t i = 0; ok && i < graph->count; i++) {
        first_edge[i] = layout->edge_count;
        for (uint32_t j = 0; j < graph->nodes[i].successor_count; j++)
            layout->edges[layout->edge_count++] =
                (struct edge){.from = i, .to = graph->nodes[i].successors[j]};
    }
    ok = ok && find_back_edges(graph, layout->edges, first_edge);
    free(first_edge);
    return ok;
}

/* Longest path: relax until nothing moves; without the back edges the graph has no cycle, so it
 * ends. */
static void rank_blocks(struct layout *layout)
{
    bool moved = true;
    while (moved) {
        moved = false;
        for (uint32_t i = 0; i < layout->edge_count; i++) {
            const struct edge *edge = &layout->edges[i];
            uint32_t rank = layout->nodes[edge->from].rank + 1;
            if (!edge->back && layout->nodes[edge->to].rank < rank) {
                layout->nodes[edge->to].rank = rank;
                moved = true;
            }
        }
    }
}

static bool place_long_edges(struct layout *layout)
{
    uint32_t count = layout->graph->count;
    for (uint32_t i = 0; i < layout->edge_count; i++) {
        struct edge *edge = &layout->edges[i];
        uint32_t from = layout->nodes[edge->from].rank, to = layout->nodes[edge->to].rank;
        edge->first_place = count;
        edge->place_count = edge->back ? 0 : to - from - 1;
        count += edge->place_count;
    }
    struct node *nodes = realloc(layout->nodes, (count + 1u) * sizeof(*nodes));
    if (!nodes)
        return false;
    layout->nodes = nodes;
    layout->node_count = count;
    for (uint32_t i = 0; i < layout->edge_count; i++) {
        const struct edge *edge = &layout->edges[i];
        for (uint32_t j = 0; j < edge->place_count; j++)
            nodes[edge->first_place + j] = (struct node){.rank = nodes[edge->from].rank + 1 + j};
    }
    return true;
}

static bool fill_ranks(struct layout *layout)
{
    for (uint32_t i = 0; i < layout->node_count; i++)
        if (layout->nodes[i].rank + 1 > layout->rank_count)
            layout->rank_count = layout->nodes[i].rank + 1;
    layout->rank_start = calloc(layout->rank_count + 2u, sizeof(*layout->rank_start));
    layout->by_rank = calloc(layout->node_count + 1u, sizeof(*layout->by_rank));
    if (!layout->rank_start || !layout->by_rank)
        return false;
    for (uint32_t i = 0; i < layout->node_count; i++)
        layout->rank_start[layout->nodes[i].rank + 2]++;
    for (uint32_t i = 2; i <= layout->rank_count + 1; i++)
        layout->rank_start[i] += layout->rank_start[i - 1];
    for (uint32_t i = 0; i < layout->node_count; i++) {
        struct node *node = &layout->nodes[i];
        uint32_t at = layout->rank_start[node->rank + 1]++;
        layout->by_rank[at] = i;
        node->order = at - layout->rank_start[node->rank];
    }
    return true;
}

/* The node of an edge in the rank before (or after) the one of its place j; j counts the end block
 * too. */
static uint32_t edge_node(const struct edge *edge, uint32_t step)
{
    if (step == 0)
        return edge->from;
    return step <= edge->place_count ? edge->first_place + step - 1 : edge->to;
}

static void sweep(struct layout *layout, bool down)
{
    double *sum = calloc(layout->node_count, sizeof(*sum));
    uint32_t *count = calloc(layout->node_count, sizeof(*count));
    for (uint32_t i = 0; sum && count && i < layout->edge_count; i++) {
        const struct edge *edge = &layout->edges[i];
        for (uint32_t step = 0; !edge->back && step <= edge->place_count; step++) {
            uint32_t upper = edge_node(edge, step), lower = edge_node(edge, step + 1);
            uint32_t moves = down ? lower : upper, stays = down ? upper : lower;
            uint32_t rank = layout->nodes[stays].rank;
            uint32_t size = layout->rank_start[rank + 1] - layout->rank_start[rank];
            sum[moves] += (layout->nodes[stays].order + 0.5) / size;
            count[moves]++;
        }
    }
    for (uint32_t i = 0; sum && count && i < layout->node_count; i++) {
        const struct node *node = &layout->nodes[i];
        uint32_t size = layout->rank_start[node->rank + 1] - layout->rank_start[node->rank];
        layout->nodes[i].barycentre = count[i] ? sum[i] / count[i] : (node->order + 0.5) / size;
    }
    free(sum);
    free(count);
    for (uint32_t rank = 0; rank < layout->rank_count; rank++) {
        uint32_t *members = &layout->by_rank[layout->rank_start[rank]];
        uint32_t size = layout->rank_start[rank + 1] - layout->rank_start[rank];
        for (uint32_t i = 1; i < size; i++) /* insertion sort: stable, and ranks are short */
            for (uint32_t j = i; j > 0 && layout->nodes[members[j]].barycentre <
                                              layout->nodes[members[j - 1]].barycentre;
                 j--) {
                uint32_t swap = members[j];
                members[j] = members[j - 1];
                members[j - 1] = swap;
            }
        for (uint32_t i = 0; i < size; i++)
            layout->nodes[members[i]].order = i;
    }
}

/* The distance two neighbours in a rank keep: a place of a long edge is a mere line. */
static double distance(const struct layout *layout, uint32_t left, uint32_t right)
{
    uint32_t blocks = layout->graph->count;
    return (left < blocks ? NODE_WIDTH / 2.0 : 0) + (right < blocks ? NODE_WIDTH / 2.0 : 0) + GAP_X;
}

/* Where the neighbours in the rank above (or below) pull each of a rank's nodes; its own place
 * without any. */
static void pull(const struct layout *layout, uint32_t rank, bool down, double *wish,
                 uint32_t *count)
{
    const uint32_t *members = &layout->by_rank[layout->rank_start[rank]];
    uint32_t size = layout->rank_start[rank + 1] - layout->rank_start[rank];
    for (uint32_t i = 0; i < size; i++) {
        wish[members[i]] = 0;
        count[members[i]] = 0;
    }
    for (uint32_t i = 0; i < layout->edge_count; i++) {
        const struct edge *edge = &layout->edges[i];
        uint32_t from = layout->nodes[edge->from].rank;
        uint32_t step =
            rank - from -
            (down ? 1 : 0); /* of the upper end; wraps where the edge does not come by */
        if (edge->back || step > edge->place_count)
            continue;
        uint32_t upper = edge_node(edge, step), lower = edge_node(edge, step + 1);
        wish[down ? lower : upper] += layout->nodes[down ? upper : lower].x;
        count[down ? lower : upper]++;
    }
    for (uint32_t i = 0; i < size; i++) {
        uint32_t node = members[i];
        wish[node] = count[node] ? wish[node] / count[node] : layout->nodes[node].x;
    }
}

/* Gives a rank's nodes the places they wish for, in their order and apart: the mean of what a pass
 * from the left and one from the right leave, which keeps the distances too. */
static void settle(struct layout *layout, uint32_t rank, const double *wish, double *scratch)
{
    const uint32_t *members = &layout->by_rank[layout->rank_start[rank]];
    uint32_t size = layout->rank_start[rank + 1] - layout->rank_start[rank];
    for (uint32_t i = 0; i < size; i++) {
        scratch[i] = wish[members[i]];
        if (i > 0)
            scratch[i] =
                fmax(scratch[i], scratch[i - 1] + distance(layout, members[i - 1], members[i]));
    }
    double right = INFINITY;
    for (uint32_t i = size; i-- > 0;) {
        right = i + 1 < size ? right - distance(layout, members[i], members[i + 1]) : right;
        right = fmin(wish[members[i]], right);
        layout->nodes[members[i]].x = (scratch[i] + right) / 2;
    }
}

static bool settle_ranks(struct layout *layout)
{
    double *wish = calloc(layout->node_count, sizeof(*wish)),
           *scratch = calloc(layout->node_count, sizeof(*scratch));
    uint32_t *count = calloc(layout->node_count, sizeof(*count));
    bool ok = wish && scratch && count;
    for (uint32_t rank = 0; ok && rank < layout->rank_count; rank++) {
        const uint32_t *members = &layout->by_rank[layout->rank_start[rank]];
        uint32_t size = layout->rank_start[rank + 1] - layout->rank_start[rank];
        for (uint32_t i = 1; i < size; i++)
            layout->nodes[members[i]].x =
                layout->nodes[members[i - 1]].x + distance(layout, members[i - 1], members[i]);
    }
    for (int i = 0; ok && i < SWEEPS; i++)
        for (uint32_t j = 0; j < layout->rank_count; j++) {
            uint32_t rank = i % 2 == 0 ? j : layout->rank_count - 1 - j;
            pull(layout, rank, i % 2 == 0, wish, count);
            settle(layout, rank, wish, scratch);
        }
    free(wish);
    free(scratch);
    free(count);
    return ok;
}

static bool place(struct layout *layout)
{
    double least = INFINITY, most = -INFINITY;
    uint32_t back = 0;
    bool ok = settle_ranks(layout);
    for (uint32_t i = 0; i < layout->node_count; i++) {
        least = fmin(least, layout->nodes[i].x);
        most = fmax(most, layout->nodes[i].x);
    }
    for (uint32_t i = 0; i < layout->node_count; i++)
        layout->nodes[i].x += MARGIN + NODE_WIDTH / 2.0 - least;
    for (uint32_t i = 0; i < layout->edge_count; i++)
        back += layout->edges[i].back;
    layout->width = most - least + NODE_WIDTH + 2 * MARGIN + BACK_GAP * (back + 1.0);
    layout->height = layout->rank_count * (NODE_HEIGHT + GAP_Y) - GAP_Y + 2.0 * MARGIN +
                     (back > 0 ? LOOP_ROOM : 0);
    return ok;
}

static double top_of(const struct node *node)
{
    return MARGIN + node->rank * (double)(NODE_HEIGHT + GAP_Y);
}

/* An edge that closes a loop: down from its block, along a lane of its own on the right, and down
 * into the loop's header; what is horizontal runs between ranks, where no block is. */
static bool draw_back(const struct layout *layout, const struct edge *edge, uint32_t number,
                      struct pm_buffer *out)
{
    const struct node *from = &layout->nodes[edge->from], *to = &layout->nodes[edge->to];
    const double lane = layout->width - MARGIN / 2.0 - BACK_GAP * number;
    const double apart = 3.0 * (number % 3);
    return pm_buffer_printf(out, "<path class=back d='M%.0f %.0fV%.0fH%.0fV%.0fH%.0fV%.0f'/>",
                            from->x + NODE_WIDTH / 4.0, top_of(from) + NODE_HEIGHT,
                            top_of(from) + NODE_HEIGHT + 8 + apart, lane, top_of(to) - 14 + apart,
                            to->x + NODE_WIDTH / 4.0, top_of(to) - 2);
}

static bool draw_forward(const struct layout *layout, const struct edge *edge,
                         struct pm_buffer *out)
{
    const struct node *from = &layout->nodes[edge->from];
    double x = from->x, y = top_of(from) + NODE_HEIGHT;
    bool ok = pm_buffer_printf(out, "<path class=edge d='M%.0f %.0f", x, y);
    for (uint32_t step = 1; ok && step <= edge->place_count + 1; step++) {
        const struct node *next = &layout->nodes[edge_node(edge, step)];
        const bool last = step == edge->place_count + 1;
        const double end = top_of(next) - (last ? 2 : 0);
        ok = pm_buffer_printf(out, "C%.0f %.0f %.0f %.0f %.0f %.0f", x, y + GAP_Y / 2.0, next->x,
                              end - GAP_Y / 2.0, next->x, end);
        if (ok && !last)
            ok = pm_buffer_printf(out, "V%.0f", top_of(next) + NODE_HEIGHT);
        x = next->x;
        y = top_of(next) + NODE_HEIGHT;
    }
    return ok && pm_buffer_append_string(out, "'/>");
}

static bool draw_edges(const struct layout *layout, struct pm_buffer *out)
{
    uint32_t back = 0;
    bool ok = true;
    for (uint32_t i = 0; ok && i < layout->edge_count; i++)
        ok = layout->edges[i].back ? draw_back(layout, &layout->edges[i], back++, out)
                                   : draw_forward(layout, &layout->edges[i], out);
    return ok;
}

static bool draw_nodes(const struct layout *layout, struct pm_buffer *out)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < layout->graph->count; i++)
        ok = layout->graph->draw(layout->graph->user, i, layout->nodes[i].x,
                                 top_of(&layout->nodes[i]), out);
    return ok;
}

static bool build(struct layout *layout)
{
    layout->nodes = calloc(layout->graph->count + 1u, sizeof(*layout->nodes));
    if (!layout->nodes || !collect_edges(layout))
        return false;
    rank_blocks(layout);
    if (!place_long_edges(layout) || !fill_ranks(layout))
        return false;
    for (int i = 0; i < SWEEPS; i++)
        sweep(layout, i % 2 == 0);
    return place(layout);
}

bool pm_graph_write(const struct pm_graph *graph, const char *name, struct pm_buffer *out)
{
    struct layout layout = {.graph = graph};
    bool ok = graph->count > 0 && build(&layout);
    /* Fitted into what room there is, a phone's too, as long as it can be read, until the box is
     * cleared. */
    if (ok && layout.width > NARROW)
        ok = pm_buffer_printf(
            out,
            "<input class=fit id='%s-fit' type=checkbox checked>"
            "<label for='%s-fit'>fit to the width, as far as it can be read</label>",
            name, name);
    ok = ok &&
         pm_buffer_printf(out,
                          "<svg class=graph width='%.0f' height='%.0f' viewBox='0 0 %.0f %.0f' "
                          "style='--width:%.0fpx'>",
                          layout.width, layout.height, layout.width, layout.height, layout.width) &&
         draw_edges(&layout, out) && draw_nodes(&layout, out) &&
         pm_buffer_append_string(out, "</svg>");
    free(layout.nodes);
    free(layout.edges);
    free(layout.by_rank);
    free(layout.rank_start);
    return ok;
}
