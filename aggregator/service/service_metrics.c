#include "aggregator/service/service_metrics.h"

#include "base/clock.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

const char *const pm_upload_result_names[PM_UPLOAD_RESULTS] = {
    [PM_UPLOAD_STORED] = "stored",       [PM_UPLOAD_DUPLICATE] = "duplicate",
    [PM_UPLOAD_INVALID] = "invalid",     [PM_UPLOAD_UNAUTHORIZED] = "unauthorized",
    [PM_UPLOAD_TOO_LARGE] = "too_large", [PM_UPLOAD_BUSY] = "busy",
    [PM_UPLOAD_FULL] = "full",           [PM_UPLOAD_STOPPING] = "stopping",
    [PM_UPLOAD_FAILED] = "failed",
};

/* ---- counting ---- */

void pm_metrics_init(struct pm_metrics *metrics)
{
    memset(metrics, 0, sizeof(*metrics));
    pthread_mutex_init(&metrics->rate_mutex, NULL);
    metrics->started = (int64_t)time(NULL);
}

void pm_metrics_finish(struct pm_metrics *metrics)
{
    pthread_mutex_destroy(&metrics->rate_mutex);
}

void pm_metrics_time(struct pm_timing_counts *counts, int64_t nanoseconds)
{
    int64_t bound = 1000000;
    for (unsigned i = 0; i < PM_TIMING_BUCKETS; i++, bound *= 2) {
        if (nanoseconds <= bound) {
            atomic_fetch_add(&counts->buckets[i], 1);
            break;
        }
    }
    atomic_fetch_add(&counts->count, 1);
    atomic_fetch_add(&counts->nanoseconds, (unsigned long long)nanoseconds);
}

static enum pm_upload_result result_of(unsigned status)
{
    switch (status) {
    case 204:
        return PM_UPLOAD_STORED;
    case 200:
        return PM_UPLOAD_DUPLICATE;
    case 400:
    case 405:
        return PM_UPLOAD_INVALID;
    case 401:
        return PM_UPLOAD_UNAUTHORIZED;
    case 413:
        return PM_UPLOAD_TOO_LARGE;
    case 429:
        return PM_UPLOAD_BUSY;
    case 507:
        return PM_UPLOAD_FULL;
    case 503:
        return PM_UPLOAD_STOPPING;
    default:
        return PM_UPLOAD_FAILED;
    }
}

void pm_metrics_count_upload(struct pm_metrics *metrics, unsigned status)
{
    atomic_fetch_add(&metrics->uploads[result_of(status)], 1);
}

void pm_metrics_count_stored(struct pm_metrics *metrics, const struct pm_profile *profile)
{
    const int64_t second = pm_now() / PM_SECOND;
    unsigned long long points = 0;
    for (size_t i = 0; i < profile->shader_count; i++)
        points += profile->shaders[i].point_count;
    atomic_fetch_add(&metrics->points, points);
    atomic_fetch_add(&metrics->shaders, profile->shader_count);
    pthread_mutex_lock(&metrics->rate_mutex);
    const size_t at = (size_t)(second % PM_RATE_SECONDS);
    if (metrics->rate[at].second != second) {
        metrics->rate[at].second = second;
        metrics->rate[at].uploads = 0;
    }
    metrics->rate[at].uploads++;
    pthread_mutex_unlock(&metrics->rate_mutex);
}

double pm_metrics_upload_rate(struct pm_metrics *metrics)
{
    const int64_t now = pm_now() / PM_SECOND;
    const int64_t age = (int64_t)time(NULL) - metrics->started;
    const int64_t seconds = age < 1 ? 1 : age > 60 ? 60 : age;
    uint64_t uploads = 0;
    pthread_mutex_lock(&metrics->rate_mutex);
    for (size_t i = 0; i < PM_RATE_SECONDS; i++) {
        /* Not the second that has only begun. */
        if (metrics->rate[i].second >= now - seconds && metrics->rate[i].second < now)
            uploads += metrics->rate[i].uploads;
    }
    pthread_mutex_unlock(&metrics->rate_mutex);
    return (double)uploads / (double)seconds;
}

/* ---- the process ---- */

uint64_t pm_metrics_resident_bytes(void)
{
    unsigned long long size, resident = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%llu %llu", &size, &resident) != 2)
        resident = 0;
    fclose(file);
    return resident * (unsigned long long)sysconf(_SC_PAGESIZE);
}

