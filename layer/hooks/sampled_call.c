#include "layer/hooks/sampled_call.h"

#include "layer/frame/binding.h"
#include "layer/frame/passes_run.h"
#include "layer/trial/ab.h"

/* What a dispatch runs as that is neither sampled nor a side of a trial. */
static const struct pm_passes *passes_of(struct pm_command *command,
                                         const struct pm_sampled_call *call, const uint32_t *groups)
{
    const struct pm_bound *bound = &command->bound[PM_COMPUTE];
    if (bound->passes != NULL)
        return bound->passes;
    const bool stands = (bound->kind & (PM_BINDING_GAME | PM_BINDING_PROVEN)) != 0;
    const struct pm_passes *passes =
        stands && call->timed.measurement == PM_TIMING_NONE && call->pair.variant == NULL
            ? pm_passes_proven(command, groups)
            : NULL;
    if (passes != NULL)
        pm_ab_bound(command->device->ab);
    return passes;
}

static struct pm_predicated_pair sample(struct pm_command *command, int point)
{
    if (command->predicated != NULL)
        return pm_predicated_begins(command, point);
    pm_binding_sample(command, point);
    return (struct pm_predicated_pair){.variant = NULL};
}

struct pm_sampled_call pm_sampled_call_begins(struct pm_command *command, int point,
                                              const uint32_t *groups)
{
    struct pm_sampled_call call = {.timed = {.measurement = PM_TIMING_NONE}};
    if (command->put_off && point == PM_GRAPHICS)
        pm_binding_put_back_at_draw(command);
    if (command->recording == PM_RECORDING_TIMED)
        call.timed = pm_trial_call_begins(command, point, groups);
    else if (command->recording == PM_RECORDING_SAMPLED && pm_command_is_through(command))
        call.pair = sample(command, point);
    pm_passes_count_down(command);
    if (point == PM_COMPUTE && groups != NULL)
        call.passes = passes_of(command, &call, groups);
    return call;
}

bool pm_sampled_call_in_passes(const struct pm_command *command, const struct pm_sampled_call *call,
                               const uint32_t *groups)
{
    if (call->passes == NULL)
        return false;
    pm_passes_run(command, call->passes, groups);
    return true;
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
