#include "shader_rewrite/zero/choose/worth.h"

#include "shader_rewrite/zero/choose/estimate.h"
#include "shader_rewrite/zero/choose/opportunity.h"

#include <math.h>

/* Loops deeper than this weigh no more. */
enum { DEEPEST = 8 };

static uint32_t depth_of(const struct pm_loops *loops, uint32_t loop)
{
    return loop == PM_NO_LOOP ? 0 : loops->loops[loop].depth;
}

static double turns(uint32_t depth)
{
    return pow(PM_ZERO_MOST_TURNS, depth < DEEPEST ? depth : DEEPEST);
}

bool pm_zero_best_case_init(struct pm_zero_best_case *best, struct pm_zero_round *round)
{
    const struct pm_cfg *cfg = round->cfg;
    const struct pm_loops *loops = pm_loops(round->function);
    struct pm_arena *arena = round->arena;
    *best = (struct pm_zero_best_case){.round = round};
    double **const rooms[] = {&best->most, &best->r, &best->s, &best->least};
    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++)
        if (!(*rooms[i] = pm_arena_zalloc(arena, cfg->count, sizeof(double))))
            return false;
    for (uint32_t b = 0; b < cfg->count; b++)
        best->most[b] = pm_cfg_reachable(cfg, b) ? turns(depth_of(loops, loops->loop_of[b])) : 0;
    round->weights = best->most;
    for (uint32_t t = 0; t < PM_COST_TABLES; t++) {
        best->cycles[t] = pm_arena_zalloc(arena, cfg->count, sizeof(double));
        best->before[t] = pm_arena_zalloc(arena, cfg->count, sizeof(double));
        if (!best->cycles[t] || !best->before[t])
            return false;
        round->costs = pm_costs_table(t);
        for (uint32_t b = 0; b < cfg->count; b++) {
            best->cycles[t][b] = pm_zero_estimate_block(round, b);
            best->before[t][b] = -1;
        }
    }
    return true;
}

/* How much deeper in loops a block is than what surrounds both it and another. */
static uint32_t deeper(const struct pm_loops *loops, uint32_t block, uint32_t other)
{
    uint32_t inner = loops->loop_of[block], around = loops->loop_of[other];
    while (!pm_loop_is_around(loops, around, inner))
        around = loops->loops[around].parent;
    return depth_of(loops, inner) - depth_of(loops, around);
}

/* What the blocks that dominate a block cost at least, when it weighs most. */
static double before(struct pm_zero_best_case *best, uint32_t t, uint32_t block)
{
    double *known = &best->before[t][block];
    if (*known >= 0)
        return *known;
    const struct pm_dominators *d = pm_dominators(best->round->function);
    const struct pm_loops *loops = pm_loops(best->round->function);
    *known = 0;
    for (uint32_t b = d->parent[block]; b != PM_NO_BLOCK; b = d->parent[b])
        *known += best->most[block] / turns(deeper(loops, block, b)) * best->cycles[t][b];
    return *known;
}

/* What each part costs, and how often it runs at least: those of the chain as often as the check,
 * until one may be the last. */
static void fill_parts(struct pm_zero_best_case *best, const struct pm_zero_region *region)
{
    const struct pm_zero_round *round = best->round;
    double check = best->most[region->parts[0].block];
    bool sure = true;
    for (uint32_t i = 0; i < region->count; i++) {
        const struct pm_zero_part *part = &region->parts[i];
        struct pm_zero_part_costs costs = pm_zero_estimate_part(round, region, part);
        best->r[i] = costs.r;
        best->s[i] = costs.s;
        best->least[i] = part->chain && sure ? check : 0;
        sure = sure && !(part->whole &&
                         pm_ir_ends_invocation(pm_ir_terminator(round->cfg->blocks[part->block])));
    }
}

/* The largest share of the shader that any weights give (a fraction of sums: Dinkelbach). */
static double most_share(const struct pm_zero_best_case *best, const struct pm_zero_region *region,
                         double check, double rest)
{
    enum { STEPS = 20 };
    double share = 0;
    for (int step = 0; step < STEPS; step++) {
        double saved = -check, cycles = rest;
        for (uint32_t i = 0; i < region->count; i++) {
            double gain = best->r[i] - best->s[i];
            double weight =
                gain > share * best->r[i] ? best->most[region->parts[i].block] : best->least[i];
            saved += weight * gain;
            cycles += weight * best->r[i];
        }
        double now = cycles > 0 ? saved / cycles : 0;
        if (!(now > share * (1 + 1e-9)))
            break;
        share = now;
    }
    return share;
}

static void add_region(struct pm_zero_best_case *best, const struct pm_zero_region *region,
                       bool checked, struct pm_zero_worth *worth)
{
    struct pm_zero_round *round = best->round;
    uint32_t first = region->parts[0].block;
    for (uint32_t t = 0; t < PM_COST_TABLES; t++) {
        round->costs = pm_costs_table(t);
        fill_parts(best, region);
        double check = checked ? best->most[first] * pm_zero_estimate_check(round, region) : 0;
        double saved = -check;
        for (uint32_t i = 0; i < region->count; i++)
            saved += best->most[region->parts[i].block] * (best->r[i] - best->s[i]);
        double rest = before(best, t, first) +
                      best->most[first] * fmax(best->cycles[t][first] - best->r[0], 0);
        double share = saved > 0 ? most_share(best, region, check, rest) : 0;
        worth->saved[t] = fmax(worth->saved[t], saved);
        worth->share[t] = fmax(worth->share[t], share);
    }
}

struct pm_zero_worth pm_zero_worth_of(struct pm_zero_best_case *best,
                                      const struct pm_zero_candidate *candidate)
{
    struct pm_zero_worth worth = {0};
    struct pm_zero_extents extents;
    pm_zero_extents_all(best->round, candidate, &extents);
    for (uint32_t i = 0; i < extents.count && !best->round->failed; i++) {
        struct pm_zero_region region;
        bool explored = pm_zero_region_explore(best->round, candidate, extents.extents[i], &region);
        region.quad = candidate->quad; /* a shorter one may need no more */
        if (explored)
            add_region(best, &region, true, &worth);
    }
    return worth;
}

struct pm_zero_worth pm_zero_worth_unchecked(struct pm_zero_best_case *best,
                                             const struct pm_zero_region *region)
{
    struct pm_zero_worth worth = {0};
    add_region(best, region, false, &worth);
    return worth;
}
