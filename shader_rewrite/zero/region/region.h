/*
 * Where a candidate can be specialized (AZP 3.3.2, "Versioning check hoisting", "Region
 * identification", "Region refinement"; HAZARDS 1).
 *
 * The check is hoisted within its block to where what it needs is ready: the candidate's backward
 * slice in the block stays before it, everything else comes behind. From there the region goes
 * along a chain: the rest of the block, the whole construct that it opens, that construct's merge
 * block, and so on, until something that may not be in a region, or the end of the construct around
 * it all. So it has one entry and one exit, holds whole constructs only, and can end anywhere in a
 * block of the chain.
 *
 * Nothing here changes the module but the `mark` of instructions, and a region is valid until the
 * next is made: it is told from older ones by its epoch. Work is proportional to the region, so
 * that of a large shader only a window around the candidate is looked at, which grows until nothing
 * outside of it could differ in S (window.c): the region is then what it would be without.
 *
 * Thread safety: as the module.
 */
#pragma once

#include "shader_rewrite/analysis/analysis_costs.h"
#include "shader_rewrite/analysis/analysis_memory.h"
#include "shader_rewrite/analysis/analysis_quads.h"
#include "shader_rewrite/analysis/analysis_uniform.h"
#include "shader_rewrite/analysis/analysis_values.h"
#include "shader_rewrite/quirks/leaving_values.h"
#include "shader_rewrite/quirks/levels_of_detail.h"
#include "shader_rewrite/zero/fold/fold.h"

#define PM_ZERO_NO_PART UINT32_MAX

/* What is found of a value of a region. */
struct pm_zero_state {
    uint32_t epoch; /* of the region whose value it is */
    uint32_t part;
    bool known;  /* propagate.c: something of it is */
    bool needed; /* dead.c: S computes it */
    bool leaves; /* transform.c: it is used behind the region */
    struct pm_zero_value value;
    struct pm_ir_def *copy;   /* clone.c: in S */
    struct pm_ir_def *behind; /* transform.c: what stands for it behind the region */
};

/* A round of the estimate-transform loop: the module as it is, and room for the analyses. */
struct pm_zero_round {
    struct pm_ir_module *module;
    struct pm_ir_function *function;
    enum pm_stage stage;
    struct pm_arena *arena; /* dies with the round */
    const struct pm_cfg *cfg;
    const struct pm_structure *structure;
    struct pm_number_types types; /* of which there can be constants, beside bool */
    struct pm_float_permission permission;
    struct pm_memory memory;
    struct pm_quads quads;
    struct pm_uniform uniform;
    struct pm_leaving_values leaving;
    struct pm_detail_levels levels;
    const struct pm_costs *costs;
    const double *weights; /* by block: subgroups over entry subgroups */
    bool subgroup_quad;
    uint32_t quirks; /* of the driver: enum pm_quirk */
    bool exact_ones; /* of the driver: folding.h */
    uint64_t work;   /* instructions looked at so far, each time anew: a measure of time that is the
                        same on every machine */
    bool failed;     /* out of memory */
    bool broken;     /* a value was not there that must be: a bug of ours */

    uint32_t epoch;
    struct pm_zero_state *states; /* by id */
    uint32_t *positions; /* by id of a value: its place among the function's instructions */
    uint32_t id_count;
    uint32_t *part_epoch, *part_of; /* by block */
    uint32_t *construct_epoch;      /* by construct: needed in S (dead.c) */
    struct pm_ir_def **stack;       /* id_count of them */
    struct pm_ir_instr **room;      /* every instruction of the function */
    struct pm_ir_instr **hoisted;   /* PM_ZERO_MOST_HOISTED of them */
    struct pm_zero_part *parts;     /* every block */
    uint32_t *order;                /* every block */
};

/* A block of a region, or the piece of one that is in it. */
struct pm_zero_part {
    uint32_t block;
    struct pm_ir_instr *
        *instrs; /* in order, OpPhi first; without merge instruction and terminator */
    uint32_t count;
    bool whole; /* with them */
    bool chain; /* the region may end in it */

