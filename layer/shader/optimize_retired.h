/*
 * A-Z testing's variants that are out of their contest: what was built goes once no recording holds
 * it (hold.h), and its room is for others. Until then the journal has it: should the game end badly
 * meanwhile, it may be its doing.
 *
 * Thread safety: the job's thread, but for the heartbeat's.
 */
#pragma once

#include "layer/shader/optimizer.h"

/* A variant is out of its contest: what was built goes, and the journal's note of it, once no
 * recording holds it. */
void pm_optimizer_retire(struct pm_optimizer *optimizer, struct pm_optimized *optimized);
/* Those go that may. */
void pm_optimizer_let_go(struct pm_optimizer *optimizer);
/* Lets go of their pipelines: the optimizer is about to be destroyed. */
void pm_optimizer_forget_retired(struct pm_optimizer *optimizer);
/* A heartbeat, while there are some: now and then it is time to look. */
bool pm_optimizer_look_at_retired(struct pm_optimizer *optimizer);
