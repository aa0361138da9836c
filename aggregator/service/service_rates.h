/*
 * How often a token or an address may upload, an address may name tokens that are not known, and
 * how much a token may have stored. Each has a bucket that holds a minute's uploads, or a day's
 * bytes, and fills evenly; what is kept of one is the time at which it will be full again (the
 * generic cell rate algorithm), under a keyed hash of its name, in memory alone. The table has a
 * fixed size: where it is too small, the bucket that is nearest to full is forgotten.
 *
 * Thread safety: any thread.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pm_rate_kind { PM_RATE_TOKEN, PM_RATE_ADDRESS, PM_RATE_GUESS, PM_RATE_STORED, PM_RATE_KINDS };

struct pm_rate_bucket;
struct pm_rates {
    /* A minute; of PM_RATE_STORED bytes a day; 0: no limit. */
    uint64_t limits[PM_RATE_KINDS];
    uint64_t secret;
    pthread_mutex_t mutex;
    struct pm_rate_bucket *buckets;
};

/* token, address: uploads a minute, and as many guesses of an address; stored: bytes a day of a
 * token; 0: no limit. false: out of memory. */
bool pm_rates_init(struct pm_rates *rates, uint32_t token, uint32_t address, uint64_t stored);
void pm_rates_finish(struct pm_rates *rates);

/* Takes so much (1: one upload; or bytes) out of the bucket of this name; what is more than it
 * holds takes all of it. now: nanoseconds, monotonic. 0: it may come; else: seconds after which to
 * try again. */
unsigned pm_rates_take(struct pm_rates *rates, enum pm_rate_kind kind, const void *name,
                       size_t size, uint64_t amount, int64_t now);

/* What pm_rates_take would say of 1; nothing is taken. */
unsigned pm_rates_wait(struct pm_rates *rates, enum pm_rate_kind kind, const void *name,
                       size_t size, int64_t now);
