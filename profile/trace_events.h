/*
 * What happens in a run of a game, as it happens (docs/traces.md): windows, compiles, trials,
 * uploads, frames. The layer and `piecemeal run --trace` append to one file (trace.file), and
 * tools/trace/ makes a Perfetto trace of it when the game is over.
 *
 * An event is a line that is written at once, by any number of processes and threads, so what a
 * killed program did is there. Its fields are separated by tabs: type, process, thread, device,
 * time, track, name, shader, detail, and the counts that its type has.
 *
 * Thread safety: no state; any thread.
 */
#pragma once

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pm_trace_type {
    PM_TRACE_NAME,    /* what the process is (device 0), or the device, which begins with it */
    PM_TRACE_CLOCKS,  /* counts: CLOCK_BOOTTIME and CLOCK_REALTIME at `at`, nanoseconds */
    PM_TRACE_BEGIN,   /* something of a track begins, inside of what began there before */
    PM_TRACE_END,     /* and ends: what of the track began last */
    PM_TRACE_INSTANT, /* something that takes no time */
    PM_TRACE_FRAME,   /* a frame ends; name: its number; counts: enum pm_trace_count */
    PM_TRACE_TYPES
};

/* Of the frame that ends, but for what waits. */
enum pm_trace_count {
    PM_TRACE_SAMPLED,     /* calls with a variant that counts bound for them */
    PM_TRACE_CALLS,       /* draws and dispatches of sampled recordings that have ended */
    PM_TRACE_SPECIALIZED, /* binds of specialized variants */
    PM_TRACE_WAITING,     /* compiles that wait */
    PM_TRACE_COUNTS
};
enum { PM_TRACE_BOOTTIME, PM_TRACE_REALTIME }; /* of PM_TRACE_CLOCKS */

/* How the name begins of what is open while the driver has a specialized pipeline to make; its
 * parts follow (variant_parts.h). */
#define PM_TRACE_BUILDS "piecemeal specialized by "

enum { PM_TRACE_TEXT = 128 };

struct pm_trace_event {
    enum pm_trace_type type;
    int64_t process, thread;   /* as the system numbers them */
    uint32_t device;           /* tells it from the process's others; 0: it is of none */
    int64_t at;                /* CLOCK_MONOTONIC, nanoseconds */
    char track[PM_TRACE_TEXT]; /* "": the thread's */
    char name[PM_TRACE_TEXT];
    char shader[PM_TRACE_TEXT]; /* the key of the original; "": of none */
    char detail[PM_TRACE_TEXT]; /* for people; "": nothing */
    uint64_t counts[PM_TRACE_COUNTS];
};

/* Opens a file to append to. -1 and *error: it cannot be. */
int pm_trace_events_open(const char *path, struct pm_error *error);

/* Appends an event in one write; its process, thread and time are filled in. Control characters in
 * its texts become spaces. bytes: how many were written. false: it could not be written. */
bool pm_trace_events_write(int file, const struct pm_trace_event *event, size_t *bytes);

/* The event of a line, which is taken apart. PM_ERROR_INPUT: it is none. */
bool pm_trace_events_parse(char *line, struct pm_trace_event *event, struct pm_error *error);