double pm_metrics_cpu_seconds(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return 0;
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* ---- the text ---- */

static bool head(struct pm_buffer *out, const char *name, const char *type, const char *help)
{
    return pm_buffer_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static bool write_number(struct pm_buffer *out, const char *name, const char *type,
                         const char *help, uint64_t value)
{
    return head(out, name, type, help) && pm_buffer_printf(out, "%s %" PRIu64 "\n", name, value);
}

static bool write_timing(struct pm_buffer *out, const char *name, const char *help,
                         struct pm_timing_counts *counts)
{
    /* The sum and the total are read last, and the total is never below a bucket: it is counted
     * after it. */
    unsigned long long below = 0;
    bool done = head(out, name, "histogram", help);
    for (unsigned i = 0; done && i < PM_TIMING_BUCKETS; i++) {
        below += atomic_load(&counts->buckets[i]);
        done = pm_buffer_printf(out, "%s_bucket{le=\"%.3f\"} %llu\n", name,
                                0.001 * (double)(1u << i), below);
    }
    unsigned long long count = atomic_load(&counts->count);
    if (count < below)
        count = below;
    return done && pm_buffer_printf(
                       out, "%s_bucket{le=\"+Inf\"} %llu\n%s_sum %.9f\n%s_count %llu\n", name,
                       count, name, 1e-9 * (double)atomic_load(&counts->nanoseconds), name, count);
}

static bool write_uploads(struct pm_metrics *metrics, struct pm_buffer *out)
{
    bool done = head(out, "piecemeal_uploads_total", "counter",
                     "Uploads answered, by what became of them.");
    for (unsigned i = 0; done && i < PM_UPLOAD_RESULTS; i++)
        done = pm_buffer_printf(out, "piecemeal_uploads_total{result=\"%s\"} %llu\n",
                                pm_upload_result_names[i], atomic_load(&metrics->uploads[i]));
    return done &&
           write_number(out, "piecemeal_upload_body_bytes_total", "counter",
                        "Bytes of request bodies received.", atomic_load(&metrics->body_bytes)) &&
           write_number(out, "piecemeal_upload_shaders_total", "counter",
                        "Shaders in uploads that were stored.", atomic_load(&metrics->shaders)) &&
           write_number(out, "piecemeal_upload_points_total", "counter",
                        "Points in uploads that were stored.", atomic_load(&metrics->points)) &&
           write_timing(out, "piecemeal_commit_duration_seconds",
                        "Time a group commit took, fsync included.", &metrics->commits) &&
           write_number(out, "piecemeal_commit_failures_total", "counter",
                        "Group commits that failed; nothing of them was acknowledged.",
                        atomic_load(&metrics->commit_failures)) &&
           write_number(out, "piecemeal_commit_conflicts_total", "counter",
                        "Commits that waited in vain for what others hold, or took too long; their "
                        "uploads were tried one by one, or told to come again.",
                        atomic_load(&metrics->commit_conflicts)) &&
           write_number(out, "piecemeal_connections_refused_total", "counter",
                        "Connections beyond those that one address may have.",
                        atomic_load(&metrics->connections_refused)) &&
           write_number(out, "piecemeal_requests_cut_total", "counter",
                        "Requests cut off because their sender held most of a full memory.",
                        atomic_load(&metrics->requests_cut));
}

static bool write_gauges(const struct pm_metrics_gauges *gauges, struct pm_buffer *out)
{
    const struct {
        const char *name, *help;
        uint64_t value;
    } all[] = {
        {"piecemeal_queue_depth", "Uploads waiting for a commit.", gauges->queued},
        {"piecemeal_connections", "Open connections.", gauges->connections},
        {"piecemeal_upload_memory_bytes", "Memory that uploads being received or waiting hold.",
         gauges->held_bytes},
        {"piecemeal_samples_waiting_bytes", "Bytes of uploads that wait to be folded in.",
         gauges->samples_bytes},
        {"piecemeal_tokens_today", "About how many distinct tokens have uploaded today (UTC).",
         gauges->tokens_today},
        {"piecemeal_games_unvouched",
         "Known games that too few tokens vouch for; they make way for others.", gauges->unvouched},
        {"piecemeal_storage_bytes", "Bytes of the storage's files.", gauges->storage_bytes},
        {"piecemeal_games", "Games that were curated since the start.", gauges->games},
        {"piecemeal_shaders", "Shaders of these games, by key, environment and kind.",
         gauges->shaders},
        {"piecemeal_points", "Points of these shaders.", gauges->points},
        {"piecemeal_points_covered", "Points of these shaders that are covered.",
         gauges->points_covered},
    };
    bool done = head(out, "piecemeal_shaders_waiting", "gauge",
                     "Shaders of these games that are not published, by what they wait for.");
    for (unsigned i = PM_REASON_NONE + 1; done && i < PM_REASONS; i++)
        done = pm_buffer_printf(out, "piecemeal_shaders_waiting{for=\"%s\"} %" PRIu64 "\n",
                                pm_reason_name(i), gauges->waiting[i]);
    if (done)
        done =
            write_number(out, "piecemeal_certificate_expiry_seconds", "gauge",
                         "When the first certificate of the chain ends, since the epoch; 0: none.",
                         gauges->certificate_ends);
    if (done)
        done = write_number(out, "piecemeal_claim_disagreements_total", "counter",
                            "Shaders of which the tokens of a day claimed different things.",
                            gauges->disagreements);
    for (size_t i = 0; done && i < sizeof(all) / sizeof(all[0]); i++)
        done = write_number(out, all[i].name, "gauge", all[i].help, all[i].value);
    return done;
}

static bool write_process(const struct pm_metrics *metrics, struct pm_buffer *out)
{
    return write_number(out, "process_resident_memory_bytes", "gauge", "Resident memory in bytes.",
                        pm_metrics_resident_bytes()) &&
           head(out, "process_cpu_seconds_total", "counter",
                "User and system CPU time in seconds.") &&
           pm_buffer_printf(out, "process_cpu_seconds_total %.6f\n", pm_metrics_cpu_seconds()) &&
           write_number(out, "process_start_time_seconds", "gauge",
                        "When the service started, in seconds since the epoch.",
                        (uint64_t)metrics->started);
}

bool pm_metrics_write(struct pm_metrics *metrics, const struct pm_metrics_gauges *gauges,
                      struct pm_buffer *out)
{
    return head(out, "piecemeal_build_info", "gauge", "1; the label is the version.") &&
           pm_buffer_printf(out, "piecemeal_build_info{version=\"%s\"} 1\n", PM_VERSION) &&
           write_uploads(metrics, out) && write_gauges(gauges, out) &&
           write_timing(out, "piecemeal_curation_duration_seconds",
                        "Time it took to curate and publish one game.", &metrics->curations) &&
           write_number(out, "piecemeal_curation_failures_total", "counter",
                        "Curations that failed.", atomic_load(&metrics->curation_failures)) &&
           write_process(metrics, out);
}
