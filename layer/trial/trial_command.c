/* Trials in recordings: which pipeline is bound for a timed use. trial.h. */
#include "layer/frame/binding.h"
#include "layer/frame/passes_run.h"
#include "layer/shader/object.h"
#include "layer/trial/additive.h"
#include "layer/trial/area.h"
#include "layer/trial/executed_passes.h"
#include "layer/trial/sessions.h"
#include "layer/trial/trial.h"

enum { MANY_GROUPS = 64 };

bool pm_trial_may_time(const struct pm_command *command, bool may_repeat)
{
    const struct pm_device *device = command->device;
    return device->trials != NULL && pm_sampling_is_trying(device->sampling) &&
           !pm_sampling_is_paused(device->sampling) &&
           (!may_repeat || pm_session_may_time(command)) && !command->pool->is_protected &&
           pm_timing_is_possible(device->timing, command->pool->family);
}

static bool may_bind(const struct pm_command *command, int point, enum pm_binding kind)
{
    return (pm_binding_allowed(command, point) & kind) != 0;
}

/* Whether the recording runs once, or writes its queries in one order: a secondary one with
 * SIMULTANEOUS_USE may be executed several times. */
static bool runs_in_order(const struct pm_command *command)
{
    return !command->secondary || !command->simultaneous ||
           (!command->once && atomic_load(&command->device->sampling->queue_count) <= 1);
}

/* The candidate for what is bound whose trial goes on; NULL: there is none. */
static struct pm_candidate *candidate_of(const struct pm_command *command, int point)
{
    struct pm_pipeline *pipeline = command->bound[point].pipeline;
    /* The side that was recorded would stay for as long as the recording does. */
    if (pipeline == NULL || command->repeats || pm_sampling_is_paused(command->device->sampling))
        return NULL;
    struct pm_candidate *candidate = pm_pipeline_candidate(pipeline);
    if (candidate != NULL && pm_trial_is_awake(candidate->trial))
        return candidate;
    candidate = pm_pipeline_over_candidate(pipeline);
    if (candidate != NULL && pm_trial_is_awake(candidate->trial))
        return candidate;
    candidate = pm_pipeline_folded_candidate(pipeline);
    if (candidate != NULL && pm_trial_is_awake(candidate->trial) &&
        pm_binding_fits(command, point, candidate->watch))
        return candidate;
    candidate = pm_pipeline_passes_candidate(pipeline);
    return candidate != NULL && pm_trial_is_awake(candidate->trial) ? candidate : NULL;
}

/* Binds the side over what stands, which may be another variant: the sides are the candidate and
 * its rival, or the game's own. false: it stands already. */
static bool cover_side(struct pm_command *command, int point, enum pm_binding kind,
                       const struct pm_candidate *candidate, bool variant)
{
    const struct pm_bound *bound = &command->bound[point];
    const struct pm_candidate *side = variant ? candidate : candidate->rival;
    const uint64_t handle = side != NULL ? side->handle : bound->game;
    if (!variant && bound->standing == handle)
        return false;
    if (side != NULL)
        pm_journal_used(side->entry);
    pm_binding_cover(command, point, kind, handle, variant ? candidate->watch : NULL);
    command->bound[point].passes = variant ? candidate->passes : NULL;
    return true;
}

/* ---- calls ---- */

/* While a call may have to be timed every one takes the long way. */
static void count_down(struct pm_command *command)
{
    command->countdown = command->put_off || pm_session_of(command, PM_COMPUTE) != NULL ||
                                 candidate_of(command, PM_COMPUTE) != NULL ||
                                 pm_passes_are_wanted(command) ||
                                 (command->pass.place == PM_PLACE_TIMED_DRAWS &&
                                  candidate_of(command, PM_GRAPHICS) != NULL)
                             ? 1
                             : PM_NEVER;
}

/* Whether there is a measurement for the call that follows. Inside a render pass instance it may
 * have to be one that was reserved before it. */
static bool may_reserve(const struct pm_command *command, int point)
{
    return point == PM_COMPUTE || pm_timing_needs_no_reset(command) ||
           command->pass.measurement != PM_TIMING_NONE;
}

