/*
 * Draws a graph in layers, as SVG.
 *
 * Thread safety: no state.
 */
#pragma once

#include "base/buffer.h"
#include <stdint.h>

enum { PM_GRAPH_NODE_WIDTH = 108, PM_GRAPH_NODE_HEIGHT = 40 };

struct pm_graph_node {
    const uint32_t *successors; /* distinct */
    uint32_t successor_count;
};

struct pm_graph {
    const struct pm_graph_node *nodes; /* the first is where it begins */
    uint32_t count;
    /* Draws a node: x is its middle, y its top. */
    bool (*draw)(void *user, uint32_t node, double x, double y, struct pm_buffer *out);
    void *user;
};

/* name: what the ids of its controls begin with. false: no node, out of memory, or *out is full. */
bool pm_graph_write(const struct pm_graph *graph, const char *name, struct pm_buffer *out);
