/*
 * `piecemeal run --trace`: a file for what happens (profile/trace_events.h), in which the layer
 * tells its part and `piecemeal run` its own, and the trace that is made of it at the end. Nothing
 * here keeps a game from starting.
 *
 * Thread safety: one thread.
 */
#pragma once

#include <limits.h>

struct pm_run_trace {
    const char *path;      /* where the trace goes; NULL: none is wanted */
    char events[PATH_MAX]; /* "": there is nowhere to tell anything */
    int file;              /* of them; -1: likewise */
};

/* path NULL: nothing happens, here and below. Changes the environment. */
void pm_run_trace_begin(struct pm_run_trace *trace, const char *path);

/* Something of the run's own begins, and ends. */
void pm_run_trace_step(struct pm_run_trace *trace, const char *what);
void pm_run_trace_step_ends(struct pm_run_trace *trace);

/* Makes the trace, and says so or why not. */
void pm_run_trace_end(struct pm_run_trace *trace);
