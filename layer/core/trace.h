/*
 * What happens on a device, told as it happens (profile/trace_events.h) where trace.file asks for
 * it; `piecemeal run --trace` makes a trace of it. Without one there is nothing but the tests for
 * NULL, and none of them on a draw.
 *
 * Thread safety: any thread, but for creating and destroying. A forked child's copy does nothing.
 */
#pragma once

#include "layer/core/layer.h"
#include "profile/trace_events.h"

struct pm_trace {
    struct pm_instance *instance;
    int file;
    pid_t process;
    uint32_t number;                          /* of the device */
    uint64_t calls;                           /* at the frame before; the heartbeat's */
    _Atomic uint64_t bytes;                   /* written */
    _Atomic bool ended;                       /* a write failed, or as much was written as may be */
    _Atomic uint64_t counts[PM_TRACE_COUNTS]; /* of the frame */
};

/* NULL: trace.file is not set, or cannot be opened, which was logged. */
struct pm_trace *pm_trace_create(struct pm_device *device);
/* NULL is allowed, here and below. */
void pm_trace_destroy(struct pm_trace *trace);

/* Something begins on a track, inside of what began there and has not ended. track NULL: the
 * calling thread's. shader NULL: of none. */
void pm_trace_begin(struct pm_trace *trace, const char *track, const char *name,
                    const struct pm_shader_key *shader);
/* What began last there ends. detail NULL: nothing is said of it. */
void pm_trace_end(struct pm_trace *trace, const char *track, const char *detail);

/* Something that takes no time. */
void pm_trace_instant(struct pm_trace *trace, const char *track, const char *name,
                      const struct pm_shader_key *shader, const char *detail);

/* A frame ends. calls: of sampled recordings so far; waiting: compiles. */
void pm_trace_frame(struct pm_trace *trace, uint64_t heartbeat, uint64_t calls, uint32_t waiting);

/* One more of a frame's counts. */
static inline void pm_trace_count(struct pm_trace *trace, enum pm_trace_count which)
{
    if (trace != NULL)
        atomic_fetch_add_explicit(&trace->counts[which], 1, memory_order_relaxed);
}
