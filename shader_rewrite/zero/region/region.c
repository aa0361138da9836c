#include "shader_rewrite/zero/region/hoist.h"

#include "shader_rewrite/analysis/analysis_lanes.h"
#include "shader_rewrite/ir/ir_builder.h"

#include <stdlib.h>

bool pm_zero_round_init(struct pm_zero_round *round, struct pm_ir_module *module,
                        struct pm_ir_function *function, enum pm_stage stage,
                        enum pm_float_zero float_zero, struct pm_arena *arena,
                        struct pm_error *error)
{
    *round = (struct pm_zero_round){
        .module = module, .function = function, .stage = stage, .arena = arena};
    round->cfg = pm_cfg(function);
    round->structure = pm_structure(function);
    round->types = pm_number_types_of(module);
    round->memory = pm_memory_of(module);
    round->id_count = module->bound;
    size_t instructions = 0;
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (struct pm_ir_instr *i = b->body.first; i; i = i->next) {
            i->mark = 0;
            instructions++;
        }
    round->positions = pm_arena_zalloc(arena, round->id_count, sizeof(uint32_t));
    if (!round->positions)
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    uint32_t position = 0;
    for (const struct pm_ir_block *b = function->first_block; b; b = b->next)
        for (const struct pm_ir_instr *i = b->body.first; i; i = i->next, position++)
            if (i->result)
                round->positions[i->result->id] = position;
    uint32_t blocks = round->cfg->count;
    round->states = pm_arena_zalloc(arena, round->id_count, sizeof(*round->states));
    round->stack = pm_arena_zalloc(arena, round->id_count, sizeof(*round->stack));
    round->part_epoch = pm_arena_zalloc(arena, blocks, sizeof(uint32_t));
    round->part_of = pm_arena_zalloc(arena, blocks, sizeof(uint32_t));
    round->order = pm_arena_zalloc(arena, blocks, sizeof(uint32_t));
    round->parts = pm_arena_zalloc(arena, blocks, sizeof(*round->parts));
    round->construct_epoch = pm_arena_zalloc(arena, round->structure->count + 1u, sizeof(uint32_t));
    round->room = pm_arena_zalloc(arena, instructions + 1, sizeof(struct pm_ir_instr *));
    round->hoisted = pm_arena_zalloc(arena, PM_ZERO_MOST_HOISTED, sizeof(struct pm_ir_instr *));
    if (!round->states || !round->stack || !round->part_epoch || !round->part_of || !round->order ||
        !round->parts || !round->construct_epoch || !round->room || !round->hoisted ||
        !pm_quads_compute(&round->quads, function, arena) ||
        !pm_leaving_values_compute(&round->leaving, module, function, arena) ||
        !pm_detail_levels_compute(&round->levels, &round->memory, module, function, arena) ||
        !pm_uniform_compute(&round->uniform, PM_UNIFORM_WORKGROUP, module, &round->memory, function,
                            arena) ||
        !pm_float_permission_compute(&round->permission, module, function, float_zero, arena))
        return pm_fail(error, PM_ERROR_MEMORY, "out of memory");
    return true;
}

uint32_t pm_zero_construct_around(const struct pm_zero_round *round, uint32_t block)
{
    uint32_t c = round->structure->innermost[block];
    if (c == PM_NO_CONSTRUCT)
        return c;
    const struct pm_construct *construct = &round->structure->constructs[c];
    bool opens = construct->header == block && construct->kind != PM_CONSTRUCT_CONTINUE;
    return opens ? construct->parent : c;
}

struct finding {
    struct pm_zero_round *round;
    struct pm_zero_region *region;
    struct pm_ir_block *block; /* the check's */
    uint32_t complete;         /* the block in which the candidate is */
    uint32_t limit;            /* of what may be used of the room, but for constructs begun */
    uint32_t room_used;
    bool whole; /* nothing stops it: it is the whole function */
};

/* The epochs of two regions are this far apart, so that marks of one are none of another. */
enum { EPOCH_STEP = 2 };

/* ---- the chain ---- */

static struct pm_zero_part *add_part(struct finding *f, uint32_t block)
{
    struct pm_zero_region *r = f->region;
    struct pm_zero_part *part = &r->parts[r->count];
    *part = (struct pm_zero_part){
        .block = block, .instrs = f->round->room + f->room_used, .folded = PM_NO_BLOCK};
    f->round->part_epoch[block] = r->epoch;
    f->round->part_of[block] = r->count++;
    return part;
}

