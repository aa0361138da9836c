#include "shader_rewrite/analysis/analysis_structure.h"

#include <string.h>

bool pm_structure_contains(const struct pm_structure *structure, uint32_t construct, uint32_t block)
{
    uint32_t c = structure->innermost[block];
    while (c != PM_NO_CONSTRUCT && c != construct)
        c = structure->constructs[c].parent;
    return c == construct && c != PM_NO_CONSTRUCT;
}

/* What a header opened: its loop or selection construct, and a loop's continue construct. */
struct opened {
    uint32_t around; /* the construct the header itself is in, without its own */
    uint32_t first;  /* PM_NO_CONSTRUCT: it is no header */
};

static uint32_t add(struct pm_structure *s, struct pm_construct construct)
{
    s->constructs[s->count] = construct;
    return s->count++;
}

/* The construct a block is in, before it opens its own, from that of its immediate dominator. A
 * merge block's or continue target's immediate structural dominator is its header, because of the
 * edge between them. */
static uint32_t inherit(const struct pm_structure *s, const struct opened *opened, uint32_t parent,
                        uint32_t block)
{
    const struct opened *o = &opened[parent];
    if (o->first == PM_NO_CONSTRUCT)
        return s->innermost[parent];
    const struct pm_construct *c = &s->constructs[o->first];
    if (block == c->merge)
        return o->around;
    if (c->kind == PM_CONSTRUCT_LOOP && block == c->continue_target)
        return o->first + 1;
    return s->innermost[parent];
}

static void open_constructs(struct pm_structure *s, const struct pm_ir_block *block,
                            struct opened *opened)
{
    const struct pm_ir_instr *merge = pm_ir_merge(block);
    uint32_t b = block->index;
    opened[b] = (struct opened){s->innermost[b], PM_NO_CONSTRUCT};
    if (!merge)
        return;
    struct pm_construct c = {
        .header = b,
        .merge = pm_ir_block_of(merge->operands[0].def)->index,
        .continue_target = PM_NO_BLOCK,
        .parent = s->innermost[b],
    };
    if (merge->opcode == SpvOpSelectionMerge) {
        c.kind = pm_ir_terminator(block)->opcode == SpvOpSwitch ? PM_CONSTRUCT_SWITCH
                                                                : PM_CONSTRUCT_SELECTION;
        opened[b].first = s->innermost[b] = add(s, c);
        return;
    }
    c.kind = PM_CONSTRUCT_LOOP;
    c.continue_target = pm_ir_block_of(merge->operands[1].def)->index;
    opened[b].first = s->innermost[b] = add(s, c);
    c.kind = PM_CONSTRUCT_CONTINUE;
    uint32_t last = add(s, c);
    if (c.continue_target == b)
        s->innermost[b] = last;
}

struct pm_structure *pm_structure_compute(const struct pm_cfg *cfg, struct pm_arena *arena)
{
    struct pm_structure *s = pm_arena_zalloc(arena, 1, sizeof(*s));
    struct opened *opened = pm_arena_zalloc(arena, cfg->count, sizeof(*opened));
    if (!s || !opened)
        return NULL;
    uint32_t most = 0;
    for (uint32_t b = 0; b < cfg->count; b++)
        if (pm_ir_merge(cfg->blocks[b]))
            most += 2;
    s->block_count = cfg->count;
    s->constructs = pm_arena_zalloc(arena, most, sizeof(*s->constructs));
    s->innermost = pm_arena_zalloc(arena, cfg->count, sizeof(uint32_t));
    s->dominators = pm_dominators_compute(&cfg->structural, 0, arena);
    if (!s->constructs || !s->innermost || !s->dominators)
        return NULL;
    for (uint32_t b = 0; b < cfg->count; b++)
        s->innermost[b] = PM_NO_CONSTRUCT;
    const struct pm_dominators *d = s->dominators;
    for (uint32_t i = 0; i < d->tree_count; i++) {
        uint32_t b = d->preorder[i];
        if (d->parent[b] != PM_NO_BLOCK)
            s->innermost[b] = inherit(s, opened, d->parent[b], b);
        open_constructs(s, cfg->blocks[b], opened);
    }
    return s;
}

static bool construct_equal(const struct pm_construct *a, const struct pm_construct *b)
{
    return a->kind == b->kind && a->header == b->header && a->merge == b->merge &&
           a->continue_target == b->continue_target && a->parent == b->parent;
}

bool pm_structure_equal(const struct pm_structure *a, const struct pm_structure *b)
{
    if (a->count != b->count || a->block_count != b->block_count ||
        memcmp(a->innermost, b->innermost, a->block_count * sizeof(uint32_t)) != 0)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!construct_equal(&a->constructs[i], &b->constructs[i]))
            return false;
    return pm_dominators_equal(a->dominators, b->dominators);
}
