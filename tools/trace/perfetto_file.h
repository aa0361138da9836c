/*
 * A file of Perfetto's trace packets, as perfetto.proto has them, written one after the other. What
 * goes wrong with writing is kept (ferror).
 *
 * Thread safety: one thread for a file.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

/* Perfetto's numbers of clocks. */
enum { PM_CLOCK_REALTIME = 1, PM_CLOCK_MONOTONIC = 3, PM_CLOCK_BOOTTIME = 6, PM_CLOCKS = 3 };

struct pm_perfetto_clock {
    uint32_t id;
    uint64_t at; /* nanoseconds */
};

enum pm_track_kind { PM_TRACK_PROCESS, PM_TRACK_THREAD, PM_TRACK_NAMED, PM_TRACK_COUNTER };

/* A track, before anything is said of it. */
struct pm_perfetto_track {
    enum pm_track_kind kind;
    uint64_t uuid, parent; /* parent 0: none */
    const char *name;      /* of a process, or of the track; not of a thread */
    int32_t pid, tid;      /* of a process, or a thread */
};

enum pm_slice { PM_SLICE_BEGIN, PM_SLICE_END, PM_SLICE_INSTANT };

struct pm_perfetto_event {
    uint64_t track, at;   /* at: CLOCK_MONOTONIC, nanoseconds */
    const char *category; /* NULL or "": none; also of the rest */
    const char *name, *shader, *detail;
};

/* Clocks of one moment. Comes before what is on them. */
void pm_perfetto_clocks(FILE *out, const struct pm_perfetto_clock clocks[static PM_CLOCKS]);
void pm_perfetto_track(FILE *out, const struct pm_perfetto_track *track);
void pm_perfetto_slice(FILE *out, enum pm_slice slice, const struct pm_perfetto_event *event);
void pm_perfetto_count(FILE *out, uint64_t track, uint64_t at, uint64_t count);
