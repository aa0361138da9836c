#include "shader_rewrite/analysis/analysis_loops.h"

#include <string.h>

struct pm_loops *pm_loops_compute(const struct pm_structure *structure, struct pm_arena *arena)
{
    struct pm_loops *l = pm_arena_zalloc(arena, 1, sizeof(*l));
    /* by construct: the innermost loop it is, or is in */
    uint32_t *of = pm_arena_zalloc(arena, structure->count, sizeof(*of));
    if (!l || !of)
        return NULL;
    l->block_count = structure->block_count;
    l->loops = pm_arena_zalloc(arena, structure->count, sizeof(*l->loops));
    l->loop_of = pm_arena_zalloc(arena, l->block_count, sizeof(uint32_t));
    if (!l->loops || !l->loop_of)
        return NULL;
    for (uint32_t c = 0; c < structure->count; c++) {
        const struct pm_construct *construct = &structure->constructs[c];
        uint32_t around = construct->parent == PM_NO_CONSTRUCT ? PM_NO_LOOP : of[construct->parent];
        if (construct->kind == PM_CONSTRUCT_LOOP) {
            uint32_t depth = around == PM_NO_LOOP ? 1 : l->loops[around].depth + 1;
            l->loops[l->count] = (struct pm_loop){construct->header, construct->merge,
                                                  construct->continue_target, around, depth};
            of[c] = l->count++;
        } else if (construct->kind == PM_CONSTRUCT_CONTINUE) {
            of[c] = of[c - 1]; /* its loop construct comes right before it */
        } else {
            of[c] = around;
        }
    }
    for (uint32_t b = 0; b < l->block_count; b++) {
        uint32_t c = structure->innermost[b];
        l->loop_of[b] = c == PM_NO_CONSTRUCT ? PM_NO_LOOP : of[c];
    }
    return l;
}

bool pm_loop_is_around(const struct pm_loops *loops, uint32_t outer, uint32_t inner)
{
    while (inner != outer && inner != PM_NO_LOOP)
        inner = loops->loops[inner].parent;
    return inner == outer;
}

bool pm_loops_equal(const struct pm_loops *a, const struct pm_loops *b)
{
    if (a->count != b->count || a->block_count != b->block_count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (memcmp(&a->loops[i], &b->loops[i], sizeof(a->loops[i])) != 0)
            return false;
    return memcmp(a->loop_of, b->loop_of, a->block_count * sizeof(uint32_t)) == 0;
}
