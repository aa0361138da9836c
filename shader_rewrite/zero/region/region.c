#include "shader_rewrite/zero/region/hoist.h"

#include "shader_rewrite/analysis/analysis_lanes.h"
#include "shader_rewrite/ir/ir_builder.h"

#include <stdlib.h>

bool pm_zero_work_init(struct pm_zero_work *w, struct pm_ir_module *module,
                       struct pm_ir_function *function, enum pm_stage stage,
                       enum pm_float_zero float_zero, struct pm_arena *arena,
                       struct pm_error *error)
{
    *w = (struct pm_zero_work){
        .module = module, .function = function, .stage = stage, .arena = arena};
    if (!pm_analysis_require(function, PM_ANALYSIS_DOMINATORS | PM_ANALYSIS_LOOPS, error))
        return false;
    w->cfg = pm_cfg(function);
    w->structure = pm_structure(function);
    w->types = pm_number_types_of(module);
    w->memory = pm_zero_memory_of(module);
    w->id_count = module->bound;
    size_t instructions = 0;
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (struct pm_ir_instr *i = b->body.first; i; i = i->next) {
            i->mark = 0;
            instructions++;
        }
    uint32_t blocks = w->cfg->count;
    w->states = pm_arena_zalloc(arena, w->id_count, sizeof(*w->states));
    w->stack = pm_arena_zalloc(arena, w->id_count, sizeof(*w->stack));
    w->part_epoch = pm_arena_zalloc(arena, blocks, sizeof(uint32_t));
    w->part_of = pm_arena_zalloc(arena, blocks, sizeof(uint32_t));
    w->order = pm_arena_zalloc(arena, blocks, sizeof(uint32_t));
    w->parts = pm_arena_zalloc(arena, blocks, sizeof(*w->parts));
    w->construct_epoch = pm_arena_zalloc(arena, w->structure->count + 1u, sizeof(uint32_t));
    w->room = pm_arena_zalloc(arena, instructions + 1, sizeof(struct pm_ir_instr *));
    w->hoisted = pm_arena_zalloc(arena, PM_ZERO_MOST_HOISTED, sizeof(struct pm_ir_instr *));
    if (!w->states || !w->stack || !w->part_epoch || !w->part_of || !w->order || !w->parts ||
        !w->construct_epoch || !w->room || !w->hoisted ||
        !pm_zero_leaving_compute(&w->leaving, module, function, arena) ||
        !pm_zero_levels_compute(&w->levels, &w->memory, module, function, arena) ||
        !pm_zero_permission_compute(&w->permission, module, function, float_zero, arena))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    return true;
}

uint32_t pm_zero_level(const struct pm_zero_work *w, uint32_t block)
{
    uint32_t c = w->structure->innermost[block];
    if (c == PM_NO_CONSTRUCT)
        return c;
    const struct pm_construct *construct = &w->structure->constructs[c];
    bool opens = construct->header == block && construct->kind != PM_CONSTRUCT_CONTINUE;
    return opens ? construct->parent : c;
}

struct finding {
    struct pm_zero_work *w;
    struct pm_zero_region *region;
    struct pm_ir_block *block; /* the check's */
    struct pm_ir_instr *first; /* that may be in a region */
    uint32_t room_used;
};

/* The epochs of two regions are this far apart, so that marks of one are none of another. */
enum { EPOCH_STEP = 2 };

/* ---- the chain ---- */

static struct pm_zero_part *add_part(struct finding *f, uint32_t block)
{
    struct pm_zero_region *r = f->region;
    struct pm_zero_part *part = &r->parts[r->count];
    *part = (struct pm_zero_part){
        .block = block, .instrs = f->w->room + f->room_used, .folded = PM_NO_BLOCK};
    f->w->part_epoch[block] = r->epoch;
    f->w->part_of[block] = r->count++;
    return part;
}

/* Gives the part the block's instructions from `first` on that do not stay; false: something in
 * between stops the region there. */
static bool fill_part(struct finding *f, struct pm_zero_part *part, struct pm_ir_instr *first)
{
    uint32_t index = (uint32_t)(part - f->region->parts);
    const struct pm_ir_instr *end = pm_ir_block_end(f->w->cfg->blocks[part->block]);
    for (struct pm_ir_instr *i = first; i && i != end; i = i->next) {
        if (pm_zero_stays(f->region, i))
            continue;
        if (pm_zero_region_access(f->w, i).stops)
            return false;
        i->mark = f->region->epoch;
        f->region->quad |= pm_quads_reads(i);
        part->instrs[part->count++] = i;
        f->room_used++;
        if (i->result) {
            struct pm_zero_state *s = &f->w->states[i->result->id];
            *s = (struct pm_zero_state){.epoch = f->region->epoch, .part = index};
        }
    }
    return true;
}

