/* Trials over sessions in recordings: what is timed. sessions.h. */
#include "layer/frame/binding.h"
#include "layer/trial/session_state.h"
#include "layer/trial/timing.h"

bool pm_session_trials_are_awake(const struct pm_session_trials *trials)
{
    return trials != NULL && atomic_load_explicit(&trials->awake, memory_order_relaxed) &&
           pm_timing_resets(trials->device->timing);
}

bool pm_session_may_time(const struct pm_command *command)
{
    /* What a secondary one draws is timed where it is executed. */
    return pm_session_trials_are_awake(command->device->sessions) &&
           (command->secondary || pm_session_is_in_order(command));
}

void pm_session_pass_begins(struct pm_command *command, bool whole, uint64_t work)
{
    struct pm_pass_instance *pass = &command->pass;
    *pass = (struct pm_pass_instance){.place = PM_PLACE_PASS,
                                      .unknown = !pm_binding_may_try(command, PM_PLACE_TIMED_PASS),
                                      .work = work,
                                      .measurement = PM_TIMING_NONE};
    if (!whole)
        return;
    /* One that turned out not to be worth it is used again. */
    if (command->spare != PM_TIMING_NONE)
        pm_timing_reset(command, command->spare);
    else
        command->spare = pm_timing_reserve(command);
    pass->measurement = command->spare;
    pass->started = pass->measurement != PM_TIMING_NONE;
    if (pass->started)
        pm_timing_start(command, pass->measurement);
}

/* The trial takes part in the instance. */
static void take_part(struct pm_timed_uses *timed, struct pm_session_trial *trial)
{
    for (uint32_t i = 0; i < timed->session_count; i++)
        if (timed->trials[i] == trial)
            return;
    if (timed->session_count < PM_TIMED_TRIALS)
        timed->trials[timed->session_count++] = trial;
}

void pm_session_pass_bound(struct pm_command *command)
{
    struct pm_pass_instance *pass = &command->pass;
    const bool anew = pass->inherited || (pass->executes && !command->repeats);
    struct pm_session_trial *trial = anew            ? pm_session_bound(command, PM_GRAPHICS)
                                     : pass->started ? pm_session_of(command, PM_GRAPHICS)
                                                     : NULL;
    if (trial != NULL)
        take_part(&pass->timed, trial);
}

void pm_session_pass_executes(struct pm_command *command, uint32_t count,
                              const VkCommandBuffer *buffers)
{
    struct pm_pass_instance *pass = &command->pass;
    if (!pass->inherited && !pass->executes && !(command->repeats && pass->started))
        return;
    struct pm_sampling *sampling = command->device->sampling;
    for (uint32_t i = 0; i < count; i++) {
        const struct pm_command *secondary = pm_command_of(sampling, buffers[i]);
        /* What counts in every submission takes longer. */
        if (secondary == NULL || secondary->sampled > 0 || secondary->predicated != NULL ||
            secondary->pass.unknown) {
            pass->unknown = true;
            continue;
        }
        if (!secondary->pass.inherited)
            continue;
        const struct pm_timed_uses *timed = &secondary->pass.timed;
        for (uint32_t j = 0; j < timed->session_count; j++)
            take_part(&pass->timed, timed->trials[j]);
    }
}

void pm_session_pass_ended(struct pm_command *command)
{
    struct pm_pass_instance *pass = &command->pass;
    struct pm_timed_uses timed = {.count = 0};
    for (uint32_t i = 0; i < pass->timed.session_count; i++)
        pass->worth = pass->worth || pm_session_awaits(pass->timed.trials[i], pass->slot);
    /* While they are paused, or were, it is not known on which side the rest of it was. */
    const bool whole = pass->started && !pass->unknown &&
                       pm_timing_resets(command->device->timing) &&
                       !pm_sampling_is_paused(command->device->sampling);
    for (uint32_t i = 0; i < pass->timed.session_count; i++) {
        struct pm_session_trial *trial = pass->timed.trials[i];
        if (!whole) {
            /* Where it comes again it may be timed then. */
            if (command->repeats)
                pm_session_miss(trial, pass->work);
            continue;
        }
        timed.sessions[timed.session_count] = command->repeats
                                                  ? pm_session_next(trial, pass->work)
                                                  : pm_session_again(trial, pass->slot, pass->work);
        timed.session_count += timed.sessions[timed.session_count] != NULL;
    }
    if (timed.session_count > 0) {
        pm_timing_end(command, pass->measurement, &timed);
        command->spare = PM_TIMING_NONE;
    }
    pass->place = PM_PLACE_OUTSIDE;
}
