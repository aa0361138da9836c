/* What the files of the aggregator library share. */
#pragma once

#include "aggregator/aggregator.h"
#include "aggregator/statistics.h"
#include <pthread.h>

struct pm_aggregator {
    struct pm_storage *storage;
    struct pm_log *log;
    bool publish_all;
    double half_width_absolute, half_width_relative;
    uint32_t sessions_for_never, pairs_for_timing;
    uint32_t scenes;
    size_t database_bytes;       /* for the shaders of a database: some are kept for its head */
    pthread_mutex_t write_mutex; /* held from begin to commit or rollback of the storage */
};
