/* A-Z testing: a contest goes on (contest.h), one variant at a time, until it has a winner. */
#include "layer/shader/optimize_contest_private.h"

#include "layer/shader/optimize_retired.h"

/* The winner is the pipeline's variant, which then is tried as any other. */
static void confirm(struct pm_optimizer *optimizer, struct pm_contest *contest)
{
    struct pm_arm *arm = &contest->arms[contest->winner];
    struct pm_optimized *winner = arm->built, **link = &contest->pipeline->arms;
    if (!pm_optimizer_move(winner, PM_ROOM_OPTIMIZED)) {
        pm_contest_block(optimizer, contest, PM_ROOM_OPTIMIZED);
        return;
    }
    pm_log_debug(optimizer->device->instance->log, "the variant %s is tried", arm->shader->recipe);
    while (*link != winner)
        link = &(*link)->next;
    *link = winner->next;
    winner->next = NULL;
    winner->candidate.measured = NULL;
    arm->tried = true;
    pm_contest_note_chosen(optimizer, arm);
    atomic_store(pm_optimizer_place(winner), winner);
    pm_contest_retire(optimizer, contest, PM_LEAVES_ALL);
    atomic_store(&contest->state, PM_CONTEST_CONFIRM);
    pm_optimizer_offer(optimizer, winner, pm_optimizer_candidate_place(winner));
}

void pm_contest_take_pipeline(struct pm_contest *contest, struct pm_pipeline *pipeline)
{
    contest->pipeline = pipeline;
    atomic_store(&pipeline->contest, contest);
    pm_contest_suspend(contest, false);
}

/* Others that waited get the winner. */
static void end(struct pm_optimizer *optimizer, struct pm_contest *contest)
{
    const bool won = atomic_load(&contest->state) == PM_CONTEST_WON;
    pm_contest_suspend(contest, false);
    pm_contest_retire(optimizer, contest, PM_LEAVES_ALL);
    if (won)
        pm_contest_keep_winner(optimizer, contest, contest->pipeline);
    pm_contest_finish(contest, won);
    for (struct pm_pipeline *waits;
         won && (waits = pm_pipeline_list_take(&contest->waiting)) != NULL;) {
        pm_waiting_put(&optimizer->waiting, waits, false);
        pm_pipeline_release(waits);
    }
    pm_pipeline_list_finish(&contest->waiting);
    pm_contest_let_go(contest);
    atomic_store(&optimizer->unsaved, true);
}

/* What the variants are run over and compared with is not faster than the game's own any more. */
static bool is_base_dropped(const struct pm_contest *contest)
{
    return contest->base && atomic_load(&contest->pipeline->best) == 0;
}

/* The game has destroyed the pipeline, or its base is dropped: another one takes its place, or the
 * next that comes. What was built for it takes no room. */
static void replace_pipeline(struct pm_optimizer *optimizer, struct pm_contest *contest)
{
    if (!atomic_load(&contest->pipeline->gone)) {
        char name[PM_CONTEST_NAME];
        pm_contest_name(contest, name);
        pm_log_debug(optimizer->device->instance->log, "%s: is dropped, and recipes over it", name);
        pm_contest_retire(optimizer, contest, PM_LEAVES_ALL);
    }
    for (uint32_t a = 0; a < contest->halving.count; a++) {
        if (contest->arms[a].built)
            pm_optimized_unnote(contest->arms[a].built);
        contest->arms[a].built = NULL;
    }
    contest->measuring = false;
    pm_contest_let_go(contest);
    struct pm_pipeline *next = pm_pipeline_list_take(&contest->waiting);
    if (next)
        pm_contest_take_pipeline(contest, next);
    else
        pm_contest_suspend(contest, true);
}

/* The fastest, built when it is not: its pairs may be an earlier session's, or of a pipeline that
 * is gone. false: there is none, or it is blocked, or the device is about to go. */
static bool choose(struct pm_optimizer *optimizer, struct pm_contest *contest)
{
    while (pm_contest_winner(contest)) {
        struct pm_arm *arm = &contest->arms[contest->winner];
        if (!pm_optimizer_has_room(optimizer, PM_ROOM_OPTIMIZED)) {
            pm_contest_block(optimizer, contest, PM_ROOM_OPTIMIZED);
            return false;
        }
        if (pm_contest_build(optimizer, contest, arm))
            return true;
        if (pm_contest_waits(optimizer, contest))
            return false;
        pm_contest_give_up(contest);
    }
    return false;
}

/* What is measured next, and how many times; false: it is over. */
static bool next(struct pm_contest *contest, uint32_t *times)
{
    do
        if (pm_halving_next(&contest->halving, &contest->random, &contest->current, times))
            return true;
    while (pm_contest_pair(contest));
    return false;
}

