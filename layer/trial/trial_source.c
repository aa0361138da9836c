/* What trials wait for, as a source of the poller (counts/poller.h): timings, and the self-test of
 * single draws. */
#include "layer/counts/poller.h"
#include "layer/trial/additive.h"
#include "layer/trial/trial.h"

static bool is_waiting(void *user)
{
    const struct pm_device *device = user;
    return pm_timing_is_waiting(device->timing) || pm_additive_is_waiting(device->additive);
}

/* Timings alone are no reason to ask more often. */
static bool poll(void *user, struct pm_report *report)
{
    struct pm_device *device = user;
    if (pm_additive_is_waiting(device->additive))
        pm_additive_poll(device->additive);
    if (!pm_timing_is_waiting(device->timing))
        return false;
    pm_timing_poll(device->timing, pm_trials_take, device->trials);
    pm_trials_report(device->trials, report);
    return false;
}

void pm_trials_poll_with(struct pm_device *device)
{
    pm_poller_add(device->poller, &(struct pm_poll_source){device, is_waiting, poll});
}