static uint32_t reserve(struct pm_command *command, int point)
{
    if (point == PM_COMPUTE || pm_timing_needs_no_reset(command))
        return pm_timing_reserve(command);
    const uint32_t reserved = command->pass.measurement;
    command->pass.measurement = PM_TIMING_NONE;
    return reserved;
}

/* Of so many workgroups, where they are many to an eighth or so: a dispatch that is of another size
 * each time has no partner else, and which side is the larger one is chance. */
static uint64_t work_of_groups(const uint32_t groups[3])
{
    uint64_t count = (uint64_t)groups[0] * groups[1];
    uint32_t shift = 0;
    count = count > UINT64_MAX / (groups[2] + UINT64_C(1)) ? UINT64_MAX : count * groups[2];
    if (count < MANY_GROUPS)
        return pm_trial_work(groups[0], groups[1], groups[2]);
    for (; count >= 16; count >>= 1)
        shift++;
    return pm_trial_work((uint32_t)count, shift, UINT32_MAX);
}

/* Of a call that follows; groups NULL: not known. */
static uint64_t work_of(const struct pm_command *command, int point, const uint32_t *groups)
{
    if (point != PM_COMPUTE)
        return command->pass.work;
    return groups != NULL ? work_of_groups(groups) : 0;
}

static void time_call(struct pm_command *command, int point, struct pm_candidate *candidate,
                      const uint32_t *groups, struct pm_timed_call *call)
{
    if (candidate->passes != NULL && !pm_passes_may_run(command, candidate->passes, groups))
        return;
    if (!may_reserve(command, point) || !pm_command_hold(command, candidate->hold) ||
        !pm_trial_next_call(candidate, work_of(command, point, groups), &call->timed))
        return;
    call->timed.inherited = point == PM_GRAPHICS && command->pass.inherited;
    call->measurement = reserve(command, point);
    if (call->measurement == PM_TIMING_NONE)
        return;
    pm_timing_start(command, call->measurement);
    if (cover_side(command, point, PM_BINDING_TRIAL_CALL, candidate, call->timed.variant) &&
        command->bound[point].passes == NULL)
        pm_binding_bind(command, point);
}

/* A dispatch of a trial over sessions, with what stands. */
static void time_session(struct pm_command *command, struct pm_session_trial *trial,
                         const uint32_t *groups, struct pm_timed_call *call)
{
    call->measurement = pm_timing_reserve(command);
    if (call->measurement == PM_TIMING_NONE)
        return;
    call->session = pm_session_next(trial, work_of(command, PM_COMPUTE, groups));
    if (call->session != NULL)
        pm_timing_start(command, call->measurement);
    else
        call->measurement = PM_TIMING_NONE;
}

struct pm_timed_call pm_trial_call_begins(struct pm_command *command, int point,
                                          const uint32_t *groups)
{
    struct pm_timed_call call = {.measurement = PM_TIMING_NONE};
    struct pm_candidate *candidate =
        may_bind(command, point, PM_BINDING_TRIAL_CALL) && runs_in_order(command)
            ? candidate_of(command, point)
            : NULL;
    /* Else it runs with the game's own, whatever the session's side is. */
    struct pm_session_trial *trial =
        point == PM_COMPUTE && may_bind(command, point, PM_BINDING_PROVEN)
            ? pm_session_of(command, point)
            : NULL;
    if (candidate != NULL)
        time_call(command, point, candidate, groups, &call);
    else if (trial != NULL)
        time_session(command, trial, groups, &call);
    count_down(command);
    return call;
}

void pm_trial_call_ends(struct pm_command *command, const struct pm_timed_call *call)
{
    if (call->measurement == PM_TIMING_NONE)
        return;
    const struct pm_timed_uses timed =
        call->session != NULL
            ? (struct pm_timed_uses){.sessions = {call->session}, .session_count = 1}
            : (struct pm_timed_uses){.uses = {call->timed}, .count = 1};
    pm_timing_end(command, call->measurement, &timed);
}

/* ---- render pass instances ---- */

