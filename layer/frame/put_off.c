#include "layer/frame/put_off.h"

#include "layer/frame/passes_run.h"

void pm_put_off_begin(struct pm_command *command)
{
    if (command->put_off)
        return;
    command->put_off = true;
    if (command->recording == PM_RECORDING_TIMED)
        command->countdown = 1; /* and behind whatever comes (trial_command.c) */
    pm_passes_count_down(command);
    pm_sampling_begin_put_off(command->device->sampling);
}

void pm_put_off_end(struct pm_command *command)
{
    if (!command->put_off)
        return;
    command->put_off = false;
    pm_sampling_end(command->device->sampling);
}

void pm_put_off_cancel(struct pm_command *command)
{
    if (!command->put_off)
        return;
    pm_put_off_end(command);
    /* One that is timed counts down behind its next call. */
    pm_passes_count_down(command);
}
