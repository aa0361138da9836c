#include "layer/core/process_exit.h"

#include <stdatomic.h>

static _Atomic bool is_exiting;

bool pm_process_is_exiting(void)
{
    return atomic_load_explicit(&is_exiting, memory_order_relaxed);
}

void pm_process_set_exiting(bool exiting)
{
    atomic_store(&is_exiting, exiting);
}