/* What the instance is to the trial; NULL: nothing that is timed. */
static const struct pm_timed *use_of(struct pm_pass_instance *pass,
                                     const struct pm_candidate *candidate)
{
    struct pm_timed_uses *timed = &pass->timed;
    for (uint32_t i = 0; i < timed->count; i++)
        if (timed->uses[i].trial == candidate->trial)
            return &timed->uses[i];
    struct pm_timed use;
    const bool takes_part = pass->inherited ? pm_executed_pass_join(candidate, pass, &use)
                                            : timed->count < PM_TIMED_MOST &&
                                                  pm_trial_next_pass(candidate, pass->slot, &use);
    if (!takes_part)
        return NULL;
    timed->uses[timed->count] = use;
    return &timed->uses[timed->count++];
}

/* Binds the candidate in the instance where that is its trial's side. false: it may not be. */
static bool choose(struct pm_command *command, const struct pm_candidate *candidate)
{
    command->pass.worth = true;
    /* Where something may begin that could see it, it would have to go at once. */
    if (!may_bind(command, PM_GRAPHICS, PM_BINDING_TRIAL_PASS) ||
        (pm_binds_any(command->device, PM_BINDS_CAREFUL) &&
         pm_pipeline_stands_itself(command->bound[PM_GRAPHICS].pipeline)) ||
        !pm_command_hold(command, candidate->hold))
        return false;
    const struct pm_timed *timed = use_of(&command->pass, candidate);
    if (timed != NULL && (!timed->inherited || timed->turn != 0))
        cover_side(command, PM_GRAPHICS, PM_BINDING_TRIAL_PASS, candidate, timed->variant);
    return true;
}

/* What is bound in a secondary command buffer for draws that are not timed one by one. */
static void bind_inherited(struct pm_command *command)
{
    if (!command->repeats)
        pm_session_recorded_anew(command, PM_GRAPHICS);
    pm_session_pass_bound(command);
    const struct pm_candidate *candidate =
        pm_additive_outcome(command->device->additive) != PM_ADDITIVE_UNKNOWN
            ? candidate_of(command, PM_GRAPHICS)
            : NULL;
    if (candidate == NULL ||
        (command->pass.place == PM_PLACE_TIMED_PASS && choose(command, candidate)))
        return;
    command->pass.mixed = true;
    pm_trial_is_untimed(candidate);
}

/* What is bound in the primary one beside secondary ones, which have sides by turns of their own.
 * It has none: it draws with what stands, and is timed over sessions. */
static void bind_beside_executed(struct pm_command *command)
{
    const struct pm_candidate *candidate = candidate_of(command, PM_GRAPHICS);
    pm_session_recorded_anew(command, PM_GRAPHICS);
    pm_session_pass_bound(command);
    if (candidate != NULL)
        pm_trial_is_untimed(candidate);
}

void pm_trial_bind(struct pm_command *command, int point)
{
    if (point == PM_GRAPHICS && command->pass.place != PM_PLACE_OUTSIDE && command->pass.executes &&
        !command->repeats) {
        bind_beside_executed(command);
        count_down(command);
        return;
    }
    if (point == PM_GRAPHICS && command->pass.inherited &&
        command->pass.place != PM_PLACE_TIMED_DRAWS) {
        bind_inherited(command);
        count_down(command);
        return;
    }
    if (!command->repeats)
        pm_session_recorded_anew(command, point);
    if (point == PM_GRAPHICS && (command->repeats || command->pass.inherited))
        pm_session_pass_bound(command);
    const struct pm_candidate *candidate =
        point == PM_GRAPHICS && command->pass.place != PM_PLACE_OUTSIDE
            ? candidate_of(command, point)
            : NULL;
    if (candidate != NULL && !choose(command, candidate) && command->pass.inherited)
        pm_executed_pass_draws(candidate, &command->pass);
    count_down(command);
}

void pm_trial_pushed(struct pm_command *command)
{
    if (command->bound[PM_GRAPHICS].kind == PM_BINDING_TRIAL_PASS ||
        !pm_binding_may_be_again(command, PM_GRAPHICS)) {
        count_down(command);
        return;
    }
    pm_trial_bind(command, PM_GRAPHICS);
    if (command->bound[PM_GRAPHICS].kind == PM_BINDING_TRIAL_PASS)
        pm_binding_bind(command, PM_GRAPHICS);
}

