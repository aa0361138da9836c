/* What readback.c (the game's side) and copy_results.c (the poller's) share. */
#pragma once

#include "layer/counts/copy.h"

struct pm_report;

struct pm_readback {
    struct pm_device *device;
    pthread_mutex_t lock;         /* all below, the queues' fields and the variants' */
    pthread_cond_t done;          /* the last copy under way is through, and read */
    struct pm_copy *first, *last; /* under way, and not known to be through */
    _Atomic uint32_t under_way;   /* how many are, or are being read; read without the lock */
    bool stopped;                 /* submissions are no longer counted */
    bool given_up;                /* the GPU does not answer: what is under way is through */
};

/* Takes every copy that is through, of any queue, into the report. true: there was one. One thread
 * at a time. */
bool pm_readback_take(struct pm_readback *readback, struct pm_report *report);
