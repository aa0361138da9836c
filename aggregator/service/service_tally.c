#include "aggregator/service/service_tally.h"

#include "base/random.h"
#include <math.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

void pm_tally_init(struct pm_tally *tally)
{
    memset(tally, 0, sizeof(*tally));
    pthread_mutex_init(&tally->mutex, NULL);
    pm_random_system(&tally->secret, sizeof(tally->secret));
}

void pm_tally_finish(struct pm_tally *tally)
{
    pthread_mutex_destroy(&tally->mutex);
}

/* With the mutex held. */
static void begin_day(struct pm_tally *tally, int64_t day)
{
    if (tally->day == day)
        return;
    tally->day = day;
    tally->set = 0;
    memset(tally->bits, 0, sizeof(tally->bits));
    pm_random_system(&tally->secret, sizeof(tally->secret));
}

void pm_tally_add(struct pm_tally *tally, const void *name, size_t size, int64_t day)
{
    pthread_mutex_lock(&tally->mutex);
    begin_day(tally, day);
    const uint64_t bit = XXH3_64bits_withSeed(name, size, tally->secret) % PM_TALLY_BITS;
    const uint8_t mask = (uint8_t)(1u << bit % 8);
    tally->set += (tally->bits[bit / 8] & mask) == 0;
    tally->bits[bit / 8] |= mask;
    pthread_mutex_unlock(&tally->mutex);
}

uint64_t pm_tally_count(struct pm_tally *tally, int64_t day)
{
    pthread_mutex_lock(&tally->mutex);
    begin_day(tally, day);
    const double all = PM_TALLY_BITS, clear = tally->set < PM_TALLY_BITS ? all - tally->set : 1;
    pthread_mutex_unlock(&tally->mutex);
    return (uint64_t)llround(all * log(all / clear));
}
