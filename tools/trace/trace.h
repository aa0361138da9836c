/*
 * `piecemeal run --trace`: makes a Perfetto trace (docs/traces.md, perfetto.proto) of the events
 * that the layer and `piecemeal run` appended to a file (profile/trace_events.h).
 *
 * Every process is a process there, with a track for each of its threads that did something; a
 * device is a track below its process, and what it tells of has tracks below that, with a counter
 * for each of a frame's counts. Events are in order of time, on CLOCK_MONOTONIC; snapshots of the
 * clocks say what that is on others. What a process that was killed had begun ends with the last
 * that is known of it.
 *
 * Thread safety: no state.
 */
#pragma once

#include "base/error.h"
#include <stddef.h>

struct pm_trace_made {
    size_t events, damaged; /* lines; those that are no events, left out */
};

/* Writes the trace to path, whole or not at all. */
bool pm_trace_make(const char *events, const char *path, struct pm_trace_made *made,
                   struct pm_error *error);
