#include "shader_rewrite/zero/choose/opportunity.h"

#include "shader_rewrite/zero/region/hoist.h"
#include "shader_rewrite/zero/region/leaving.h"

/* Places that are tried for a candidate: its cost stays linear in its region's size. */
enum { MOST_STARTS = 4, MOST_ENDS = 8 };
enum { MOST_TRIES = PM_ZERO_MOST_EXTENTS + MOST_STARTS + MOST_ENDS };

/* A region is as good as the best when it saves this share of it. */
static const double nearly = 0.95;

const char *pm_zero_judge(const struct pm_zero_bars *bars, const struct pm_zero_estimate *e)
{
    if (bars->none)
        return NULL;
    if (!(e->saved > bars->least_saving))
        return "it saves too few cycles";
    if (!(e->su > e->threshold))
        return "it saves too little for its blocks";
    return NULL;
}

/* One candidate's. */
struct search {
    struct pm_zero_round *round;
    const struct pm_zero_candidate *candidate;
    double probability;
    const struct pm_zero_bars *bars;
    struct pm_zero_opportunity tries[MOST_TRIES];
    uint32_t count;
};

/* Cuts it down to what it needs, and says whether it can be transformed. */
static bool finish(struct pm_zero_round *round, struct pm_zero_region *region)
{
    if (!pm_zero_region_refine(round, region)) {
        region->reason = "it would change nothing";
        return false;
    }
    return pm_zero_can_transform(round, region);
}

/* Judges a region that was explored; or one that there is not. */
static void conclude(struct search *s, struct pm_zero_extent extent, bool explored,
                     struct pm_zero_region *region)
{
    struct pm_zero_opportunity *o = &s->tries[s->count++];
    o->extent = extent;
    o->estimated = explored && finish(s->round, region);
    o->reason = region->reason;
    if (!o->estimated)
        return;
    o->estimate = pm_zero_estimate_region(s->round, region, s->probability);
    o->reason = pm_zero_judge(s->bars, &o->estimate);
}

static bool may_be_taken(const struct pm_zero_opportunity *o)
{
    return o->estimated && !o->reason;
}

/* Of those that may be taken, the fewest blocks that save nearly the most; the first of all where
 * none may. */
static const struct pm_zero_opportunity *choose(const struct search *s)
{
    const struct pm_zero_opportunity *best = NULL;
    double most = 0;
    for (uint32_t i = 0; i < s->count; i++)
        if (may_be_taken(&s->tries[i]) && (!best || s->tries[i].estimate.saved > most)) {
            best = &s->tries[i];
            most = best->estimate.saved;
        }
    for (uint32_t i = 0; best && i < s->count; i++)
        if (may_be_taken(&s->tries[i]) && s->tries[i].estimate.saved >= most * nearly &&
            s->tries[i].estimate.blocks < best->estimate.blocks)
            best = &s->tries[i];
    return best ? best : &s->tries[0];
}

static void try_extent(struct search *s, struct pm_zero_extent extent)
{
    struct pm_zero_region region;
    if (!s->round->failed)
        conclude(s, extent, pm_zero_region_explore(s->round, s->candidate, extent, &region),
                 &region);
}

void pm_zero_extents_all(const struct pm_zero_round *round,
                         const struct pm_zero_candidate *candidate, struct pm_zero_extents *extents)
{
    struct pm_zero_region region = {.candidate = candidate};
    const struct pm_ir_block *complete;
    extents->extents[0] = PM_ZERO_ALL_EXTENT;
    extents->count = 1;
    if (!pm_zero_hoist_find(round, &region, &complete))
        return;
    uint32_t start = complete->index;
    while (extents->count < PM_ZERO_MOST_EXTENTS) {
        start = pm_zero_hoist_above(round, start);
        if (start == PM_NO_BLOCK)
            return;
        extents->extents[extents->count++] = (struct pm_zero_extent){start, PM_NO_BLOCK};
    }
}

static void try_above(struct search *s)
{
    struct pm_zero_extents extents;
    pm_zero_extents_all(s->round, s->candidate, &extents);
    for (uint32_t i = 1; i < extents.count; i++)
        try_extent(s, extents.extents[i]);
}

/* Its whole region, then those with other ends, then with other starts. */
static void search(struct search *s, bool fit)
{
    struct pm_zero_region region;
    struct pm_zero_extent extent = PM_ZERO_ALL_EXTENT;
    uint32_t places[MOST_STARTS + MOST_ENDS], starts = 0, ends = 0;
    bool explored = pm_zero_region_explore(s->round, s->candidate, extent, &region);
    if (explored && fit) {
        starts = pm_zero_region_starts(s->round, &region, MOST_STARTS, places);
        ends = pm_zero_region_ends(s->round, &region, MOST_ENDS, places + starts);
    }
    conclude(s, extent, explored, &region);
    for (uint32_t i = 0; i < ends; i++)
        try_extent(s, (struct pm_zero_extent){PM_NO_BLOCK, places[starts + i]});
    extent.end = choose(s)->extent.end;
    for (uint32_t i = 0; i < starts; i++)
        try_extent(s, (struct pm_zero_extent){places[i], extent.end});
}

struct pm_zero_opportunity pm_zero_opportunity_find(struct pm_zero_round *round,
                                                    const struct pm_zero_candidate *candidate,
                                                    double probability,
                                                    const struct pm_zero_bars *bars,
                                                    const struct pm_zero_beyond *beyond)
{
    struct search s = {
        .round = round, .candidate = candidate, .probability = probability, .bars = bars};
    search(&s, beyond->fit_regions);
    if (beyond->hoist_across && !round->failed)
        try_above(&s);
    return *choose(&s);
}

bool pm_zero_opportunity_region(struct pm_zero_round *round,
                                const struct pm_zero_candidate *candidate,
                                const struct pm_zero_opportunity *opportunity, const bool *wanted,
                                struct pm_zero_region *region)
{
    if (pm_zero_region_explore(round, candidate, opportunity->extent, region) &&
        pm_zero_region_refine(round, region)) {
        pm_zero_region_keep(round, region, wanted);
        if (pm_zero_can_transform(round, region))
            return true;
    }
    return pm_zero_region_explore(round, candidate, opportunity->extent, region) &&
           finish(round, region);
}
