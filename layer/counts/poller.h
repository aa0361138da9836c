/*
 * The thread that asks for what the GPU gives back, and never waits for it: sources register, and
 * while any of them waits for something all are polled, every millisecond at first and ever more
 * seldom while nothing comes. What a round gave goes to the spool (report.h).
 *
 * Thread safety: pm_poller_add and pm_poller_destroy belong to the thread that creates and destroys
 * the device; all else may be called from any thread. The poller's lock is taken after every other,
 * so it may be woken under any.
 */
#pragma once

#include "layer/core/layer.h"

struct pm_poller;
struct pm_report; /* report.h */

struct pm_poll_source {
    void *user;
    /* Whether results may come. Takes no lock. */
    bool (*is_waiting)(void *user);
    /* Takes those that are there into the report. true: more may come soon. */
    bool (*poll)(void *user, struct pm_report *report);
};

/* NULL: out of memory. The thread starts when it is first needed. */
struct pm_poller *pm_poller_create(struct pm_device *device);
/* After pm_poller_stop. NULL is allowed. */
void pm_poller_destroy(struct pm_poller *poller);

/* A few at most (PM_POLL_SOURCES), before anything is waited for. They are polled in that order. */
enum { PM_POLL_SOURCES = 4 };
void pm_poller_add(struct pm_poller *poller, const struct pm_poll_source *source);

/* Has the thread call something about once a second as long as it is there, waited for or not; one
 * thing at most, before the thread starts. */
void pm_poller_each_second(struct pm_poller *poller, void (*call)(struct pm_device *device));

/* Starts the thread when it is not there. false: it could not be, or must not any more: the poller
 * was stopped, the process is exiting, or it is a forked child. */
bool pm_poller_start(struct pm_poller *poller);

/* A source has begun to wait. */
void pm_poller_wake(struct pm_poller *poller);

/* Ends the thread, after a last round where the GPU still answers. NULL is allowed. */
void pm_poller_stop(struct pm_poller *poller, bool answers);
