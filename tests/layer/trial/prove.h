/* For tests of what is made at once (layer/shader/at_once.h) on the null driver: a session proves a
 * dispatch's variant, and whether the next one's pipeline has it from the start. */
#pragma once

#include "tests/layer/trial/trying.h"

/* Makes the pipelines of the sessions that follow; first optimized_compute. */
extern VkPipeline (*prove_make)(struct pm_harness *harness);

/* In the sessions to come what is proven is made at once, as far as a busy test machine gets; or
 * with the limits that a player has. */
void prove_give_time(void);
void prove_give_usual_time(void);

/* A session with a trial, after which the dispatches' variant is known to be faster; on a driver of
 * this VkDriverId. It gives time for it. */
void prove_on(const char *driver_id);
void prove(void);

/* Whether the recording of a pipeline that is just created names its variant. Nothing is made in
 * the background meanwhile. The pipeline is trying.compute. */
bool prove_creates_bound(VkCommandBuffer *recorded);
/* The same in a session of its own. */
bool prove_is_bound_at_once(void);
