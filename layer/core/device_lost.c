#include "layer/core/device_lost.h"

#include "profile/journal.h"

void pm_device_was_lost(struct pm_device *device)
{
    if (atomic_exchange(&device->lost, true))
        return;
    pm_log_warning(device->instance->log, "the device was lost; sampling ends");
    if (device->optimizer != NULL)
        pm_journal_lost(device->instance->journal);
}
