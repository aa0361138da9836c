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