/* Whether the window ends before the next instruction. OpPhi of a block are not parted. */
static bool is_full(struct finding *f, const struct pm_ir_instr *next)
{
    if (f->room_used < f->limit || next->opcode == SpvOpPhi ||
        pm_zero_part_of(f->round, f->region, f->complete) == PM_ZERO_NO_PART)
        return false;
    f->region->cut_behind = true;
    return true;
}

/* Gives the part the block's instructions from `first` on that do not stay; false: something in
 * between stops the region there, or the window ends. whole: it does not end in here. */
static bool fill_part(struct finding *f, struct pm_zero_part *part, struct pm_ir_instr *first,
                      bool whole)
{
    uint32_t index = (uint32_t)(part - f->region->parts);
    const struct pm_ir_instr *end = pm_ir_block_end(f->round->cfg->blocks[part->block]);
    for (struct pm_ir_instr *i = first; i && i != end; i = i->next) {
        if (pm_zero_stays(f->region, i))
            continue;
        if (!f->whole && (pm_zero_region_access(f->round, i).stops || (!whole && is_full(f, i))))
            return false;
        i->mark = f->region->epoch;
        f->region->quad |= pm_reads_other_lanes(i) &&
                           (i->opcode != SpvOpGroupNonUniformAll || !pm_zero_is_earlier_check(i));
        part->instrs[part->count++] = i;
        f->room_used++;
        if (i->result) {
            struct pm_zero_state *s = &f->round->states[i->result->id];
            *s = (struct pm_zero_state){.epoch = f->region->epoch, .part = index};
        }
    }
    return true;
}

static void take_end(struct finding *f, struct pm_zero_part *part)
{
    const struct pm_ir_block *block = f->round->cfg->blocks[part->block];
    struct pm_ir_instr *merge = pm_ir_merge(block);
    part->whole = true;
    pm_ir_terminator(block)->mark = f->region->epoch;
    if (merge)
        merge->mark = f->region->epoch;
}

static bool block_may_be_in(const struct finding *f, uint32_t index)
{
    const struct pm_ir_block *block = f->round->cfg->blocks[index];
    const struct pm_ir_instr *end = pm_ir_block_end(block);
    for (const struct pm_ir_instr *i = block->body.first; i && i != end; i = i->next)
        if (pm_zero_region_access(f->round, i).stops)
            return false;
    switch (pm_ir_terminator(block)->opcode) {
    case SpvOpBranch:
    case SpvOpBranchConditional:
    case SpvOpSwitch:
        return true;
    default:
        return pm_ir_ends_invocation(pm_ir_terminator(block));
    }
}

static int by_key(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Collects the blocks of the construct that `header` opens, up to its merge block: round->order[0]
 * up to *count. false: something leaves it otherwise, or may not be in a region. */
static bool collect_construct(struct finding *f, uint32_t header, uint32_t merge, uint32_t *count)
{
    struct pm_zero_round *round = f->round;
    const struct pm_graph *g = &round->cfg->structural;
    const struct pm_dominators *d = round->structure->dominators;
    uint32_t seen = f->region->epoch + 1; /* in part_epoch: neither a part nor unseen */
    *count = 0;
    round->order[(*count)++] = header;
    bool ok = true;
    for (uint32_t at = 0; ok && at < *count; at++) {
        uint32_t b = round->order[at];
        ok = b == header || block_may_be_in(f, b);
        for (uint32_t s = g->successor_start[b]; ok && s < g->successor_start[b + 1]; s++) {
            uint32_t to = g->successors[s];
            if (to == merge || to == header || round->part_epoch[to] == seen)
                continue;
            ok = pm_dominates(d, header, to) && !pm_dominates(d, merge, to) &&
                 pm_zero_part_of(round, f->region, to) == PM_ZERO_NO_PART;
            if (!ok)
                break;
            round->part_epoch[to] = seen;
            round->order[(*count)++] = to;
        }
    }
    for (uint32_t i = 0; i < *count; i++)
        if (round->part_epoch[round->order[i]] == seen)
            round->part_epoch[round->order[i]] = 0;
    return ok;
}

/* Puts the construct's blocks in reverse post order, the unreachable ones last. */
static bool sort_blocks(struct finding *f, uint32_t count)
{
    uint64_t *keys = malloc(count * sizeof(*keys));
    if (!keys) {
        f->round->failed = true;
        return false;
    }
    for (uint32_t i = 0; i < count; i++)
        keys[i] = (uint64_t)f->round->cfg->order_of[f->round->order[i]] << 32 | f->round->order[i];
    qsort(keys, count, sizeof(*keys), by_key);
    for (uint32_t i = 0; i < count; i++)
        f->round->order[i] = (uint32_t)keys[i];
    free(keys);
    return true;
}

/* Adds the construct opened by the block that `part` is, or whose first part it is (with the
 * header, when add_header). */
static void add_construct(struct finding *f, uint32_t header, uint32_t count, bool add_header)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t b = f->round->order[i];
        if (b == header && !add_header)
            continue;
        struct pm_zero_part *part = add_part(f, b);
        fill_part(f, part, f->round->cfg->blocks[b]->body.first, true);
        take_end(f, part);
    }
}

