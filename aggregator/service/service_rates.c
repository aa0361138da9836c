#include "aggregator/service/service_rates.h"

#include "base/random.h"
#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { SETS = 1 << 14, WAYS = 4 }; /* 1 MiB */
#define SECOND INT64_C(1000000000)
#define MINUTE (60 * SECOND)
#define DAY (1440 * MINUTE)

struct pm_rate_bucket {
    uint64_t name; /* a hash */
    int64_t full;  /* nanoseconds, monotonic: when it will be full; what is past is full */
};

bool pm_rates_init(struct pm_rates *rates, uint32_t token, uint32_t address, uint64_t stored)
{
    rates->limits[PM_RATE_TOKEN] = token;
    rates->limits[PM_RATE_ADDRESS] = address;
    rates->limits[PM_RATE_GUESS] = address;
    rates->limits[PM_RATE_STORED] = stored;
    pthread_mutex_init(&rates->mutex, NULL);
    rates->buckets = calloc((size_t)SETS * WAYS, sizeof(*rates->buckets));
    return rates->buckets && pm_random_system(&rates->secret, sizeof(rates->secret));
}

void pm_rates_finish(struct pm_rates *rates)
{
    pthread_mutex_destroy(&rates->mutex);
    free(rates->buckets);
    rates->buckets = NULL;
}

/* The bucket of that name, or the one of its set that is nearest to full. */
static struct pm_rate_bucket *bucket_of(struct pm_rates *rates, uint64_t name)
{
    struct pm_rate_bucket *set = &rates->buckets[name % SETS * WAYS], *fullest = &set[0];
    for (unsigned i = 0; i < WAYS; i++) {
        if (set[i].name == name)
            return &set[i];
        if (set[i].full < fullest->full)
            fullest = &set[i];
    }
    return fullest;
}

static unsigned ask(struct pm_rates *rates, enum pm_rate_kind kind, const void *name, size_t size,
                    uint64_t amount, int64_t now, bool take)
{
    unsigned wait = 0;
    if (rates->limits[kind] == 0)
        return 0;
    const uint64_t hash = XXH3_64bits_withSeed(name, size, rates->secret + kind);
    const int64_t period = kind == PM_RATE_STORED ? DAY : MINUTE;
    const int64_t taken =
        amount >= rates->limits[kind]
            ? period
            : (int64_t)((double)period / (double)rates->limits[kind] * (double)amount);
    pthread_mutex_lock(&rates->mutex);
    struct pm_rate_bucket *bucket = bucket_of(rates, hash);
    const int64_t since = bucket->name == hash && bucket->full > now ? bucket->full : now;
    const int64_t full = since + taken;
    if (full - now > period)
        wait = (unsigned)((full - now - period + SECOND - 1) / SECOND);
    else if (take)
        *bucket = (struct pm_rate_bucket){hash, full};
    pthread_mutex_unlock(&rates->mutex);
    return wait;
}

unsigned pm_rates_take(struct pm_rates *rates, enum pm_rate_kind kind, const void *name,
                       size_t size, uint64_t amount, int64_t now)
{
    return ask(rates, kind, name, size, amount, now, true);
}

unsigned pm_rates_wait(struct pm_rates *rates, enum pm_rate_kind kind, const void *name,
                       size_t size, int64_t now)
{
    return ask(rates, kind, name, size, 1, now, false);
}
