/*
 * How often a token or an address may upload, and an address may name tokens that are not known. Each
 * has a bucket that holds a minute's uploads and fills evenly; what is kept of one is the time at which it will be full again (the generic cell
 * rate algorithm), under a keyed hash of its name, in memory alone. The table has a fixed size:
 * where it is too small, the bucket that is nearest to full is forgotten.
 *
 * Thread safety: any thread.
 */
#pragma once

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pm_rate_kind { PM_RATE_TOKEN, PM_RATE_ADDRESS, PM_RATE_GUESS, PM_RATE_KINDS };

struct pm_rate_bucket;
struct pm_rates {
    uint32_t limits[PM_RATE_KINDS]; /* a minute; 0: no limit */
    uint64_t secret;
    pthread_mutex_t mutex;
    struct pm_rate_bucket *buckets;
};

/* token, address: uploads a minute, and as many guesses of an address; 0: no limit. false: out of
 * memory. */
bool pm_rates_init(struct pm_rates *rates, uint32_t token, uint32_t address);
void pm_rates_finish(struct pm_rates *rates);

/* Takes one upload out of the bucket of this name. now: nanoseconds, monotonic. 0: it may come;
 * else: seconds after which to try again. */
unsigned pm_rates_take(struct pm_rates *rates, enum pm_rate_kind kind, const void *name,
                       size_t size, int64_t now);

/* What pm_rates_take would say; nothing is taken. */
unsigned pm_rates_wait(struct pm_rates *rates, enum pm_rate_kind kind, const void *name,
                       size_t size, int64_t now);