/* The record of a command buffer whose recording takes part in trials. */
static struct pm_command *timed_command(struct pm_device *device, VkCommandBuffer handle)
{
    if (!pm_trials_time(device))
        return NULL;
    struct pm_command *command = pm_command_of(device->sampling, handle);
    if (command == NULL || command->recording != PM_RECORDING_TIMED)
        return NULL;
    command->touched = true;
    return command;
}

/* Whether one of its subpasses has several views. */
static bool has_views(const struct pm_device *device, const struct pm_pass_beginning *beginning)
{
    if (beginning->render_pass == VK_NULL_HANDLE)
        return beginning->views;
    struct pm_object *found =
        pm_objects_find(device->objects, PM_OBJECT_RENDER_PASS, PM_BITS(beginning->render_pass));
    const bool views = found == NULL || pm_object_has_views(found);
    pm_object_release(found);
    return views;
}

void pm_trial_secondary_begins(struct pm_command *command,
                               const struct pm_pass_beginning *inherited)
{
    if (command->recording != PM_RECORDING_TIMED)
        return;
    const bool draws =
        inherited->whole && runs_in_order(command) && pm_timing_needs_no_reset(command) &&
        pm_additive_outcome(command->device->additive) == PM_ADDITIVE_YES &&
        pm_binding_may_try(command, PM_PLACE_TIMED_DRAWS) && !has_views(command->device, inherited);
    const bool passes = !draws && inherited->whole &&
                        pm_additive_outcome(command->device->additive) != PM_ADDITIVE_UNKNOWN &&
                        pm_binding_may_try(command, PM_PLACE_TIMED_PASS);
    command->pass = (struct pm_pass_instance){
        .place = draws    ? PM_PLACE_TIMED_DRAWS
                 : passes ? PM_PLACE_TIMED_PASS
                          : PM_PLACE_PASS,
        .inherited = true,
        .unknown = !pm_binding_may_try(command, PM_PLACE_TIMED_PASS),
        .group = inherited->what,
        .measurement = PM_TIMING_NONE,
    };
}

/* Tells it from others of the frame, also from those of another size or with other contents. */
static uint64_t kind_of(const struct pm_pass_beginning *beginning)
{
    return (beginning->what ^ beginning->work) + beginning->executes + beginning->both;
}

/* An instance that is sampled has its number among those of the frame, too. */
static void pass_is_not_timed(struct pm_device *device, VkCommandBuffer handle,
                              const struct pm_pass_beginning *beginning)
{
    const struct pm_command *command =
        pm_trials_time(device) ? pm_command_of(device->sampling, handle) : NULL;
    bool worth;
    if (command != NULL && command->recording == PM_RECORDING_SAMPLED && !command->repeats)
        pm_trials_pass(device->trials, kind_of(beginning), &worth);
}

/* Its first timestamp, where there is a measurement for it. */
static void start(struct pm_command *command, uint32_t measurement)
{
    struct pm_pass_instance *pass = &command->pass;
    pass->measurement = measurement;
    pass->started = measurement != PM_TIMING_NONE;
    if (pass->started)
        pm_timing_start(command, measurement);
}

struct pm_command *pm_trial_pass_begins(struct pm_device *device, VkCommandBuffer handle,
                                        const struct pm_pass_beginning *beginning)
{
    pm_area_enter(device, handle, beginning->work);
    struct pm_command *command = timed_command(device, handle);
    if (command == NULL) {
        pass_is_not_timed(device, handle, beginning);
        return NULL;
    }
    if (command->repeats) {
        pm_session_pass_begins(command, beginning->whole && runs_in_order(command),
                               beginning->work);
        command->pass.executes = beginning->executes;
        command->pass.both = beginning->both;
        return command;
    }
    const enum pm_additive_outcome additive = pm_additive_outcome(device->additive);
    bool worth;
    struct pm_pass_instance *pass = &command->pass;
    *pass = (struct pm_pass_instance){
        .place = PM_PLACE_PASS,
        .slot = pm_trials_pass(device->trials, kind_of(beginning), &worth),
        .unknown = !pm_binding_may_try(command, PM_PLACE_TIMED_PASS),
        .work = beginning->work,
        .measurement = PM_TIMING_NONE,
    };
    /* A secondary command buffer may render outside of what executes it. */
    if (!runs_in_order(command))
        return command;
    /* A variant that has outlived its instance would be timed with this one. */
    const bool outlived = command->bound[PM_GRAPHICS].kind == PM_BINDING_TRIAL_PASS;
    if (beginning->executes) {
        pass->executes = true;
        pass->both = beginning->both;
        if (worth && beginning->whole && !(beginning->both && outlived))
            start(command, pm_timing_reserve(command));
        return command;
    }
    if (!beginning->whole || additive == PM_ADDITIVE_UNKNOWN || outlived ||
        !pm_binding_may_try(command, PM_PLACE_TIMED_PASS))
        return command;
    const bool draws = additive == PM_ADDITIVE_YES && !has_views(device, beginning);
    if (worth && !(draws && pm_timing_needs_no_reset(command)))
        pass->measurement = pm_timing_reserve(command);
    if (draws) {
        pass->place = PM_PLACE_TIMED_DRAWS;
    } else if (pass->measurement != PM_TIMING_NONE) {
        pass->place = PM_PLACE_TIMED_PASS;
        start(command, pass->measurement);
    }
    return command;
}

