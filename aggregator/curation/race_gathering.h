/*
 * What was measured of variants, while the blobs of a game come in: per shader and environment of
 * each variant the clusters of both halves, those that choose and those that are held out
 * (statistics/race.h), over all and by day.
 *
 * Thread safety: a gathering belongs to one thread.
 */
#pragma once

#include "aggregator/statistics/statistics.h"
#include "aggregator/storage/storage.h"
#include "base/anytime.h"

/* How many clusters of a day. */
struct pm_race_day {
    uint32_t day;
    double n;
};

/* Clusters of one half, over all and by days, ascending. */
struct pm_race_half {
    struct pm_anytime sums; /* of logarithms */
    struct pm_race_day *days;
    size_t count, allocated;
};

struct pm_gathered_arm {
    uint32_t point;
    struct pm_race_half halves[2]; /* choosing, held out */
};

struct pm_gathered_race {
    struct pm_shader_key key;
    struct pm_environment environment;
    uint32_t vouched_day;
    struct pm_gathered_arm *arms; /* ascending by point */
    size_t count, allocated;
};

struct pm_race_gathering {
    struct pm_gathered_race *races; /* in the order in which their blobs came */
    size_t count, allocated;
};

/* Zero-initialized before. */
void pm_race_gathering_finish(struct pm_race_gathering *gathering);

/* Adds what one blob says, in the order of pm_storage_operations.read_game. vouched_day: as in
 * struct pm_curated; 0: too few sent it. Variants by recipes that this build does not have are left
 * out. */
bool pm_race_gather(struct pm_race_gathering *gathering, const struct pm_storage_key *key,
                    const struct pm_statistics *statistics, uint32_t vouched_day,
                    struct pm_error *error);

/* As if of so many clusters as are independent, had the same players come on all days (Kish). Of
 * nothing where there is no memory. */
struct pm_anytime pm_race_independent(const struct pm_race_half *half);
/* Clusters of the day that has most, and of all days, of both halves. */
double pm_race_most_of_day(const struct pm_gathered_arm *arm);
double pm_race_clusters(const struct pm_gathered_arm *arm);