/* What is cut short when the device goes says nothing of a variant: the next session goes on. */
void pm_contest_measure_next(struct pm_optimizer *optimizer, struct pm_contest *contest)
{
    uint32_t times = 0;
    contest->blocked = false;
    pm_contest_suspend(contest, false);
    while (next(contest, &times)) {
        struct pm_arm *arm = &contest->arms[contest->current];
        const double *seen = &contest->halving.seen[contest->current].count, before = *seen;
        const bool usable = pm_contest_make(contest, contest->current);
        pm_contest_retire(optimizer, contest, PM_LEAVES_BEATEN);
        if (*seen != before) /* by an earlier session */
            continue;
        struct pm_optimized *built = usable ? pm_contest_build(optimizer, contest, arm) : NULL;
        if (built) {
            pm_contest_measure(optimizer, built, times);
            return;
        }
        if (pm_contest_waits(optimizer, contest))
            return;
        pm_halving_leave(&contest->halving, contest->current);
    }
    if (choose(optimizer, contest)) {
        confirm(optimizer, contest);
        return;
    }
    if (pm_contest_waits(optimizer, contest))
        return;
    atomic_store(&contest->state, PM_CONTEST_OVER);
    end(optimizer, contest);
}

/* Whether the current arm is still being measured: nobody has told of it. */
static bool is_offered(const struct pm_contest *contest)
{
    const struct pm_optimized *built = contest->arms[contest->current].built;
    return contest->measuring && built &&
           atomic_load(pm_optimizer_candidate_place(built)) == &built->candidate;
}

/* What was measured counts, which may be of a pipeline that has gone meanwhile; false: nothing was.
 */
static bool take_result(struct pm_optimizer *optimizer, struct pm_contest *contest)
{
    if (!atomic_load(&contest->has_result))
        return false;
    const uint32_t arm = contest->result_of;
    struct pm_anytime all = contest->halving.seen[arm];
    pm_anytime_merge(&all, &contest->result);
    /* From here on the next one is heard. */
    atomic_store(&contest->has_result, false);
    contest->measuring = arm != contest->current && is_offered(contest);
    pm_contest_unnote_measured(contest);
    pm_halving_take(&contest->halving, arm, &all);
    pm_contest_keep(contest, arm);
    atomic_store(&optimizer->unsaved, true);
    return true;
}

static bool is_over(const struct pm_contest *contest)
{
    const enum pm_contest_state state = atomic_load(&contest->state);
    return state == PM_CONTEST_WON || state == PM_CONTEST_OVER;
}

/* Its trial went on after the contest was over. */
static void keep_late(struct pm_optimizer *optimizer, struct pm_contest *contest)
{
    struct pm_pipeline *pipeline = atomic_exchange(&contest->won_late, NULL);
    if (pipeline && !atomic_load(&pipeline->gone))
        pm_contest_keep_winner(optimizer, contest, pipeline);
    pm_pipeline_release(pipeline);
}

static void go_on(struct pm_optimizer *optimizer, struct pm_contest *contest)
{
    keep_late(optimizer, contest);
    const bool idle = atomic_exchange(&contest->idle, false), over = is_over(contest);
    const bool measured = !over && take_result(optimizer, contest);
    if (!contest->pipeline)
        return;
    if (over) {
        end(optimizer, contest);
        return;
    }
    if (atomic_load(&contest->pipeline->gone) || is_base_dropped(contest)) {
        /* What was to be confirmed went with it: the rounds are over, so it is chosen again. */
        do
            replace_pipeline(optimizer, contest);
        while (contest->pipeline && is_base_dropped(contest));
        atomic_store(&contest->state, PM_CONTEST_OPEN);
    } else if (measured || idle) {
        pm_contest_suspend(contest, !measured);
        if (!measured) {
            pm_contest_retire(optimizer, contest, PM_LEAVES_UNMEASURED);
            return;
        }
    }
    if (contest->pipeline && atomic_load(&contest->state) == PM_CONTEST_OPEN && !contest->measuring)
        pm_contest_measure_next(optimizer, contest);
}

/* Those that waited until a contest may begin: one at a time, so that each may. */
static void begin_later(struct pm_optimizer *optimizer)
{
    if (!pm_optimizer_has_room(optimizer, PM_ROOM_ARMS))
        pm_contests_take_from_idle(optimizer);
    struct pm_pipeline *later = pm_optimizer_has_room(optimizer, PM_ROOM_ARMS)
                                    ? pm_contests_take_later(optimizer->contests)
                                    : NULL;
    if (!later)
        return;
    pm_waiting_put(&optimizer->waiting, later, false);
    pm_pipeline_release(later);
    atomic_store(&optimizer->contest_due, true);
}

void pm_optimizer_go_on(struct pm_optimizer *optimizer)
{
    if (!optimizer->contests)
        return;
    if (atomic_exchange(&optimizer->retired_due, false))
        pm_optimizer_let_go(optimizer);
    const bool due = atomic_exchange(&optimizer->contest_due, false);
    if (atomic_load(&optimizer->device->lost))
        return;
    if (due) {
        pm_contests_unblock(optimizer->contests);
        for (struct pm_contest *c; (c = pm_contests_due(optimizer->contests)) != NULL;)
            go_on(optimizer, c);
    }
    begin_later(optimizer);
}
