#include "base/stop.h"

#include <stddef.h>

static _Thread_local const _Atomic bool *watched;

void pm_stop_watch(const _Atomic bool *asked)
{
    watched = asked;
}

bool pm_stop_asked(void)
{
    return watched != NULL && atomic_load_explicit(watched, memory_order_relaxed);
}

bool pm_stop_check(struct pm_error *error)
{
    return !pm_stop_asked() ||
           pm_fail(error, PM_ERROR_STOPPED, "stopped, since the device is destroyed");
}