    /* propagate.c */
    bool executable;
    uint32_t folded; /* the one block its constant branch leads to; PM_NO_BLOCK: none */
    /* dead.c */
    bool branch_needed; /* the terminator's condition is */
    bool reached;       /* in S */
    bool joined;        /* to the one block that leads there, and nowhere else */
    /* clone.c */
    struct pm_ir_block *copy; /* NULL: S has none */
};

struct pm_zero_region {
    const struct pm_zero_candidate *candidate;
    /* By id: what is known of a value of the region from without, beside the candidate; NULL:
     * nothing. known NULL: of none. Floats among them, and what is computed of them, stay for the
     * device to compute, but for zeroes: a compiler folds otherwise (HAZARDS 3). */
    const struct pm_zero_value *const *known;
    struct pm_ir_def *values[PM_ZERO_ELEMENTS]; /* the candidate's */
    uint32_t epoch;
    struct pm_zero_part
        *parts; /* in reverse post order; parts[0] is the rest of the check's block */
    uint32_t count;
    struct pm_ir_instr *first; /* of the check's block, that was looked at; what comes before stays
                                  there. NULL: none */
    bool cut_before, cut_behind; /* there is more, which the window has not */
    uint32_t hoisted_count;      /* round->hoisted: in order, what must move to before the check */
    bool uniform;                /* its check finds the same in all lanes, and need ask none */
    bool quad;                   /* its check must ask the quad */
    bool changes;                /* propagate.c found something */
    const char *reason;          /* why there is none */
};

/* Sets up a round, with PM_ANALYSIS_DOMINATORS, PM_ANALYSIS_POSTDOMINATORS and PM_ANALYSIS_LOOPS of
 * the function required.
 * false: *error says why. */
bool pm_zero_round_init(struct pm_zero_round *round, struct pm_ir_module *module,
                        struct pm_ir_function *function, enum pm_stage stage,
                        enum pm_float_zero float_zero, struct pm_arena *arena,
                        struct pm_error *error);

/* Whether it asks other lanes for a check of an earlier round: a region may span that. What it
 * answers only chooses between two ways that are both right, so it may ask fewer lanes; of a quad
 * all. */
bool pm_zero_is_earlier_check(const struct pm_ir_instr *instr);

/* What orders an instruction in a region. */
struct pm_memory_access pm_zero_region_access(const struct pm_zero_round *round,
                                              const struct pm_ir_instr *instr);

/* From where to where a region goes: blocks of its chain. */
struct pm_zero_extent {
    uint32_t start; /* with the check, also one before the candidate (hoist.h); PM_NO_BLOCK:
                       that in which the candidate is complete */
    uint32_t end;   /* the last; PM_NO_BLOCK: as far as a region may go */
};
#define PM_ZERO_ALL_EXTENT ((struct pm_zero_extent){PM_NO_BLOCK, PM_NO_BLOCK})

/* How much is looked at: instructions before the candidate in the check's block, and from it on; a
 * construct that the latter come into whole. */
struct pm_zero_window {
    uint32_t before, behind;
};

/* The whole function, for values that are known, by id, from where they are on; there is no
 * candidate, and nothing is checked. */
void pm_zero_region_whole(struct pm_zero_round *round, const struct pm_zero_value *const *known,
                          struct pm_zero_region *region);

/* The region of a candidate with this extent, which is one of its own (refine.c), or its
 * largest, as far as the window has it. false: there is none, region->reason says why. */
bool pm_zero_region_find(struct pm_zero_round *round, const struct pm_zero_candidate *candidate,
                         struct pm_zero_extent extent, struct pm_zero_window window,
                         struct pm_zero_region *region);

/* Likewise with the smallest window that is enough, propagated through and, when S differs at all,
 * with what is dead found (window.c). */
bool pm_zero_region_explore(struct pm_zero_round *round, const struct pm_zero_candidate *candidate,
                            struct pm_zero_extent extent, struct pm_zero_region *region);

/* Cuts it down to what S changes, once that is known; false: nothing is. */
bool pm_zero_region_refine(struct pm_zero_round *round, struct pm_zero_region *region);

