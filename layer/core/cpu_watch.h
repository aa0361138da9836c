/*
 * Observes frames for cpu_bound.h while a window is open. How the GPU is doing is seen by a fence
 * of ours behind a frame's last submission: signalled before the next one comes, the GPU ran dry.
 *
 * Not on a CPU device, which is never idle apart from the processor; not where the program does not
 * present; not with debug.synchronous or a window that never closes, which ask for every call.
 *
 * Thread safety: waits may be reported from any thread; the rest is called while the game holds the
 * queue that it presents with, and does nothing for any but the first such queue.
 */
#pragma once

#include "layer/core/cpu_bound.h"
#include "layer/core/layer.h"

struct pm_cpu_watch {
    struct pm_device *device;
    bool wanted;
    _Atomic bool observing; /* waits are to be timed */
    _Atomic int64_t waited; /* nanoseconds since the last present */
    _Atomic bool bound;     /* the answer */

    _Atomic bool restart;   /* a window opened since the last present */
    _Atomic(VkQueue) queue; /* the first that was presented with */

    /* guarded as that queue is */
    struct pm_cpu_bound state;
    VkFence fence;
    bool pending;            /* the fence was submitted and is not reset yet */
    bool fresh;              /* behind the latest frame */
    bool dry;                /* it was found signalled before the next submission */
    bool sure;               /* `dry` is known for the frame under way */
    uint32_t frames;         /* since the window opened */
    int64_t wall, processor; /* at the last present */
};

void pm_cpu_watch_init(struct pm_cpu_watch *watch, struct pm_device *device);
void pm_cpu_watch_finish(struct pm_cpu_watch *watch);

/* A window opens or closes. */
void pm_cpu_watch_window(struct pm_cpu_watch *watch, bool open);

/* Before a submission to the queue. */
void pm_cpu_watch_submit(struct pm_cpu_watch *watch, VkQueue queue);

/* After a present on the queue. */
void pm_cpu_watch_present(struct pm_cpu_watch *watch, VkQueue queue);

/* Around a call that may wait. begin returns 0 when nobody wants to know. */
int64_t pm_cpu_watch_wait_begin(const struct pm_cpu_watch *watch);
void pm_cpu_watch_wait_end(struct pm_cpu_watch *watch, int64_t begin);

/* A poll that found nothing yet: the game waits by spinning. */
void pm_cpu_watch_spin(struct pm_cpu_watch *watch);
