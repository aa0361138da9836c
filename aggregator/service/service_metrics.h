/*
 * What the service counts of itself, and GET /metrics: Prometheus' text format, version 0.0.4.
 * Names begin with piecemeal_, but for the process_ ones that every exporter has. No label has a
 * value from outside, so the number of series is fixed.
 *
 * Thread safety: any thread; everything is atomic but the rate, which has a mutex.
 */
#pragma once

#include "aggregator/curation/reason.h"
#include "base/buffer.h"
#include "profile/profile.h"
#include <pthread.h>
#include <stdatomic.h>

/* What became of an upload. */
enum pm_upload_result {
    PM_UPLOAD_STORED,
    PM_UPLOAD_DUPLICATE,
    PM_UPLOAD_INVALID,
    PM_UPLOAD_UNAUTHORIZED,
    PM_UPLOAD_TOO_LARGE,
    PM_UPLOAD_BUSY,
    PM_UPLOAD_FULL,
    PM_UPLOAD_STOPPING,
    PM_UPLOAD_FAILED,
    PM_UPLOAD_RESULTS,
};

#define PM_TIMING_BUCKETS 14 /* 1 ms · 2^i; what took longer counts in none of them */
struct pm_timing_counts {
    atomic_ullong buckets[PM_TIMING_BUCKETS], count, nanoseconds;
};

#define PM_RATE_SECONDS 64
struct pm_metrics {
    atomic_ullong uploads[PM_UPLOAD_RESULTS];
    atomic_ullong body_bytes, points, shaders, commit_failures, commit_conflicts, curation_failures;
    atomic_ullong connections_refused, requests_cut; /* beyond what one may have */
    struct pm_timing_counts commits, curations;
    int64_t started; /* seconds since the epoch */
    pthread_mutex_t rate_mutex;
    /* Uploads stored in each of the last seconds; a second's place is its number modulo
     * PM_RATE_SECONDS. */
    struct {
        int64_t second;
        uint64_t uploads;
    } rate[PM_RATE_SECONDS];
};

void pm_metrics_init(struct pm_metrics *metrics);
void pm_metrics_finish(struct pm_metrics *metrics);

void pm_metrics_time(struct pm_timing_counts *counts, int64_t nanoseconds);
/* status: the HTTP status of an upload's answer. */
void pm_metrics_count_upload(struct pm_metrics *metrics, unsigned status);
/* An upload that a commit made durable. */
void pm_metrics_count_stored(struct pm_metrics *metrics, const struct pm_profile *profile);
/* Uploads stored a second, over the last minute, or since the service began. */
double pm_metrics_upload_rate(struct pm_metrics *metrics);

/* What only the service can tell. */
struct pm_metrics_gauges {
    uint64_t queued, connections, held_bytes, storage_bytes, games, points, points_covered;
    uint64_t shaders;
    uint64_t samples_bytes, tokens_today, disagreements, unvouched;
    uint64_t certificate_ends;    /* seconds since the epoch; 0: there is none */
    uint64_t waiting[PM_REASONS]; /* shaders that are not published */
};
/* false: out of memory. */
bool pm_metrics_write(struct pm_metrics *metrics, const struct pm_metrics_gauges *gauges,
                      struct pm_buffer *out);

/* Resident memory in bytes; 0 where it cannot be read. */
uint64_t pm_metrics_resident_bytes(void);
/* Of all threads, user and system. */
double pm_metrics_cpu_seconds(void);

extern const char *const pm_upload_result_names[PM_UPLOAD_RESULTS];
