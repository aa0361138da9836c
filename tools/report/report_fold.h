/*
 * A large control-flow graph made small enough to read: straight chains become one node, then loops
 * and branches, those that cost least first, until few nodes are left.
 *
 * Thread safety: no state.
 */
#pragma once

#include "tools/report/report.h"
#include "tools/report/report_layout.h"

enum { PM_FOLD_NODES = 20 }; /* what is read at a glance */

struct pm_fold_group {
    uint32_t first; /* its block with the smallest number, where it is entered */
    uint32_t last;  /* its block with the greatest */
    uint32_t count; /* of blocks */
    bool has_loop;  /* a whole loop is in it */
    double cost;    /* of all its blocks: share of the shader's cycles */
};

struct pm_fold {
    struct pm_fold_group *groups;
    struct pm_graph_node *nodes; /* as many */
    uint32_t count;
    uint32_t *group_of; /* by block */
};

/* All in the arena. A graph of PM_FOLD_NODES blocks or fewer has a group for each. false: out of
 * memory. */
bool pm_report_fold(const struct pm_report_shader *shader, struct pm_arena *arena,
                    struct pm_fold *fold);
