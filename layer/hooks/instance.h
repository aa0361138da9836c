/*
 * Instances.
 *
 * Thread safety: any thread.
 */
#pragma once

#include "layer/core/layer.h"

struct pm_instance *pm_instance_reference(struct pm_instance *instance);
/* The last release frees it. NULL is allowed. */
void pm_instance_release(struct pm_instance *instance);

/* Whether this session is ever going to sample. */
bool pm_instance_samples(const struct pm_instance *instance);

/* The journal of the game's specialized variants (HAZARDS 22), opened at the first call; what it
 * found is logged. NULL: it cannot be kept, so none may be used. */
struct pm_journal *pm_instance_journal(struct pm_instance *instance);
