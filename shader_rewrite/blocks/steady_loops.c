#include "shader_rewrite/blocks/steady_loops.h"

#include "shader_rewrite/analysis/analysis_flow.h"
#include "shader_rewrite/analysis/analysis_turns.h"
#include <math.h>

/* What the number of turns may be away from a whole one, as a share of it, and how many may make
 * another number of them: as much as the published intervals are wide at most. */
static const double steady_share = 0.05;

static const double many_lanes = 0.25; /* of those that enter the shader */

struct finding {
    const struct pm_blocks *blocks;
    const struct pm_cfg *cfg;
    const struct pm_loops *loops;
    double *edges; /* by place in successors */
};

/* How often the header is come to from the latch. */
static double count_back(const struct finding *f, uint32_t loop, const struct pm_ir_block *latch)
{
    const struct pm_graph *g = &f->cfg->flow;
    const uint32_t header = f->loops->loops[loop].header, from = latch->index;
    double back = 0;
    for (uint32_t s = g->successor_start[from]; s < g->successor_start[from + 1]; s++)
        if (g->successors[s] == header)
            back += f->edges[s];
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

/* ---- by the histogram ---- */

/* Of those that come to the loop, the share that makes so many turns; NAN: not known. */
static double reach(const struct pm_blocks *blocks, uint32_t first, uint32_t turn)
{
    const double *reached = blocks->info->profile->reached;
    return reached[first] > 0 ? reached[first + turn] / reached[first] : (double)NAN;
}

/* A loop that many lanes come to shows by all of its turns how it turns; of one that few come to
 * shares are chance where their intervals are wide, as they are of a few sessions. */
static bool is_counted_well(const struct pm_blocks *blocks, uint32_t first, uint32_t turn)
{
    const struct pm_block_profile *p = blocks->info->profile;
    const uint32_t point = first + turn;
    return p->reached[first] >= many_lanes || !p->reached_low || !p->reached_high ||
           p->reached_high[point] - p->reached_low[point] <= 2 * steady_share * p->reached[point];
}

/* How many turns nearly all make, in whole subgroups; at most one more than may be copied. */
static uint32_t always_made(const struct pm_blocks *blocks, uint32_t first)
{
    const double *uniform = blocks->info->profile->reached_uniform;
    uint32_t turn = 0;
    while (turn <= PM_STEADY_MOST_TURNS && reach(blocks, first, turn + 1) >= 1 - steady_share &&
           (!uniform || uniform[first + turn + 1] >= blocks->uniform_share))
        turn++;
    return turn;
}

/* What most make must not be far more than what all make, since that is left in the loop. */
static void judge_histogram(const struct pm_blocks *blocks, uint32_t first,
                            struct pm_steady_loop *turns)
{
    const uint32_t always = always_made(blocks, first), twice = 2 * always + 1;
    if (always > PM_STEADY_MOST_TURNS)
        turns->reason = "it turns too often";
    else if (!isfinite(reach(blocks, first, always + 1)))
        turns->reason = "how often it turns is not known";
    else if (always < 2)
        turns->reason = reach(blocks, first, 2) >= 1 - steady_share
                            ? "lanes of a subgroup do not turn together"
                            : "no two turns are nearly always made";
    else if (!is_counted_well(blocks, first, 0) || !is_counted_well(blocks, first, always))
        turns->reason = "how often it turns is not known well";
    else if (reach(blocks, first, twice < PM_TURN_POINTS ? twice : PM_TURN_POINTS - 1) > 0.5)
        turns->reason = "most turn far oftener than is nearly always made";
    else
        turns->always = always;
    if (turns->always && reach(blocks, first, always + 1) <= steady_share)
        turns->steady = always;
}

/* ---- by what the module says ---- */

static void judge_known(const struct pm_blocks *blocks, uint32_t known,
                        struct pm_steady_loop *turns)
{
    turns->turns = known;
    if (known < 2)
        turns->reason = "it turns once";
    else if (known > PM_STEADY_MOST_TURNS)
        turns->reason = "it turns too often";
    else if (!pm_blocks_is_uniform(blocks, turns->latch))
        turns->reason = "lanes of a subgroup do not turn together";
    else
        turns->steady = turns->always = known;
}

/* ---- by means ---- */

static void judge_means(const struct pm_blocks *blocks, struct pm_steady_loop *turns)
{
    const struct pm_block_numbers latch = pm_blocks_numbers(blocks, turns->latch);
    const double whole = round(turns->turns);
    if (!isfinite(turns->turns))
        turns->reason = "how often it turns is not known";
    else if (!(whole >= 2 && whole <= PM_STEADY_MOST_TURNS))
        turns->reason = "it turns too seldom, or too often";
    else if (fabs(turns->turns - whole) > steady_share * whole || !is_exact_enough(&latch))
        turns->reason = "it does not turn equally often";
    else if (!pm_blocks_is_uniform(blocks, turns->latch))
        turns->reason = "lanes of a subgroup do not turn together";
    else
        turns->steady = turns->always = (uint32_t)whole;
}

static const char risky[] = "a compiler may compute what follows from its turns otherwise";

static void judge(const struct finding *f, uint32_t loop, struct pm_steady_loop *turns)
{
    const struct pm_blocks *blocks = f->blocks;
    const uint32_t header = f->cfg->blocks[f->loops->loops[loop].header]->label->result->id;
    const uint32_t known = pm_loop_turns_always(blocks->function, loop);
    const uint32_t first = header < blocks->label_bound ? blocks->turns[header] : UINT32_MAX;
    turns->rare = pm_blocks_numbers(blocks, turns->latch).subgroups <
                  blocks->cold_share; /* of those that enter the shader */
    if (turns->rare) {
        turns->rare = !pm_loop_is_risky(blocks->function, loop);
        turns->reason = turns->rare ? "hardly any subgroup turns" : risky;
        return;
    }
    if (known > 0)
        judge_known(blocks, known, turns);
    else if (first != UINT32_MAX && isfinite(reach(blocks, first, 1)))
        judge_histogram(blocks, first, turns);
    else
        judge_means(blocks, turns);
    if (!turns->always)
        return;
    if (turns->always * turns->instructions > PM_STEADY_MOST_INSTRUCTIONS)
        turns->reason = "it is too large";
    else if (pm_loop_is_risky(blocks->function, loop))
        turns->reason = risky;
    if (turns->reason)
        turns->always = turns->steady = 0;
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
    uint32_t *sizes = pm_arena_zalloc(blocks->arena, f.loops->count + 1u, sizeof(*sizes));
    if (!turns || !sizes || !find_edges(&f))
        return NULL;
    pm_loop_sizes(blocks->function, sizes);
    for (uint32_t l = 0; l < f.loops->count; l++) {
        turns[l].instructions = sizes[l];
        turns[l].latch = pm_loop_latch(blocks->function, l);
        if (!turns[l].latch) {
            turns[l].reason = "it never turns";
            continue;
        }
        turns[l].turns = turns_of(&f, l, turns[l].latch, count_back(&f, l, turns[l].latch));
        judge(&f, l, &turns[l]);
    }
    return turns;
}
