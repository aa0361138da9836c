/* A-Z testing: pipelines for the variants of a contest (contest.h), one variant at a time, and for
 * the winner. */
#include "layer/shader/optimize_private.h"

#include "base/stop.h"
#include "layer/core/session.h"
#include "layer/shader/contest_race.h"
#include "layer/shader/hold.h"
#include "layer/shader/optimize_retired.h"
#include "layer/shader/optimized.h"
#include "layer/shader/specialized_shader.h"
#include "layer/shader/variant_make.h"
#include "profile/variant_parts.h"

/* ---- what comes of it: the poller's thread, and the game's ---- */

static void say_due(struct pm_optimizer *optimizer, struct pm_contest *contest)
{
    atomic_store(&contest->due, true);
    atomic_store(&optimizer->contest_due, true);
    pm_optimizer_wake(optimizer);
}

/* An arm was measured; one that was retired meanwhile, too, while the contest measures another. */
static void measured(struct pm_candidate *candidate, const struct pm_anytime *seen)
{
    struct pm_optimized *optimized = (struct pm_optimized *)candidate;
    struct pm_contest *contest = optimized->contest;
    struct pm_candidate *offered = candidate;
    atomic_compare_exchange_strong(pm_optimizer_candidate_place(optimized), &offered, NULL);
    if (atomic_load(&contest->has_result))
        return;
    contest->result_of = optimized->arm;
    contest->result = *seen;
    atomic_store(&contest->has_result, true);
    say_due(optimized->pipeline->device->optimizer, contest);
}

/* The outcome of what won, when it was tried anew. What is found faster later won, too. */
static void end_confirmation(const struct pm_optimized *optimized, bool faster)
{
    struct pm_contest *contest = optimized->contest;
    uint32_t state = PM_CONTEST_CONFIRM;
    if (atomic_compare_exchange_strong(&contest->state, &state,
                                       faster ? PM_CONTEST_WON : PM_CONTEST_OVER)) {
        say_due(optimized->pipeline->device->optimizer, contest);
        return;
    }
    state = PM_CONTEST_OVER;
    if (faster)
        atomic_compare_exchange_strong(&contest->state, &state, PM_CONTEST_WON);
}

/* Whether it is the pipeline's variant. An outcome of any other arm is none. */
static bool is_chosen(const struct pm_optimized *optimized)
{
    return atomic_load(pm_optimizer_place(optimized)) == optimized;
}

/* The winner was tried anew, or again. */
static const char *confirmed(struct pm_candidate *candidate, bool faster)
{
    struct pm_optimized *optimized = (struct pm_optimized *)candidate;
    if (!is_chosen(optimized))
        return NULL;
    const char *said = pm_optimizer_decide(candidate, faster);
    end_confirmation(optimized, faster);
    return said;
}

/* It cannot be told from the original: the contest is over, though its trial goes on later. */
static void unconfirmed(struct pm_candidate *candidate)
{
    struct pm_optimized *optimized = (struct pm_optimized *)candidate;
    if (is_chosen(optimized))
        end_confirmation(optimized, false);
}

/* What draws with it is not drawn any more, for now. The next heartbeat queues the job. Of what was
 * retired that says nothing. */
static void idles(struct pm_candidate *candidate)
{
    const struct pm_optimized *optimized = (const struct pm_optimized *)candidate;
    struct pm_optimizer *optimizer = optimized->pipeline->device->optimizer;
    if (atomic_load(&candidate->dropped))
        return;
    atomic_store(&optimized->contest->idle, true);
    atomic_store(&optimized->contest->due, true);
    atomic_store(&optimizer->contest_due, true);
    atomic_store(&optimizer->due, true);
}

void pm_optimizer_leave_contest(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline)
{
    struct pm_contest *contest = atomic_load(&pipeline->contest);
    if (contest)
        say_due(optimizer, contest);
}

/* ---- the job's thread ---- */

enum leaves {
    ALL,
    BEATEN,     /* that cannot win any more */
    UNMEASURED, /* all but the one that is measured */
};

static bool leaves(const struct pm_contest *contest, uint32_t arm, enum leaves which)
{
    return which == ALL || (which == BEATEN ? !pm_contest_may_choose(contest, arm)
                                            : arm != contest->current || !contest->measuring);
}

/* Arms whose pipelines go, so that their room is for others; those that may win are built again
 * when it is their turn. What was chosen is none of them any more. */
static void retire(struct pm_optimizer *optimizer, struct pm_contest *contest, enum leaves which)
{
    for (uint32_t a = 0; a < contest->halving.count; a++) {
        struct pm_arm *arm = &contest->arms[a];
        if (!arm->built || arm->tried || !leaves(contest, a, which))
            continue;
        pm_optimizer_retire(optimizer, arm->built);
        pm_contest_unnote(contest, a);
        arm->built = NULL;
    }
}

