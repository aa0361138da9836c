/*
 * The structured control-flow constructs of a function (SPIR-V specification 2.11.2): which there
 * are, how they nest, and which blocks each holds. A loop makes two that share no block: its loop
 * construct and its continue construct. Membership is by structural dominance, so unreachable merge
 * blocks and continue targets have their place.
 */
#pragma once

#include "shader_rewrite/analysis/analysis_dominators.h"

enum pm_construct_kind {
    PM_CONSTRUCT_SELECTION, /* OpSelectionMerge and OpBranchConditional */
    PM_CONSTRUCT_SWITCH,    /* OpSelectionMerge and OpSwitch */
    PM_CONSTRUCT_LOOP,     /* what its header dominates, but neither continue target nor merge block
                              does */
    PM_CONSTRUCT_CONTINUE, /* what a loop's continue target dominates */
};

#define PM_NO_CONSTRUCT UINT32_MAX

struct pm_construct {
    enum pm_construct_kind kind;
    uint32_t header; /* block with the merge instruction; of a continue construct: its loop's */
    uint32_t merge;  /* of a continue construct: its loop's */
    uint32_t continue_target; /* PM_NO_BLOCK but for the two kinds of a loop */
    uint32_t parent; /* construct around it; a continue construct has the same as its loop */
};

struct pm_structure {
    struct pm_construct *constructs; /* outer before inner */
    uint32_t count;
    uint32_t *innermost; /* by block: the innermost construct it is in; PM_NO_CONSTRUCT: none, or
                            unreachable */
    uint32_t block_count;
    const struct pm_dominators *dominators; /* structural dominance */
};

/* Whether a block is in a construct, or in one nested in it. */
bool pm_structure_contains(const struct pm_structure *structure, uint32_t construct,
                           uint32_t block);

/* NULL when out of memory. For analysis.c. */
struct pm_structure *pm_structure_compute(const struct pm_cfg *cfg, struct pm_arena *arena);
bool pm_structure_equal(const struct pm_structure *a, const struct pm_structure *b);
