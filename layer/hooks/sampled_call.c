#include "layer/hooks/sampled_call.h"

#include "layer/frame/binding.h"

struct pm_timed_call pm_sampled_call_begins(struct pm_command *command, int point)
{
    if (command->recording == PM_RECORDING_TIMED)
        return pm_trial_call_begins(command, point);
    pm_binding_sample(command, point);
    return (struct pm_timed_call){.measurement = PM_TIMING_NONE};
}

void pm_sampled_call_ends(struct pm_command *command, const struct pm_timed_call *call)
{
    pm_trial_call_ends(command, call);
    pm_binding_put_back(command, PM_BINDING_INSTRUMENTED | PM_BINDING_TRIAL_CALL);
}
