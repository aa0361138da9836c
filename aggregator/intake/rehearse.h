/*
 * Would an upload be stored? For a service whose last one was not, and to which nobody sends
 * another meanwhile: a load balancer may send it none before it says that it is well.
 *
 * Thread safety: any thread; it takes its turn by the world's write mutex.
 */
#pragma once

#include "aggregator/storage/world.h"

/* Puts down the id of an upload of no game, takes it back, and commits durably, as uploads are. */
bool pm_rehearse(struct pm_world *world, struct pm_error *error);
