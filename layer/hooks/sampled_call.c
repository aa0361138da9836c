#include "layer/hooks/sampled_call.h"

#include "layer/frame/binding.h"

struct pm_sampled_call pm_sampled_call_begins(struct pm_command *command, int point)
{
    struct pm_sampled_call call = {.timed = {.measurement = PM_TIMING_NONE}};
    if (command->recording == PM_RECORDING_TIMED)
        call.timed = pm_trial_call_begins(command, point);
    else if (command->predicated != NULL)
        call.pair = pm_predicated_begins(command, point);
    else
        pm_binding_sample(command, point);
    return call;
}

bool pm_sampled_call_again(struct pm_command *command, int point,
                           const struct pm_sampled_call *call)
{
    if (call->pair.variant == NULL)
        return false;
    pm_predicated_again(command, point, &call->pair);
    return true;
}

void pm_sampled_call_ends(struct pm_command *command, const struct pm_sampled_call *call)
{
    if (call->pair.variant != NULL)
        pm_predicated_ends(command);
    pm_trial_call_ends(command, &call->timed);
    pm_binding_put_back(command, PM_BINDING_INSTRUMENTED | PM_BINDING_TRIAL_CALL);
}