/* Whether the chain may go on to a block that a part of it branches to. */
static bool may_follow(const struct finding *f, uint32_t from, uint32_t to)
{
    const struct pm_graph *g = &f->round->cfg->flow;
    if (pm_zero_construct_around(f->round, to) != pm_zero_construct_around(f->round, from) ||
        from == to)
        return false;
    const struct pm_ir_instr *merge = pm_ir_merge(f->round->cfg->blocks[to]);
    bool loop = merge && merge->opcode == SpvOpLoopMerge;
    for (uint32_t p = g->predecessor_start[to]; p < g->predecessor_start[to + 1]; p++)
        if (g->predecessors[p] != from &&
            !(loop && pm_dominates(f->round->structure->dominators, to, g->predecessors[p])))
            return false;
    return true;
}

/* Whether the chain may go on in a construct's merge block: one that begins a loop cannot be split,
 * since the loop would come around to what is no header. */
static bool may_go_on_in(const struct finding *f, uint32_t block)
{
    const struct pm_ir_instr *merge = pm_ir_merge(f->round->cfg->blocks[block]);
    return pm_cfg_reachable(f->round->cfg, block) && !(merge && merge->opcode == SpvOpLoopMerge);
}

/* A loop that the chain comes to is in the region whole. Returns its merge block; PM_NO_BLOCK: it
 * may not be. */
static uint32_t add_loop(struct finding *f, uint32_t header)
{
    uint32_t count;
    uint32_t merge =
        pm_ir_block_of(pm_ir_merge(f->round->cfg->blocks[header])->operands[0].def)->index;
    if (!may_go_on_in(f, merge) || !block_may_be_in(f, header) ||
        !collect_construct(f, header, merge, &count) || !sort_blocks(f, count))
        return PM_NO_BLOCK;
    add_construct(f, header, count, true);
    return merge;
}

