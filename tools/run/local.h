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

/* One run: it has a spool of its own ($PLACE_DATA/local/spool/…), so that what a run took in is
 * what its own processes sampled, whatever runs beside it or was left by one that was killed. */
struct pm_local_run {
    char *spool; /* a folder; owned */
    int lock;    /* on it, for as long as the run goes on: nobody else takes its sessions in */
};

/* Begins a run: points this process and its children at its spool, and at the local databases. */
bool pm_local_begin(struct pm_local_run *run, struct pm_error *error);

/* How many of the run's sessions have not ended: their processes live. */
size_t pm_local_live(const struct pm_local_run *run);

/* Ends it. Its spool goes unless sessions are left there, which a later run takes in. */
void pm_local_end(struct pm_local_run *run);

struct pm_local_report {
    size_t sessions, checkpoints, games; /* taken in, and the games curated */
    size_t damaged; /* sessions with a damaged tail, of which what was whole was taken in, and
                       those that cannot be read at all */
};

/* Takes in every ended session of the run, or, run NULL, of all that were left by runs that are
 * over: one cluster a session, removes each once its counts are durable, sets aside what is refused
 * (local/refused), then curates the games concerned and puts their databases in place. false: the
 * first that went wrong; *report says what was done all the same. */
bool pm_local_take_in(const struct pm_local_run *run, struct pm_log *log,
                      struct pm_local_report *report, struct pm_error *error);