static void take_end(struct finding *f, struct pm_zero_part *part)
{
    const struct pm_ir_block *block = f->w->cfg->blocks[part->block];
    struct pm_ir_instr *merge = pm_ir_merge(block);
    part->whole = true;
    pm_ir_terminator(block)->mark = f->region->epoch;
    if (merge)
        merge->mark = f->region->epoch;
}

static bool block_may_be_in(const struct finding *f, uint32_t index)
{
    const struct pm_ir_block *block = f->w->cfg->blocks[index];
    const struct pm_ir_instr *end = pm_ir_block_end(block);
    for (const struct pm_ir_instr *i = block->body.first; i && i != end; i = i->next)
        if (pm_zero_region_access(f->w, i).stops)
            return false;
    switch (pm_ir_terminator(block)->opcode) {
    case SpvOpBranch:
    case SpvOpBranchConditional:
    case SpvOpSwitch:
    case SpvOpReturn:
    case SpvOpKill:
    case SpvOpTerminateInvocation:
    case SpvOpUnreachable:
        return true;
    default:
        return false;
    }
}

static int by_key(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Collects the blocks of the construct that `header` opens, up to its merge block: w->order[0] up
 * to *count. false: something leaves it otherwise, or may not be in a region. */
static bool collect_construct(struct finding *f, uint32_t header, uint32_t merge, uint32_t *count)
{
    struct pm_zero_work *w = f->w;
    const struct pm_graph *g = &w->cfg->structural;
    const struct pm_dominators *d = w->structure->dominators;
    uint32_t seen = f->region->epoch + 1; /* in part_epoch: neither a part nor unseen */
    *count = 0;
    w->order[(*count)++] = header;
    bool ok = true;
    for (uint32_t at = 0; ok && at < *count; at++) {
        uint32_t b = w->order[at];
        ok = b == header || block_may_be_in(f, b);
        for (uint32_t s = g->successor_start[b]; ok && s < g->successor_start[b + 1]; s++) {
            uint32_t to = g->successors[s];
            if (to == merge || to == header || w->part_epoch[to] == seen)
                continue;
            ok = pm_dominates(d, header, to) && !pm_dominates(d, merge, to) &&
                 pm_zero_part_of(w, f->region, to) == PM_ZERO_NO_PART;
            if (!ok)
                break;
            w->part_epoch[to] = seen;
            w->order[(*count)++] = to;
        }
    }
    for (uint32_t i = 0; i < *count; i++)
        if (w->part_epoch[w->order[i]] == seen)
            w->part_epoch[w->order[i]] = 0;
    return ok;
}

/* Puts the construct's blocks in reverse post order, the unreachable ones last. */
static bool sort_blocks(struct finding *f, uint32_t count)
{
    uint64_t *keys = malloc(count * sizeof(*keys));
    if (!keys) {
        f->w->failed = true;
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        keys[i] = (uint64_t)f->w->cfg->order_of[f->w->order[i]] << 32 | f->w->order[i];
    qsort(keys, count, sizeof(*keys), by_key);
    for (uint32_t i = 0; i < count; i++)
        f->w->order[i] = (uint32_t)keys[i];
    free(keys);
    return true;
}

/* Adds the construct opened by the block that `part` is, or whose first part it is (with the
 * header, when add_header). */
static void add_construct(struct finding *f, uint32_t header, uint32_t count, bool add_header)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t b = f->w->order[i];
        if (b == header && !add_header)
            continue;
        struct pm_zero_part *part = add_part(f, b);
        fill_part(f, part, f->w->cfg->blocks[b]->body.first);
        take_end(f, part);
    }
}

/* Whether the chain may go on to a block that a part of it branches to. */
static bool may_follow(const struct finding *f, uint32_t from, uint32_t to)
{
    const struct pm_graph *g = &f->w->cfg->flow;
    if (pm_zero_level(f->w, to) != pm_zero_level(f->w, from) || from == to)
        return false;
    const struct pm_ir_instr *merge = pm_ir_merge(f->w->cfg->blocks[to]);
    bool loop = merge && merge->opcode == SpvOpLoopMerge;
    for (uint32_t p = g->predecessor_start[to]; p < g->predecessor_start[to + 1]; p++)
        if (g->predecessors[p] != from &&
            !(loop && pm_dominates(f->w->structure->dominators, to, g->predecessors[p])))
            return false;
    return true;
}

/* A loop that the chain comes to is in the region whole. Returns its merge block; PM_NO_BLOCK: it
 * may not be. */