/* What waits for room is not the contest any more, which stays suspended, but what comes next. */
static void let_go(struct pm_contest *contest)
{
    contest->blocked = false;
    atomic_store(&contest->pipeline->contest, NULL);
    pm_pipeline_release(contest->pipeline);
    contest->pipeline = NULL;
}

/* A pipeline of one that lets go enters it again once the game binds it. */
static void enters_again(struct pm_pipeline *pipeline)
{
    uint32_t wish = PM_WISH_NONE;
    atomic_compare_exchange_strong(&pipeline->wish, &wish, PM_WISH_BOUND);
    pm_standing_change(pipeline->device->standing, &pipeline->stands);
}

/* Those that are idle give all their room to others. */
static void take_from_idle(struct pm_optimizer *optimizer)
{
    for (struct pm_contest *idle; (idle = pm_contests_idle(optimizer->contests)) != NULL;) {
        retire(optimizer, idle, ALL);
        idle->measuring = false;
        enters_again(idle->pipeline);
        for (struct pm_pipeline *next; (next = pm_pipeline_list_take(&idle->waiting)) != NULL;) {
            enters_again(next);
            pm_pipeline_release(next);
        }
        let_go(idle);
    }
}

/* Room for one more arm, by what gives it back if there is none; its own come last, since it would
 * build them again. */
static bool reserve(struct pm_optimizer *optimizer, struct pm_contest *contest)
{
    if (pm_optimizer_reserve(optimizer, PM_ROOM_ARMS))
        return true;
    take_from_idle(optimizer);
    if (pm_optimizer_reserve(optimizer, PM_ROOM_ARMS))
        return true;
    retire(optimizer, contest, ALL);
    return pm_optimizer_reserve(optimizer, PM_ROOM_ARMS);
}

/* It goes on when there is room. Until then it takes none, and others may be open. */
static void block(struct pm_optimizer *optimizer, struct pm_contest *contest, enum pm_room room)
{
    char name[PM_CONTEST_NAME];
    pm_contest_name(contest, name);
    pm_log_debug(optimizer->device->instance->log,
                 "%s: limits.variants is reached: its contest waits for room", name);
    retire(optimizer, contest, ALL);
    contest->blocked = true;
    pm_contest_suspend(contest, true);
    atomic_store(&optimizer->contest_blocked, true);
    if (pm_optimizer_has_room(optimizer, room))
        atomic_store(&optimizer->contest_due, true);
}

/* What could not be built may be another time. */
static bool waits(const struct pm_optimizer *optimizer, const struct pm_contest *contest)
{
    return contest->blocked || pm_stop_asked() || atomic_load(&optimizer->device->lost);
}

/* The arm's pipeline, built when it is not. NULL: it cannot be, or the contest is blocked. */
static struct pm_optimized *build_arm(struct pm_optimizer *optimizer, struct pm_contest *contest,
                                      struct pm_arm *arm)
{
    const uint32_t index = (uint32_t)(arm - contest->arms);
    struct pm_error error = {0};
    if (arm->built) {
        contest->refused = !pm_contest_note(contest, index, &error) || contest->refused;
        return arm->noted ? arm->built : NULL;
    }
    pm_pipeline_cache_bound(optimizer->cache_of_contests);
    if (!reserve(optimizer, contest)) {
        block(optimizer, contest, PM_ROOM_ARMS);
        return NULL;
    }
    /* Without memory for it: as for one that nothing can be built of. */
    struct pm_hold *hold = pm_hold_create();
    if (hold && pm_contest_note(contest, index, &error))
        arm->built = pm_optimizer_build(optimizer, optimizer->cache_of_contests, contest->pipeline,
                                        &arm->shader, PM_USE_ANYWHERE, &error);
    if (!arm->built) {
        pm_hold_release(hold);
        pm_contest_unnote(contest, index);
        pm_optimizer_give_back(optimizer, PM_ROOM_ARMS);
        pm_log_debug(optimizer->device->instance->log, "a variant is not built: %s", error.message);
        contest->refused = true;
        return NULL;
    }
    contest->built = true;
    atomic_store(&arm->built->room, PM_ROOM_ARMS);
    arm->built->contest = contest;
    arm->built->arm = index;
    arm->built->candidate.hold = hold;
    arm->built->candidate.variant = pm_contest_point(arm);
    arm->built->candidate.verdict = confirmed;
    arm->built->candidate.undecided = unconfirmed;
    arm->built->candidate.idle = idles;
    arm->built->next = contest->pipeline->arms;
    contest->pipeline->arms = arm->built;
    return arm->built;
}