/* With what was bound before it, of which nothing is tried until the game binds again. */
static void pass_goes_on(struct pm_command *command)
{
    if (command->repeats)
        pm_session_pass_bound(command);
    else if (candidate_of(command, PM_GRAPHICS) != NULL)
        command->pass.worth = true;
    count_down(command);
}

void pm_trial_pass_began(struct pm_command *command)
{
    /* What is bound is undefined in secondary command buffers. */
    if (command == NULL || command->bound[PM_GRAPHICS].pipeline == NULL ||
        (command->pass.executes && !command->pass.both))
        return;
    if (command->pass.executes && !command->repeats) {
        bind_beside_executed(command);
        count_down(command);
        return;
    }
    if (!pm_binding_may_be_again(command, PM_GRAPHICS)) {
        pass_goes_on(command);
        return;
    }
    pm_trial_bind(command, PM_GRAPHICS);
    if (command->bound[PM_GRAPHICS].kind == PM_BINDING_TRIAL_PASS)
        pm_binding_bind(command, PM_GRAPHICS);
}

void pm_trial_executes(struct pm_device *device, VkCommandBuffer handle, uint32_t count,
                       const VkCommandBuffer *buffers)
{
    pm_area_give(device, handle, count, buffers);
    struct pm_command *command = timed_command(device, handle);
    if (command != NULL && command->pass.place == PM_PLACE_OUTSIDE)
        command = NULL;
    if (command != NULL)
        pm_session_pass_executes(command, count, buffers);
    if (pm_trials_time(device))
        pm_executed_pass_executes(device, command, count, buffers);
}

/* An instance that executes secondary ones, and is recorded anew, is of what takes turns, or else
 * of trials over sessions. */
static void executed_pass_ended(struct pm_command *command)
{
    struct pm_pass_instance *pass = &command->pass;
    const struct pm_timed_uses timed = pm_executed_pass_ended(command);
    if (timed.count > 0) {
        pm_timing_end(command, pass->measurement, &timed);
        pass->started = false;
    }
    pm_session_pass_ended(command);
    pm_trials_pass_was(command->device->trials, pass->slot, pass->worth);
}

void pm_trial_pass_ended(struct pm_device *device, VkCommandBuffer handle)
{
    pm_area_leave(device, handle);
    struct pm_command *command = timed_command(device, handle);
    if (command == NULL || command->pass.place == PM_PLACE_OUTSIDE)
        return;
    struct pm_pass_instance *pass = &command->pass;
    if (command->repeats) {
        pm_session_pass_ended(command);
        return;
    }
    if (pass->executes) {
        executed_pass_ended(command);
        return;
    }
    if (pass->place != PM_PLACE_TIMED_PASS)
        pass->timed.count = 0;
    if (pass->started)
        pm_timing_end(command, pass->measurement, &pass->timed);
    pm_trials_pass_was(device->trials, pass->slot, pass->worth);
    pass->place = PM_PLACE_OUTSIDE;
    /* Else it stays until the game binds another, or a draw comes that a query sees (put_off.h):
     * what the game has set since may be for what it binds next. */
    if (pm_binding_may_be_again(command, PM_GRAPHICS))
        pm_binding_put_back(command, PM_BINDING_TRIAL_PASS);
    count_down(command);
}
