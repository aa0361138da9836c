#include "layer/frame/put_off.h"

void pm_put_off_begin(struct pm_command *command)
{
    if (command->put_off)
        return;
    command->put_off = true;
    if (command->recording == PM_RECORDING_SAMPLED)
        pm_command_look_at_each(command, true);
    else
        command->countdown = 1; /* and behind whatever comes (passes_run.c, trial_command.c) */
    pm_sampling_begin_put_off(command->device->sampling);
}