static uint32_t add_loop(struct finding *f, uint32_t header)
{
    uint32_t count;
    uint32_t merge = pm_ir_block_of(pm_ir_merge(f->w->cfg->blocks[header])->operands[0].def)->index;
    if (!pm_cfg_reachable(f->w->cfg, merge) || !block_may_be_in(f, header) ||
        !collect_construct(f, header, merge, &count) || !sort_blocks(f, count))
        return PM_NO_BLOCK;
    add_construct(f, header, count, true);
    return merge;
}

/* Where the chain goes on behind a part that was filled to its end; PM_NO_BLOCK: it ends there. */
static uint32_t follow(struct finding *f, struct pm_zero_part *part)
{
    struct pm_zero_work *w = f->w;
    const struct pm_ir_block *block = w->cfg->blocks[part->block];
    const struct pm_ir_instr *end = pm_ir_terminator(block), *merge = pm_ir_merge(block);
    uint32_t count;
    if (merge && merge->opcode == SpvOpSelectionMerge) {
        uint32_t to = pm_ir_block_of(merge->operands[0].def)->index;
        if (!pm_cfg_reachable(w->cfg, to) || !collect_construct(f, part->block, to, &count) ||
            !sort_blocks(f, count))
            return PM_NO_BLOCK;
        take_end(f, part);
        add_construct(f, part->block, count, false);
        return to;
    }
    if (merge || end->opcode != SpvOpBranch)
        return PM_NO_BLOCK;
    uint32_t to = pm_ir_block_of(end->operands[0].def)->index;
    if (!may_follow(f, part->block, to))
        return PM_NO_BLOCK;
    const struct pm_ir_instr *loop = pm_ir_merge(w->cfg->blocks[to]);
    if (loop && loop->opcode == SpvOpLoopMerge) {
        to = add_loop(f, to);
        if (to == PM_NO_BLOCK)
            return to;
    }
    take_end(f, part);
    return to;
}

/* false: there is no region, its reason says why. */
static bool find_chain(struct finding *f, uint32_t end)
{
    struct pm_zero_part *part = add_part(f, f->block->index);
    part->chain = true;
    bool goes_on = fill_part(f, part, f->first);
    while (goes_on && part->block != end) {
        uint32_t next = follow(f, part);
        if (next == PM_NO_BLOCK)
            return true;
        if (pm_zero_part_of(f->w, f->region, next) != PM_ZERO_NO_PART) {
            f->region->reason = "it comes to a block twice"; /* in no valid module */
            return false;
        }
        part = add_part(f, next);
        part->chain = true;
        goes_on = fill_part(f, part, f->w->cfg->blocks[next]->body.first);
    }
    return true;
}

bool pm_zero_region_find(struct pm_zero_work *w, const struct pm_zero_candidate *candidate,
                         struct pm_zero_extent extent, struct pm_zero_region *region)
{
    w->epoch += EPOCH_STEP;
    *region = (struct pm_zero_region){
        .candidate = candidate, .epoch = w->epoch, .parts = w->parts, .quad = candidate->quad};
    struct finding f = {.w = w, .region = region};
    const struct pm_ir_block *complete;
    if (!pm_zero_hoist_find(w, region, &complete)) {
        region->reason = "its values are not available together";
        return false;
    }
    f.block = w->cfg->blocks[extent.start != PM_NO_BLOCK ? extent.start : complete->index];
    f.first = pm_ir_block_start(f.block);
    if (!pm_zero_hoist(w, region, f.block)) {
        region->reason = "what it needs is not ready earlier";
        return false;
    }
    uint32_t level = pm_zero_level(w, f.block->index);
    const struct pm_ir_instr *merge = pm_ir_merge(f.block);
    if ((level != PM_NO_CONSTRUCT &&
         w->structure->constructs[level].kind == PM_CONSTRUCT_CONTINUE) ||
        (merge && merge->opcode == SpvOpLoopMerge &&
         merge->operands[1].def == f.block->label->result)) {
        region->reason = "it is in the continue construct of a loop";
        return false;
    }
    if (!find_chain(&f, extent.end))
        return false;
    /* What reads a quad was looked for behind the candidate, and by fill_part before it. */
    if (region->hoisted_count && pm_zero_part_of(w, region, complete->index) == PM_ZERO_NO_PART) {
        region->reason = "what it needs is not ready earlier";
        return false;
    }
    if (w->stage != PM_STAGE_FRAGMENT)
        region->quad = false;
    if (region->quad && !w->subgroup_quad) {
        region->reason = "the device has no quad operations";
        return false;
    }
    return !w->failed;
}
