/*
 * The loop on one machine (`piecemeal run --local`): spooled sessions into a local aggregator, its
 * databases to where the layer looks for them. No server, no network; the statistics and storage
 * are the aggregator's own.
 *
 * Thread safety: one thread; several processes may do it at once (upload ids keep each checkpoint
 * counted once).
 */
#pragma once

#include "base/error.h"
#include "base/log.h"
#include <stddef.h>

/* Points this process and its children at the local spool and databases ($PLACE_DATA/local/…). */
bool pm_local_enter(struct pm_error *error);

struct pm_local_report {
    size_t sessions, checkpoints, games; /* taken in, and the games curated */
    size_t damaged; /* sessions with a damaged tail: what was whole was taken in */
};

/* Takes in every ended session of the local spool, one cluster a checkpoint, removes each once its
 * counts are durable, then curates the games concerned and puts their databases in place. */
bool pm_local_take_in(struct pm_log *log, struct pm_local_report *report, struct pm_error *error);
