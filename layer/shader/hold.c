#include "layer/shader/hold.h"

#include <stdlib.h>

struct pm_hold *pm_hold_create(void)
{
    struct pm_hold *hold = calloc(1, sizeof *hold);
    if (hold)
        atomic_init(&hold->references, 1);
    return hold;
}

/* Either who closes it sees the reference, or who takes it that it is closed. */
bool pm_hold_take(struct pm_hold *hold)
{
    atomic_fetch_add(&hold->references, 1);
    if (!atomic_load(&hold->closed))
        return true;
    pm_hold_release(hold);
    return false;
}

void pm_hold_release(struct pm_hold *hold)
{
    if (hold && atomic_fetch_sub(&hold->references, 1) == 1)
        free(hold);
}

void pm_hold_close(struct pm_hold *hold)
{
    atomic_store(&hold->closed, true);
}

bool pm_hold_is_idle(const struct pm_hold *hold)
{
    return atomic_load(&hold->references) == 1;
}

bool pm_hold_is_free(const struct pm_hold *hold)
{
    return atomic_load(&hold->closed) && pm_hold_is_idle(hold);
}
