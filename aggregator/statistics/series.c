#include "aggregator/statistics/series.h"

#include "aggregator/statistics/shift.h"
#include <stdlib.h>

void pm_series_init(struct pm_series *series)
{
    pm_statistics_init(&series->exact);
    pm_aged_init(&series->aged);
}

void pm_series_finish(struct pm_series *series)
{
    const bool strangers = series->aged.strangers;
    pm_statistics_finish(&series->exact);
    pm_aged_finish(&series->aged);
    series->aged.strangers = strangers;
}

static int compare_days(const void *a, const void *b)
{
    const struct pm_series_blob *left = a, *right = b;
    if (left->day != right->day)
        return left->day < right->day ? -1 : 1;
    return (left->flags > right->flags) - (left->flags < right->flags);
}

struct reading {
    struct pm_series_blob *blobs;
    uint32_t half_life;
    struct pm_series *plain, *all;
    struct pm_shift *shift; /* NULL: what is read again */
    bool mixed;             /* some have flags */
};

static bool add(struct pm_series *series, const struct pm_statistics *statistics, uint32_t day,
                const struct reading *reading, struct pm_error *error)
{
    return (!reading->shift || pm_statistics_merge(&series->exact, statistics, error)) &&
           pm_aged_add(&series->aged, statistics, day, reading->half_life, error);
}

static bool read(const struct reading *reading, size_t i, struct pm_error *error)
{
    const struct pm_series_blob *blob = &reading->blobs[i];
    struct pm_statistics statistics;
    pm_statistics_init(&statistics);
    const bool done =
        pm_statistics_decode(blob->data, blob->size, &statistics, error) &&
        (!reading->mixed || add(reading->all, &statistics, blob->day, reading, error)) &&
        (blob->flags != 0 || add(reading->plain, &statistics, blob->day, reading, error)) &&
        (!reading->shift || pm_shift_add(reading->shift, &statistics, blob->day, error));
    pm_statistics_finish(&statistics);
    return done;
}

static void forget_aged(struct pm_aged *aged)
{
    const bool strangers = aged->strangers;
    pm_aged_finish(aged);
    aged->strangers = strangers;
}

/* Only what is of `since` or later counts, of the first `end` blobs. */
static bool begin_anew(const struct reading *reading, size_t end, uint32_t since, size_t *bad,
                       struct pm_error *error)
{
    struct reading again = *reading;
    bool done = true;
    again.shift = NULL;
    forget_aged(&reading->plain->aged);
    forget_aged(&reading->all->aged);
    for (size_t i = 0; done && i < end; i++) {
        *bad = i;
        done = reading->blobs[i].day < since || read(&again, i, error);
    }
    return done;
}

bool pm_series_read(struct pm_series_blob *blobs, size_t count, uint32_t half_life,
                    struct pm_series *plain, struct pm_series *all, uint32_t *since, size_t *bad,
                    struct pm_error *error)
{
    struct pm_shift shift = {.half_life = half_life};
    struct reading reading = {blobs, half_life, plain, all, &shift, false};
    bool done = true;
    *since = 0;
    for (size_t i = 0; i < count; i++)
        reading.mixed = reading.mixed || blobs[i].flags != 0;
    if (count > 1)
        qsort(blobs, count, sizeof(*blobs), compare_days);
    for (size_t i = 0; done && i < count; i++) {
        *bad = i;
        done = read(&reading, i, error);
        const bool last = i + 1 == count || blobs[i + 1].day != blobs[i].day;
        if (done && last && pm_shift_find(&shift, since))
            done = begin_anew(&reading, i + 1, *since, bad, error);
    }
    pm_shift_finish(&shift);
    if (done)
        *bad = count;
    return done;
}
