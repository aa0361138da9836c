/*
 * How long to go on trying: a deadline, and waits that double, with jitter, so that many clients
 * that saw one aggregator fail do not come back all at once. Private to aggregator_client/.
 *
 * Thread safety: a struct belongs to one thread at a time.
 */
#pragma once

#include "base/random.h"
#include <stdbool.h>
#include <stdint.h>

struct pm_retry {
    struct pm_random random;
    int64_t deadline; /* nanoseconds of CLOCK_MONOTONIC */
    int64_t last;     /* likewise: until when another try may begin */
    int64_t own;      /* likewise: another try of this request, so that others have their time */
    double wait;      /* seconds, the next one before jitter */
};

/* seconds: how long to try in all; 0: 30. tries: for how long of it another try may begin; 0: all.
 */
void pm_retry_init(struct pm_retry *retry, uint32_t seconds, uint32_t tries);

/* Milliseconds until the deadline, 0 when it passed. */
uint32_t pm_retry_left(const struct pm_retry *retry);

/* Sleeps: at least `least` seconds (the aggregator's Retry-After), else half to the whole of the
 * next wait. false, at once: no other try may begin then. */
bool pm_retry_sleep(struct pm_retry *retry, uint32_t least);

/* The next request is another one: waits begin small again. */
void pm_retry_restart(struct pm_retry *retry);

/* Until this is called again, tries may begin in half of the time that is left where others are
 * still to come, else in all of it. */
void pm_retry_share(struct pm_retry *retry, bool others);
