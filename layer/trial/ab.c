#include "layer/trial/ab.h"

#include "base/clock.h"
#include "base/random.h"
#include "layer/core/build_name.h"
#include "layer/core/session.h"
#include "layer/frame/sampling.h"
#include "layer/trial/trial.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_SHADERS = 1024, LONGEST_LINE = 512 };

struct pm_ab {
    struct pm_device *device;
    uint32_t number; /* of the process's devices */
    void (*pause)(struct pm_device *device, bool paused);
    int file;
    pthread_mutex_t lock; /* all below but the counts */
    struct pm_random random;
    uint32_t length, dropped; /* heartbeats of a block, and of those at its start */
    bool measuring;           /* a pair is under way: that of the number `pairs` */
    bool optimized, second;   /* the block's side, and whether it is the pair's second one */
    uint32_t at;              /* heartbeats of the block so far */
    int64_t counted_from;     /* CLOCK_MONOTONIC, nanoseconds */
    uint64_t pairs, heartbeats;
    struct pm_shader_key variants[MOST_SHADERS]; /* in use */
    uint32_t variant_count;
    _Atomic uint32_t recordings, binds; /* of the block */
    _Atomic uint64_t all_recordings;
};

/* A line in one write, so that processes that share the file do not cut each other's. A line that
 * cannot be written is missed by the reader. */
__attribute__((format(printf, 2, 3))) static void say(const struct pm_ab *ab, const char *format,
                                                      ...)
{
    char line[LONGEST_LINE];
    int size = snprintf(line, sizeof line, "{\"process\":%d,\"number\":%" PRIu32 ",", (int)getpid(),
                        ab->number);
    va_list arguments;
    va_start(arguments, format);
    size += vsnprintf(line + size, sizeof line - (size_t)size, format, arguments);
    va_end(arguments);
    if (size + 2 >= (int)sizeof line)
        return;
    memcpy(line + size, "}\n", 2);
    ssize_t written;
    do
        written = write(ab->file, line, (size_t)size + 2);
    while (written < 0 && errno == EINTR);
}

/* The device's name without what JSON would have to escape. */
static void plain_name(const struct pm_device *device, char out[static 64])
{
    size_t size = 0;
    for (const char *at = device->properties.deviceName; *at != '\0' && size + 1 < 64; at++) {
        if (*at >= ' ' && *at <= '~' && *at != '"' && *at != '\\')
            out[size++] = *at;
    }
    out[size] = '\0';
}

struct pm_ab *pm_ab_create(struct pm_device *device,
                           void (*pause)(struct pm_device *device, bool paused))
{
    static _Atomic uint32_t devices;
    const struct pm_config *config = &device->instance->config;
    if (config->ab.file == NULL)
        return NULL;
    struct pm_ab *ab = calloc(1, sizeof *ab);
    int file =
        ab != NULL ? open(config->ab.file, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file < 0) {
        pm_log_warning(device->instance->log, "ab.file: %s: %s", config->ab.file, strerror(errno));
        free(ab);
        return NULL;
    }
    ab->device = device;
    ab->number = atomic_fetch_add(&devices, 1);
    ab->pause = pause;
    ab->file = file;
    ab->length = config->ab.frames;
    ab->dropped = config->ab.frames / 4;
    pthread_mutex_init(&ab->lock, NULL);
    pm_random_init(&ab->random, pm_sampling_seed(device->sampling));
    char name[64], build[PM_BUILD_NAME_BYTES];
    plain_name(device, name);
    (void)pm_build_name(build);
    const struct pm_environment driver = pm_session_environment(
        device, &(struct pm_environment){.driver_version = device->properties.driverVersion});
    say(ab,
        "\"device\":\"%s\",\"software\":\"%s %" PRIu32 "\",\"block\":%" PRIu32
        ",\"dropped\":%" PRIu32,
        name, build, driver.driver_version, ab->length, ab->dropped);
    return ab;
}

void pm_ab_destroy(struct pm_ab *ab)
{
    if (ab == NULL)
        return;
    say(ab, "\"heartbeats\":%" PRIu64 ",\"recordings\":%" PRIu64, ab->heartbeats,
        atomic_load(&ab->all_recordings));
    close(ab->file);
    pthread_mutex_destroy(&ab->lock);
    free(ab);
}

/* Under the lock. */
static void start_block(struct pm_ab *ab, bool optimized)
{
    ab->optimized = optimized;
    ab->at = 0;
    ab->pause(ab->device, !optimized);
}

/* Under the lock. */
static void start_pair(struct pm_ab *ab)
{
    ab->measuring = true;
    ab->second = false;
    start_block(ab, (pm_random_next(&ab->random) & 1) != 0);
}

/* Under the lock. */
static void end_block(struct pm_ab *ab, int64_t time)
{
    say(ab,
        "\"pair\":%" PRIu64 ",\"optimized\":%s,\"frames\":%" PRIu32 ",\"nanoseconds\":%" PRId64
        ",\"recordings\":%" PRIu32 ",\"binds\":%" PRIu32 ",\"shaders\":%" PRIu32,
        ab->pairs, ab->optimized ? "true" : "false", ab->length - ab->dropped,
        time - ab->counted_from, atomic_load(&ab->recordings), atomic_load(&ab->binds),
        ab->variant_count);
    if (ab->second) {
        ab->pairs++;
        start_pair(ab);
    } else {
        ab->second = true;
        start_block(ab, !ab->optimized);
    }
}

void pm_ab_heartbeat(struct pm_ab *ab, uint64_t heartbeat)
{
    if (ab == NULL)
        return;
    const int64_t time = pm_now();
    pthread_mutex_lock(&ab->lock);
    ab->heartbeats++;
    if (pm_trials_are_busy(ab->device->trials, heartbeat)) {
        if (ab->measuring) {
            ab->pause(ab->device, false);
            ab->pairs++;
        }
        ab->measuring = false;
    } else if (!ab->measuring) {
        start_pair(ab);
    } else if (++ab->at == ab->dropped) {
        ab->counted_from = time;
        atomic_store(&ab->recordings, 0);
        atomic_store(&ab->binds, 0);
    } else if (ab->at == ab->length) {
        end_block(ab, time);
    }
    pthread_mutex_unlock(&ab->lock);
}

void pm_ab_recording(struct pm_ab *ab)
{
    if (ab == NULL)
        return;
    atomic_fetch_add_explicit(&ab->recordings, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&ab->all_recordings, 1, memory_order_relaxed);
}

void pm_ab_bound(struct pm_ab *ab)
{
    if (ab != NULL)
        atomic_fetch_add_explicit(&ab->binds, 1, memory_order_relaxed);
}

void pm_ab_shader(struct pm_ab *ab, const struct pm_shader_key *key,
                  const struct pm_shader_key *variant)
{
    if (ab == NULL)
        return;
    char original[PM_SHADER_KEY_TEXT], text[PM_SHADER_KEY_TEXT];
    pm_shader_key_format(key, original);
    pm_shader_key_format(variant, text);
    pthread_mutex_lock(&ab->lock);
    bool known = ab->variant_count == MOST_SHADERS;
    for (uint32_t i = 0; i < ab->variant_count && !known; i++)
        known = pm_shader_key_equal(&ab->variants[i], variant);
    if (!known) {
        ab->variants[ab->variant_count++] = *variant;
        say(ab, "\"shader\":\"%s\",\"variant\":\"%s\"", original, text);
    }
    pthread_mutex_unlock(&ab->lock);
}
