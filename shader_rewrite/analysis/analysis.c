#include "shader_rewrite/analysis/analysis.h"

#include <stdlib.h>

struct pm_analyses {
    unsigned valid; /* enum pm_analysis */
    struct {
        struct pm_arena *arena; /* that holds the facts; NULL where they are not valid */
        void *facts;
    } slots[PM_ANALYSES];
};

enum { CFG, DOMINATORS, POSTDOMINATORS, STRUCTURE, LOOPS };

/* What each rests on, by slot. */
static const unsigned rests_on[PM_ANALYSES] = {
    [CFG] = 0,
    [DOMINATORS] = PM_ANALYSIS_CFG,
    [POSTDOMINATORS] = PM_ANALYSIS_CFG,
    [STRUCTURE] = PM_ANALYSIS_CFG,
    [LOOPS] = PM_ANALYSIS_CFG | PM_ANALYSIS_STRUCTURE,
};

static const char *const names[PM_ANALYSES] = {
    [CFG] = "control-flow graph", [DOMINATORS] = "dominators", [POSTDOMINATORS] = "postdominators",
    [STRUCTURE] = "structure",    [LOOPS] = "loops",
};

unsigned pm_analysis_valid(const struct pm_ir_function *function)
{
    return function->analyses ? function->analyses->valid : 0;
}

static const void *facts(const struct pm_ir_function *function, int slot)
{
    return pm_analysis_valid(function) & 1u << slot ? function->analyses->slots[slot].facts : NULL;
}

const struct pm_cfg *pm_cfg(const struct pm_ir_function *function)
{
    return facts(function, CFG);
}

const struct pm_dominators *pm_dominators(const struct pm_ir_function *function)
{
    return facts(function, DOMINATORS);
}

const struct pm_dominators *pm_postdominators(const struct pm_ir_function *function)
{
    return facts(function, POSTDOMINATORS);
}

const struct pm_structure *pm_structure(const struct pm_ir_function *function)
{
    return facts(function, STRUCTURE);
}

const struct pm_loops *pm_loops(const struct pm_ir_function *function)
{
    return facts(function, LOOPS);
}

static void *compute(struct pm_ir_function *function, int slot, struct pm_arena *arena)
{
    switch (slot) {
    case CFG:
        return pm_cfg_compute(function, arena);
    case DOMINATORS:
        return pm_dominators_compute(&pm_cfg(function)->flow, 0, arena);
    case POSTDOMINATORS:
        return pm_postdominators_compute(&pm_cfg(function)->flow, arena);
    case STRUCTURE:
        return pm_structure_compute(pm_cfg(function), arena);
    default:
        return pm_loops_compute(pm_structure(function), arena);
    }
}

static bool equal(int slot, const void *a, const void *b)
{
    switch (slot) {
    case CFG:
        return pm_cfg_equal(a, b);
    case DOMINATORS:
    case POSTDOMINATORS:
        return pm_dominators_equal(a, b);
    case STRUCTURE:
        return pm_structure_equal(a, b);
    default:
        return pm_loops_equal(a, b);
    }
}

static void forget(struct pm_analyses *analyses, int slot)
{
    pm_arena_destroy(analyses->slots[slot].arena);
    analyses->slots[slot].arena = NULL;
    analyses->valid &= ~(1u << slot);
}

static void finish(struct pm_analyses *analyses)
{
    for (int slot = 0; slot < PM_ANALYSES; slot++)
        forget(analyses, slot);
}

bool pm_analysis_require(struct pm_ir_function *function, unsigned mask, struct pm_error *error)
{
    if (!function->first_block)
        return pm_fail(error, PM_ERROR_INPUT, "SPIR-V: function %u has no blocks",
                       function->function->result->id);
    if (!function->analyses)
        function->analyses =
            pm_arena_zalloc(function->module->arena, 1, sizeof(*function->analyses));
    if (!function->analyses)
        return pm_fail(error, PM_ERROR_MEMORY, "SPIR-V analyses: out of memory");
    function->analyses_finish = finish;
    for (int slot = PM_ANALYSES - 1; slot >= 0; slot--)
        if (mask & 1u << slot)
            mask |= rests_on[slot];
    for (int slot = 0; slot < PM_ANALYSES; slot++) {
        if (!(mask & 1u << slot) || facts(function, slot))
            continue;
        struct pm_arena *arena = pm_arena_create(0);
        void *found = arena ? compute(function, slot, arena) : NULL;
        if (!found) {
            pm_arena_destroy(arena);
            return pm_fail(error, PM_ERROR_MEMORY, "SPIR-V %s: out of memory", names[slot]);
        }
        function->analyses->slots[slot].arena = arena;
        function->analyses->slots[slot].facts = found;
        function->analyses->valid |= 1u << slot;
    }
    return true;
}

void pm_analysis_preserve(struct pm_ir_function *function, unsigned mask)
{
    if (!function->analyses)
        return;
    for (int slot = 0; slot < PM_ANALYSES; slot++) {
        if ((mask & 1u << slot) && (rests_on[slot] & mask) == rests_on[slot])
            continue;
        mask &= ~(1u << slot);
        forget(function->analyses, slot);
    }
}

bool pm_analysis_check(struct pm_ir_function *function, struct pm_error *error)
{
    for (int slot = 0; slot < PM_ANALYSES; slot++) {
        if (!facts(function, slot))
            continue;
        struct pm_arena *arena = pm_arena_create(0);
        void *again = arena ? compute(function, slot, arena) : NULL;
        bool same = again && equal(slot, facts(function, slot), again);
        pm_arena_destroy(arena);
        if (!again)
            return pm_fail(error, PM_ERROR_MEMORY, "SPIR-V %s: out of memory", names[slot]);
        if (!same)
            return pm_fail(error, PM_ERROR_STATE,
                           "SPIR-V: a pass changed function %u and kept its %s",
                           function->function->result->id, names[slot]);
    }
    return true;
}