static void measure(struct pm_optimizer *optimizer, struct pm_optimized *optimized, uint32_t times)
{
    optimized->contest->measuring = true;
    optimized->candidate.wanted = times;
    optimized->candidate.measured = measured;
    pm_optimizer_offer(optimizer, optimized, pm_optimizer_candidate_place(optimized));
}

/* The winner is the pipeline's variant, which then is tried as any other. */
static void confirm(struct pm_optimizer *optimizer, struct pm_contest *contest)
{
    struct pm_arm *arm = &contest->arms[contest->winner];
    struct pm_optimized *winner = arm->built, **link = &contest->pipeline->arms;
    if (!pm_optimizer_move(winner, PM_ROOM_OPTIMIZED)) {
        block(optimizer, contest, PM_ROOM_OPTIMIZED);
        return;
    }
    pm_log_debug(optimizer->device->instance->log, "the variant %s is tried", arm->shader.recipe);
    while (*link != winner)
        link = &(*link)->next;
    *link = winner->next;
    winner->next = NULL;
    winner->candidate.measured = NULL;
    arm->tried = true;
    pm_contest_note_chosen(contest, contest->winner);
    atomic_store(pm_optimizer_place(winner), winner);
    retire(optimizer, contest, ALL);
    atomic_store(&contest->state, PM_CONTEST_CONFIRM);
    pm_optimizer_offer(optimizer, winner, pm_optimizer_candidate_place(winner));
}

static void take_pipeline(struct pm_contest *contest, struct pm_pipeline *pipeline)
{
    contest->pipeline = pipeline;
    atomic_store(&pipeline->contest, contest);
    pm_contest_suspend(contest, false);
}

/* The cache that is kept gets what won, by a pipeline that is made once more: all that was measured
 * has a cache of its own. */
static void keep_winner(struct pm_optimizer *optimizer, const struct pm_contest *contest)
{
    struct pm_error error = {0};
    const struct pm_optimized_build how = {
        .use = PM_USE_ANYWHERE,
        .cache = pm_pipeline_cache_get(optimizer->cache),
        .compiling = PM_COMPILE_ALL,
    };
    struct pm_optimized *again = pm_optimizer_build_with(
        contest->pipeline, &contest->arms[contest->winner].shader, &how, &error);
    if (!again)
        return;
    atomic_store(&again->room, PM_ROOM_NONE);
    pm_pipeline_cache_grown(optimizer->cache);
    pm_optimized_destroy(optimizer->device, again);
}

/* Others that waited get the winner. */
static void end(struct pm_optimizer *optimizer, struct pm_contest *contest)
{
    const bool won = atomic_load(&contest->state) == PM_CONTEST_WON;
    pm_contest_suspend(contest, false);
    retire(optimizer, contest, ALL);
    if (won)
        keep_winner(optimizer, contest);
    pm_contest_finish(contest, won);
    for (struct pm_pipeline *waits;
         won && (waits = pm_pipeline_list_take(&contest->waiting)) != NULL;) {
        pm_waiting_put(&optimizer->waiting, waits, false);
        pm_pipeline_release(waits);
    }
    pm_pipeline_list_finish(&contest->waiting);
    let_go(contest);
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
        retire(optimizer, contest, ALL);
    }
    for (uint32_t a = 0; a < contest->halving.count; a++) {
        pm_contest_unnote(contest, a);
        contest->arms[a].built = NULL;
    }
    contest->measuring = false;
    let_go(contest);
    struct pm_pipeline *next = pm_pipeline_list_take(&contest->waiting);
    if (next)
        take_pipeline(contest, next);
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
            block(optimizer, contest, PM_ROOM_OPTIMIZED);
            return false;
        }
        if (build_arm(optimizer, contest, arm))
            return true;
        if (waits(optimizer, contest))
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
static void measure_next(struct pm_optimizer *optimizer, struct pm_contest *contest)
{
    uint32_t times = 0;
    contest->blocked = false;
    pm_contest_suspend(contest, false);
    while (next(contest, &times)) {
        struct pm_arm *arm = &contest->arms[contest->current];
        const double *seen = &contest->halving.seen[contest->current].count, before = *seen;
        const bool usable = pm_contest_make(contest, contest->current);
        retire(optimizer, contest, BEATEN);
        if (*seen != before) /* by an earlier session */
            continue;
        struct pm_optimized *built = usable ? build_arm(optimizer, contest, arm) : NULL;
        if (built) {
            measure(optimizer, built, times);
            return;
        }
        if (waits(optimizer, contest))
            return;
        pm_halving_leave(&contest->halving, contest->current);
    }
    if (choose(optimizer, contest)) {
        confirm(optimizer, contest);
        return;
    }
    if (waits(optimizer, contest))
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
    pm_contest_unnote(contest, arm);
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

static void go_on(struct pm_optimizer *optimizer, struct pm_contest *contest)
{
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
            retire(optimizer, contest, UNMEASURED);
            return;
        }
    }
    if (contest->pipeline && atomic_load(&contest->state) == PM_CONTEST_OPEN && !contest->measuring)
        measure_next(optimizer, contest);
}