/* Puts back into a refined region what of its first block only the region uses, and behind it what
 * is only used there, if S computes one of the values that later rounds will look at (keep.c).
 * wanted: by id. */
void pm_zero_region_keep(struct pm_zero_round *round, struct pm_zero_region *region,
                         const bool *wanted);

/* Where else the region may begin: blocks of its chain from which on, until the next of them, S
 * differs; a region that begins in the first of them may lose nothing. Before it is refined, once
 * what S changes is known. At most `most`, evenly taken from all; returns how many. */
uint32_t pm_zero_region_starts(struct pm_zero_round *round, const struct pm_zero_region *region,
                               uint32_t most, uint32_t *starts);

/* Likewise where else it may end, the earliest first. */
uint32_t pm_zero_region_ends(struct pm_zero_round *round, const struct pm_zero_region *region,
                             uint32_t most, uint32_t *ends);

/* The part that a block is, or begins; PM_ZERO_NO_PART: none. */
static inline uint32_t pm_zero_part_of(const struct pm_zero_round *round,
                                       const struct pm_zero_region *region, uint32_t block)
{
    return round->part_epoch[block] == region->epoch ? round->part_of[block] : PM_ZERO_NO_PART;
}

/* Whether an instruction was found to stay, or be, before the check. */
static inline bool pm_zero_stays(const struct pm_zero_region *region,
                                 const struct pm_ir_instr *instr)
{
    return instr->mark == region->epoch + 1;
}
static inline void pm_zero_let_stay(const struct pm_zero_region *region, struct pm_ir_instr *instr)
{
    instr->mark = region->epoch + 1;
}

/* Whether the region has the instruction. */
static inline bool pm_zero_in_region(const struct pm_zero_region *region,
                                     const struct pm_ir_instr *instr)
{
    return instr->mark == region->epoch;
}

/* The state of a value of the region; NULL: it is none. */
static inline struct pm_zero_state *pm_zero_state_of(const struct pm_zero_round *round,
                                                     const struct pm_zero_region *region,
                                                     const struct pm_ir_def *def)
{
    if (!def->instr || def->id >= round->id_count || !pm_zero_in_region(region, def->instr))
        return NULL;
    struct pm_zero_state *state = &round->states[def->id];
    return state->epoch == region->epoch ? state : NULL;
}

/* Whether a value is one of the candidate's. */
bool pm_zero_is_candidate(const struct pm_zero_region *region, const struct pm_ir_def *def);

/* What is known of any value, seen from S. */
struct pm_zero_value pm_zero_value_in(const struct pm_zero_round *round,
                                      const struct pm_zero_region *region,
                                      const struct pm_ir_def *def);

/* Whether S writes a constant instead of this value. */
bool pm_zero_is_constant_in_copy(const struct pm_zero_round *round,
                                 const struct pm_zero_region *region, const struct pm_ir_def *def);

/* Whether S does without an instruction of the region: it is folded or dead there. */
bool pm_zero_is_not_in_copy(const struct pm_zero_round *round, const struct pm_zero_region *region,
                            const struct pm_ir_instr *instr);

/* Whether S has an instruction of the region as it is. */
bool pm_zero_is_as_in_copy(const struct pm_zero_round *round, const struct pm_zero_region *region,
                           const struct pm_ir_instr *instr);

/* The construct that a block stands in, without the one it opens. */
uint32_t pm_zero_construct_around(const struct pm_zero_round *round, uint32_t block);

/* ---- the analyses of a region ---- */

/* propagate.c: forward, on a lattice. */
void pm_zero_propagate(struct pm_zero_round *round, struct pm_zero_region *region);

/* dead.c: backward (equations 1 to 4), and which blocks S has. */
void pm_zero_find_dead(struct pm_zero_round *round, struct pm_zero_region *region);

/* Where S goes behind a part: the merge block of a construct that has nothing left to do, the one
 * way of a constant branch; PM_NO_BLOCK: as the original. */
uint32_t pm_zero_way_in_copy(const struct pm_zero_round *round, const struct pm_zero_region *region,
                             const struct pm_zero_part *part);
