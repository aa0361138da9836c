/* A contest's variants are built, noted in the journal, measured, and let go. */
#include "layer/shader/optimize_contest_private.h"

#include "base/stop.h"
#include "layer/shader/arm_shader.h"
#include "layer/shader/contest_race.h"
#include "layer/shader/hold.h"
#include "layer/shader/optimize_retired.h"

static bool leaves(const struct pm_contest *contest, uint32_t arm, enum pm_leaves which)
{
    return which == PM_LEAVES_ALL ||
           (which == PM_LEAVES_BEATEN ? !pm_contest_may_choose(contest, arm)
                                      : arm != contest->current || !contest->measuring);
}

void pm_contest_retire(struct pm_optimizer *optimizer, struct pm_contest *contest,
                       enum pm_leaves which)
{
    for (uint32_t a = 0; a < contest->halving.count; a++) {
        struct pm_arm *arm = &contest->arms[a];
        if (!arm->built || arm->tried || !leaves(contest, a, which))
            continue;
        pm_optimizer_retire(optimizer, arm->built);
        arm->built = NULL;
    }
}

void pm_contest_let_go(struct pm_contest *contest)
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

void pm_contests_take_from_idle(struct pm_optimizer *optimizer)
{
    for (struct pm_contest *idle; (idle = pm_contests_idle(optimizer->contests)) != NULL;) {
        pm_contest_retire(optimizer, idle, PM_LEAVES_ALL);
        idle->measuring = false;
        enters_again(idle->pipeline);
        for (struct pm_pipeline *next; (next = pm_pipeline_list_take(&idle->waiting)) != NULL;) {
            enters_again(next);
            pm_pipeline_release(next);
        }
        pm_contest_let_go(idle);
    }
}

/* Room for one more arm, by what gives it back if there is none; its own come last, since it would
 * build them again. */
static bool reserve(struct pm_optimizer *optimizer, struct pm_contest *contest)
{
    if (pm_optimizer_reserve(optimizer, PM_ROOM_ARMS))
        return true;
    pm_contests_take_from_idle(optimizer);
    if (pm_optimizer_reserve(optimizer, PM_ROOM_ARMS))
        return true;
    pm_contest_retire(optimizer, contest, PM_LEAVES_ALL);
    return pm_optimizer_reserve(optimizer, PM_ROOM_ARMS);
}

void pm_contest_block(struct pm_optimizer *optimizer, struct pm_contest *contest, enum pm_room room)
{
    char name[PM_CONTEST_NAME];
    pm_contest_name(contest, name);
    pm_log_debug(optimizer->device->instance->log,
                 "%s: limits.variants is reached: its contest waits for room", name);
    pm_contest_retire(optimizer, contest, PM_LEAVES_ALL);
    contest->blocked = true;
    pm_contest_suspend(contest, true);
    atomic_store(&optimizer->contest_blocked, true);
    if (pm_optimizer_has_room(optimizer, room))
        atomic_store(&optimizer->contest_due, true);
}

bool pm_contest_waits(const struct pm_optimizer *optimizer, const struct pm_contest *contest)
{
    return contest->blocked || pm_stop_asked() || atomic_load(&optimizer->device->lost);
}

/* Writes down in the journal that the arm is about to be given to the driver, or to be bound.
 * false: it cannot be. */
static bool note(const struct pm_optimizer *optimizer, const struct pm_arm *arm,
                 struct pm_error *error)
{
    struct pm_journal_entry *entry = pm_journal_try(optimizer->journal, &arm->shader->key, error);
    if (entry)
        arm->shader->entry = entry;
    return entry != NULL;
}

void pm_contest_note_chosen(struct pm_optimizer *optimizer, const struct pm_arm *arm)
{
    pm_journal_write(optimizer->journal, &arm->shader->key, NULL);
    pm_optimized_unnote(arm->built);
}

void pm_contest_unnote_measured(struct pm_contest *contest)
{
    for (uint32_t a = 0; a < contest->halving.count; a++) {
        struct pm_optimized *built = contest->arms[a].built;
        const bool measured = a == contest->current && contest->measuring;
        if (built && !measured && pm_hold_is_idle(built->candidate.hold))
            pm_optimized_unnote(built);
    }
}

struct pm_optimized *pm_contest_build(struct pm_optimizer *optimizer, struct pm_contest *contest,
                                      struct pm_arm *arm)
{
    const uint32_t index = (uint32_t)(arm - contest->arms);
    struct pm_error error = {0};
    if (arm->built) {
        if (!arm->built->noted)
            arm->built->noted = note(optimizer, arm, &error);
        contest->refused = !arm->built->noted || contest->refused;
        return arm->built->noted ? arm->built : NULL;
    }
    pm_pipeline_cache_bound(optimizer->cache_of_contests);
    if (!reserve(optimizer, contest)) {
        pm_contest_block(optimizer, contest, PM_ROOM_ARMS);
        return NULL;
    }
    /* Without memory for it: as for one that nothing can be built of. */
    struct pm_hold *hold = pm_hold_create();
    const bool noted = hold && note(optimizer, arm, &error);
    if (noted)
        arm->built = pm_optimizer_build(optimizer, optimizer->cache_of_contests, contest->pipeline,
                                        arm->shader, PM_USE_ANYWHERE, &error);
    if (!arm->built) {
        pm_hold_release(hold);
        if (noted)
            pm_journal_gone(arm->shader->entry);
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
    pm_contest_hear(&arm->built->candidate);
    arm->built->noted = true;
    arm->built->arm_shader = arm->shader;
    pm_arm_shader_reference(arm->shader);
    arm->built->next = contest->pipeline->arms;
    contest->pipeline->arms = arm->built;
    return arm->built;
}

void pm_contest_measure(struct pm_optimizer *optimizer, struct pm_optimized *optimized,
                        uint32_t times)
{
    optimized->contest->measuring = true;
    optimized->candidate.wanted = times;
    optimized->candidate.measured = pm_contest_measured;
    pm_optimizer_offer(optimizer, optimized, pm_optimizer_candidate_place(optimized));
}

void pm_contest_keep_winner(struct pm_optimizer *optimizer, const struct pm_contest *contest,
                            struct pm_pipeline *pipeline)
{
    struct pm_error error = {0};
    const struct pm_specialized_shader *chosen = pm_contest_chosen(contest);
    if (!chosen)
        return;
    const struct pm_optimized_build how = {
        .use = PM_USE_ANYWHERE,
        .cache = pm_pipeline_cache_get(optimizer->cache),
        .compiling = PM_COMPILE_ALL,
    };
    struct pm_optimized *again = pm_optimizer_build_with(pipeline, chosen, &how, &error);
    if (!again)
        return;
    atomic_store(&again->room, PM_ROOM_NONE);
    pm_pipeline_cache_grown(optimizer->cache);
    pm_optimized_destroy(optimizer->device, again);
}