/* Those that waited until a contest may begin: one at a time, so that each may. */
static void begin_later(struct pm_optimizer *optimizer)
{
    if (!pm_optimizer_has_room(optimizer, PM_ROOM_ARMS))
        take_from_idle(optimizer);
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

/* ---- pipelines that come ---- */

/* A shader that won, in this session or an earlier one. false: there is no room. */
static bool use_winner(struct pm_optimizer *optimizer, const struct pm_specialized_shader *winner,
                       struct pm_pipeline *pipeline)
{
    struct pm_error error = {0};
    if (!pm_optimizer_reserve(optimizer, PM_ROOM_OPTIMIZED))
        return false;
    struct pm_optimized *optimized =
        pm_optimizer_build(optimizer, optimizer->cache, pipeline, winner, PM_USE_ANYWHERE, &error);
    if (optimized) {
        pm_optimizer_publish(optimizer, pipeline, optimized);
        return true;
    }
    pm_optimizer_give_back(optimizer, PM_ROOM_OPTIMIZED);
    pm_log_info(optimizer->device->instance->log, "a pipeline is not specialized: %s",
                error.message);
    return true;
}

static void join(struct pm_optimizer *optimizer, struct pm_contest *contest,
                 struct pm_pipeline *pipeline)
{
    if (pipeline == contest->pipeline)
        return;
    if (contest->pipeline) {
        pm_pipeline_list_put(&contest->waiting, pipeline);
        return;
    }
    pm_pipeline_reference(pipeline);
    take_pipeline(contest, pipeline);
    measure_next(optimizer, contest);
}

/* Whether contests are held, or their winners used, of what is no withheld shader's; and which
 * other parts are withheld of it. */
static bool may_enter(const struct pm_optimizer *optimizer, const struct pm_pipeline *pipeline,
                      struct pm_shader_request *request, uint32_t *withheld)
{
    if (!optimizer->device->trials || !pm_session_tests_variants(optimizer->device->instance) ||
        !pm_pipeline_shader_request(pipeline, request))
        return false;
    /* Else a contest would begin for a shader whose winner is known. */
    request->waits = true;
    *withheld = pm_specialized_shaders_withheld(optimizer->shaders, request);
    return (*withheld & PM_PART_RECIPE) == 0;
}

/* base: whose contest it is; NULL: the original's. kept: what an earlier session found. */
static bool enter(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline,
                  const struct pm_shader_request *request, uint32_t withheld,
                  const struct pm_specialized_shader *base,
                  const struct pm_specialized_shader *kept)
{
    /* Or it is tried again: published like any other. */
    if (kept && (kept->timing == PM_TIMING_FASTER || kept->session == PM_SESSION_NONE))
        return use_winner(optimizer, kept, pipeline);
    /* What waits for its compiles has no contests. */
    if (!optimizer->contests)
        return true;
    struct pm_contest *contest = pm_contests_get(optimizer->contests, request, base, pipeline);
    if (!contest)
        return true;
    contest->withheld = withheld;
    const enum pm_contest_state state = atomic_load(&contest->state);
    if (state == PM_CONTEST_WON && !contest->pipeline)
        return use_winner(optimizer, &contest->arms[contest->winner].shader, pipeline);
    if (state != PM_CONTEST_OVER)
        join(optimizer, contest, pipeline);
    return true;
}

bool pm_optimizer_enter_contest(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline)
{
    struct pm_shader_request request;
    struct pm_making_cost cost;
    uint32_t withheld;
    return !may_enter(optimizer, pipeline, &request, &withheld) ||
           enter(
               optimizer, pipeline, &request, withheld, NULL,
               pm_specialized_shaders_proven(optimizer->shaders, &request, PM_USE_ANYWHERE, &cost));
}

bool pm_optimizer_enter_over(struct pm_optimizer *optimizer, struct pm_pipeline *pipeline)
{
    const struct pm_optimized *known = atomic_load(&pipeline->optimized);
    const struct pm_specialized_shader *base = known->shader;
    struct pm_shader_request request;
    struct pm_making_cost cost;
    uint32_t withheld;
    /* Of a recipe's variant there were pairs. */
    if (atomic_load(&pipeline->best) == 0 || atomic_load(&pipeline->over) || pipeline->keeps_side ||
        (base->made_by & PM_MADE_BY_RECIPE) || !may_enter(optimizer, pipeline, &request, &withheld))
        return true;
    return enter(optimizer, pipeline, &request, withheld, base,
                 pm_specialized_shaders_over(optimizer->shaders, base, &cost));
}
