#include "shader_rewrite/blocks/steady_loops.h"

#include "shader_rewrite/analysis/analysis_flow.h"
#include "shader_rewrite/analysis/analysis_turns.h"
#include <math.h>

/* What the number of turns may be away from a whole one, as a share of it: as much as the published
 * intervals are wide at most. */
static const double steady_share = 0.05;

struct finding {
    const struct pm_blocks *blocks;
    const struct pm_cfg *cfg;
    const struct pm_loops *loops;
    double *edges; /* by place in successors */
};

static bool is_in(const struct finding *f, uint32_t loop, uint32_t block)
{
    return f->loops->loop_of[block] != PM_NO_LOOP &&
           pm_loop_is_around(f->loops, loop, f->loops->loop_of[block]);
}

/* How often the header is come to from within the loop; *latch: from where. */
static double count_back(const struct finding *f, uint32_t loop, const struct pm_ir_block **latch)
{
    const struct pm_graph *g = &f->cfg->flow;
    const uint32_t header = f->loops->loops[loop].header;
    double back = 0;
    *latch = NULL;
    for (uint32_t p = g->predecessor_start[header]; p < g->predecessor_start[header + 1]; p++) {
        const uint32_t from = g->predecessors[p];
        if (!is_in(f, loop, from))
            continue;
        *latch = f->cfg->blocks[from]; /* SPIR-V has one (2.11.2) */
        for (uint32_t s = g->successor_start[from]; s < g->successor_start[from + 1]; s++)
            if (g->successors[s] == header)
                back += f->edges[s];
    }
    return back;
}

static double turns_of(const struct finding *f, uint32_t loop, const struct pm_ir_block *latch,
                       double back)
{
    const struct pm_ir_block *header = f->cfg->blocks[f->loops->loops[loop].header];
    const double entries = pm_blocks_numbers(f->blocks, header).frequency - back;
    return entries > 0 ? pm_blocks_numbers(f->blocks, latch).frequency / entries : (double)NAN;
}

static bool is_exact_enough(const struct pm_block_numbers *numbers)
{
    return numbers->high - numbers->low <= 2 * steady_share * numbers->frequency;
}

static void judge(const struct finding *f, uint32_t loop, struct pm_steady_loop *turns)
{
    const struct pm_block_numbers latch = pm_blocks_numbers(f->blocks, turns->latch);
    const double whole = round(turns->turns);
    turns->rare = latch.subgroups < f->blocks->cold_share; /* of those that enter the shader */
    if (turns->rare) {
        turns->reason = "hardly any subgroup turns";
    } else if (!isfinite(turns->turns)) {
        turns->reason = "how often it turns is not known";
    } else if (!(whole >= 2 && whole <= PM_STEADY_MOST_TURNS)) {
        turns->reason = "it turns too seldom, or too often";
    } else if (fabs(turns->turns - whole) > steady_share * whole || !is_exact_enough(&latch)) {
        turns->reason = "it does not turn equally often";
    } else if (!pm_blocks_is_uniform(f->blocks, turns->latch)) {
        turns->reason = "lanes of a subgroup do not turn together";
    } else if (whole * turns->instructions > PM_STEADY_MOST_INSTRUCTIONS) {
        turns->reason = "it is too large";
    } else if (pm_loop_is_risky(f->blocks->function, loop)) {
        turns->reason = "a compiler may compute what follows from its turns otherwise";
    } else {
        turns->steady = (uint32_t)whole;
    }
}

static bool find_edges(struct finding *f)
{
    struct pm_arena *arena = f->blocks->arena;
    double *counts = pm_arena_zalloc(arena, f->cfg->count, sizeof(*counts));
    f->edges =
        pm_arena_zalloc(arena, f->cfg->flow.successor_start[f->cfg->count] + 1u, sizeof(*f->edges));
    if (!counts || !f->edges)
        return false;
    for (uint32_t b = 0; b < f->cfg->count; b++)
        counts[b] = pm_blocks_numbers(f->blocks, f->cfg->blocks[b]).frequency;
    return pm_flow_edges(f->blocks->function, counts, f->edges, arena);
}

struct pm_steady_loop *pm_steady_loops(const struct pm_blocks *blocks)
{
    struct finding f = {
        .blocks = blocks, .cfg = pm_cfg(blocks->function), .loops = pm_loops(blocks->function)};
    struct pm_steady_loop *turns =
        pm_arena_zalloc(blocks->arena, f.loops->count + 1u, sizeof(*turns));
    if (!turns || !find_edges(&f))
        return NULL;
    for (uint32_t b = 0; b < f.cfg->count; b++)
        for (uint32_t l = f.loops->loop_of[b]; l != PM_NO_LOOP; l = f.loops->loops[l].parent)
            for (const struct pm_ir_instr *i = f.cfg->blocks[b]->body.first; i; i = i->next)
                turns[l].instructions++;
    for (uint32_t l = 0; l < f.loops->count; l++) {
        const double back = count_back(&f, l, &turns[l].latch);
        if (!turns[l].latch) {
            turns[l].reason = "it never turns";
            continue;
        }
        turns[l].turns = turns_of(&f, l, turns[l].latch, back);
        judge(&f, l, &turns[l]);
    }
    return turns;
}
