/* Trials over sessions in recordings: what is timed. sessions.h. */
#include "layer/trial/sessions.h"
#include "layer/trial/timing.h"

void pm_session_pass_begins(struct pm_command *command, bool whole, uint64_t work)
{
    struct pm_pass_instance *pass = &command->pass;
    *pass = (struct pm_pass_instance){
        .place = PM_PLACE_PASS, .work = work, .measurement = PM_TIMING_NONE};
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

void pm_session_pass_bound(struct pm_command *command)
{
    struct pm_timed_uses *timed = &command->pass.timed;
    struct pm_session_trial *trial =
        command->pass.started ? pm_session_of(command, PM_GRAPHICS) : NULL;
    for (uint32_t i = 0; trial != NULL && i < timed->session_count; i++)
        if (timed->trials[i] == trial)
            return;
    if (trial != NULL && timed->session_count < PM_TIMED_TRIALS)
        timed->trials[timed->session_count++] = trial;
}

void pm_session_pass_ended(struct pm_command *command)
{
    struct pm_pass_instance *pass = &command->pass;
    struct pm_timed_uses timed = {.count = 0};
    /* What secondary command buffers did in it is not known, nor on which side the rest of it was.
     */
    const bool whole =
        pass->started && !pass->executed && !pm_sampling_is_paused(command->device->sampling);
    for (uint32_t i = 0; whole && i < pass->timed.session_count; i++) {
        timed.sessions[timed.session_count] = pm_session_next(pass->timed.trials[i], pass->work);
        timed.session_count += timed.sessions[timed.session_count] != NULL;
    }
    if (timed.session_count > 0) {
        pm_timing_end(command, pass->measurement, &timed);
        command->spare = PM_TIMING_NONE;
    }
    pass->place = PM_PLACE_OUTSIDE;
}
