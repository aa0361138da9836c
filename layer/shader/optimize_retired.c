#include "layer/shader/optimize_retired.h"

#include "layer/shader/hold.h"
#include "layer/shader/optimize_build.h"
#include "layer/shader/optimized.h"
#include "layer/shader/pipeline.h"

enum { LOOK = 64 /* heartbeats */ };

/* false: a recording holds it. */
static bool empty(struct pm_optimizer *optimizer, struct pm_optimized *optimized)
{
    if (!pm_hold_is_free(optimized->candidate.hold))
        return false;
    pm_optimized_empty(optimizer->device, optimized);
    pm_optimized_unnote(optimized);
    optimizer->device->pipelines->released(optimizer->device);
    return true;
}

void pm_optimizer_retire(struct pm_optimizer *optimizer, struct pm_optimized *optimized)
{
    struct pm_candidate *offered = &optimized->candidate;
    atomic_compare_exchange_strong(pm_optimizer_candidate_place(optimized), &offered, NULL);
    atomic_store(&optimized->candidate.dropped, true);
    pm_hold_close(optimized->candidate.hold);
    if (empty(optimizer, optimized))
        return;
    /* Its pipeline, which has it, stays until it is out of the list. */
    pm_pipeline_reference(optimized->pipeline);
    optimized->next_retired = optimizer->retired;
    optimizer->retired = optimized;
    atomic_fetch_add(&optimizer->retired_count, 1);
}

static void take_out(struct pm_optimizer *optimizer, struct pm_optimized **link)
{
    struct pm_optimized *optimized = *link;
    *link = optimized->next_retired;
    pm_optimized_unnote(optimized);
    atomic_fetch_sub(&optimizer->retired_count, 1);
    pm_pipeline_release(optimized->pipeline);
}

void pm_optimizer_let_go(struct pm_optimizer *optimizer)
{
    struct pm_optimized **link = &optimizer->retired;
    while (*link)
        /* With a pipeline that the game has destroyed all goes that it has. */
        if (atomic_load(&(*link)->pipeline->gone) || empty(optimizer, *link))
            take_out(optimizer, link);
        else
            link = &(*link)->next_retired;
}

void pm_optimizer_forget_retired(struct pm_optimizer *optimizer)
{
    while (optimizer->retired)
        take_out(optimizer, &optimizer->retired);
}

bool pm_optimizer_look_at_retired(struct pm_optimizer *optimizer)
{
    if (atomic_fetch_add_explicit(&optimizer->retired_looks, 1, memory_order_relaxed) % LOOK != 0)
        return false;
    atomic_store(&optimizer->retired_due, true);
    return true;
}