/* Where the chain goes on behind a part that was filled to its end; PM_NO_BLOCK: it ends there. */
static uint32_t follow(struct finding *f, struct pm_zero_part *part)
{
    struct pm_zero_round *round = f->round;
    const struct pm_ir_block *block = round->cfg->blocks[part->block];
    const struct pm_ir_instr *end = pm_ir_terminator(block), *merge = pm_ir_merge(block);
    uint32_t count;
    if (merge && merge->opcode == SpvOpSelectionMerge) {
        uint32_t to = pm_ir_block_of(merge->operands[0].def)->index;
        if (!may_go_on_in(f, to) || !collect_construct(f, part->block, to, &count) ||
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
    const struct pm_ir_instr *loop = pm_ir_merge(round->cfg->blocks[to]);
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
    bool goes_on = fill_part(f, part, f->region->first, false);
    while (goes_on && part->block != end &&
           !is_full(f, pm_ir_terminator(f->round->cfg->blocks[part->block]))) {
        uint32_t next = follow(f, part);
        if (next == PM_NO_BLOCK)
            return true;
        if (pm_zero_part_of(f->round, f->region, next) != PM_ZERO_NO_PART) {
            f->region->reason = "it comes to a block twice"; /* in no valid module */
            return false;
        }
        part = add_part(f, next);
        part->chain = true;
        goes_on = fill_part(f, part, f->round->cfg->blocks[next]->body.first, false);
    }
    return true;
}

/* Where the window begins in the check's block, and how much of the room that leaves. */
static void open_window(struct finding *f, struct pm_zero_extent extent,
                        struct pm_zero_window window)
{
    struct pm_ir_instr *start = pm_ir_block_start(f->block);
    f->region->first = start;
    f->limit = UINT32_MAX;
    if (window.behind < UINT32_MAX - window.before)
        f->limit = window.before + window.behind;
    const struct pm_ir_instr *last = pm_zero_hoist_last(f->round, f->region, f->block);
    if (extent.start != PM_NO_BLOCK || !last || last->opcode == SpvOpPhi)
        return;
    struct pm_ir_instr *at = last->result->instr;
    for (uint32_t i = 0; i < window.before && at != start; i++)
        at = at->prev;
    f->region->first = at;
    f->region->cut_before = at != start;
}

bool pm_zero_region_find(struct pm_zero_round *round, const struct pm_zero_candidate *candidate,
                         struct pm_zero_extent extent, struct pm_zero_window window,
                         struct pm_zero_region *region)
{
    round->epoch += EPOCH_STEP;
    *region = (struct pm_zero_region){.candidate = candidate,
                                      .epoch = round->epoch,
                                      .parts = round->parts,
                                      .quad = candidate->quad};
    struct finding f = {.round = round, .region = region};
    const struct pm_ir_block *complete;
    if (!pm_zero_hoist_find(round, region, &complete)) {
        region->reason = "its values are not available together";
        return false;
    }
    f.block = round->cfg->blocks[extent.start != PM_NO_BLOCK ? extent.start : complete->index];
    f.complete = complete->index;
    open_window(&f, extent, window);
    if (!pm_zero_hoist(round, region, f.block)) {
        region->reason = "what it needs is not ready earlier";
        return false;
    }
    uint32_t level = pm_zero_construct_around(round, f.block->index);
    const struct pm_ir_instr *merge = pm_ir_merge(f.block);
    if ((level != PM_NO_CONSTRUCT &&
         round->structure->constructs[level].kind == PM_CONSTRUCT_CONTINUE) ||
        (merge && merge->opcode == SpvOpLoopMerge &&
         merge->operands[1].def == f.block->label->result)) {
        region->reason = "it is in the continue construct of a loop";
        return false;
    }
    const bool found = find_chain(&f, extent.end);
    round->work += f.room_used + region->count;
    if (!found)
        return false;
    /* What reads a quad was looked for behind the candidate, and by fill_part before it. */
    if (region->hoisted_count &&
        pm_zero_part_of(round, region, complete->index) == PM_ZERO_NO_PART) {
        region->reason = "what it needs is not ready earlier";
        return false;
    }
    /* Of an integer that is compared with 0, or of bits, compilers know the value in S, where no
     * vote hides it. */
    region->uniform = candidate->is_float && !candidate->plus;
    for (uint32_t i = 0; i < candidate->value_count; i++)
        region->uniform =
            region->uniform && pm_uniform_in(&round->uniform, region->values[i], f.block);
    if (round->stage != PM_STAGE_FRAGMENT || region->uniform)
        region->quad = false;
    if (region->quad && !round->subgroup_quad) {
        region->reason = "the device has no quad operations";
        return false;
    }
    return !round->failed;
}

/* ---- the whole function ---- */

static void add_whole(struct finding *f, uint32_t block)
{
    struct pm_ir_block *of = f->round->cfg->blocks[block];
    struct pm_zero_part *part = add_part(f, block);
    part->chain = pm_dominates(pm_postdominators(f->round->function), block, 0);
    fill_part(f, part, block == 0 ? pm_ir_block_start(of) : of->body.first, true);
    take_end(f, part);
}

void pm_zero_region_whole(struct pm_zero_round *round, const struct pm_zero_value *const *known,
                          struct pm_zero_region *region)
{
    static const struct pm_zero_candidate nothing = {0};
    const struct pm_cfg *cfg = round->cfg;
    round->epoch += EPOCH_STEP;
    *region = (struct pm_zero_region){
        .candidate = &nothing, .known = known, .epoch = round->epoch, .parts = round->parts};
    struct finding f = {.round = round, .region = region, .whole = true};
    for (uint32_t i = 0; i < cfg->order_count; i++)
        add_whole(&f, cfg->order[i]);
    for (uint32_t b = 0; b < cfg->count; b++)
        if (!pm_cfg_reachable(cfg, b))
            add_whole(&f, b);
    round->work += f.room_used;
}
