#include "layer/hooks/state.h"

#include "base/clock.h"
#include "layer/core/session.h"
#include "layer/core/trace.h"
#include "layer/frame/sampling.h"
#include "layer/shader/optimize.h"
#include "layer/shader/records_said.h"
#include "layer/trial/trial.h"
#include "profile/journal_asked.h"
#include "profile/session_status.h"
#include "profile/verdicts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_SHADERS = 256, KEPT = 64 /* submissions that make a game one that keeps recordings */ };

#define TO_TIME (1u << 31)

struct pm_state {
    struct pm_device *device;
    unsigned number;
    pthread_mutex_t lock; /* of the keys */
    struct pm_shader_key used[MOST_SHADERS];
    uint32_t used_by[MOST_SHADERS]; /* enum pm_made_by; TO_TIME alone: nothing proves it */
    uint32_t used_count, by_blocks, by_recipe, to_time;
    bool written, failed, paused;
    char *folder, *control; /* of the game's sessions; as the environment was when it began */
    struct pm_session_status last;
};

/* A name as it can be told: JSON is UTF-8, and a driver's name may be anything. */
static void plain(const char *text, char out[static PM_STATUS_TEXT])
{
    size_t size = 0;
    for (; *text != '\0' && size + 1 < PM_STATUS_TEXT; text++) {
        if (*text >= ' ' && *text <= '~')
            out[size++] = *text;
    }
    out[size] = '\0';
}

static const char *why_not(const struct pm_device *device)
{
    if (device->abilities.why_not != NULL)
        return device->abilities.why_not;
    return pm_session_samples(device->instance) ? "the loader is too old"
                                                : "the config samples nothing, and there is "
                                                  "nothing to use";
}

struct pm_state *pm_state_create(struct pm_device *device)
{
    const struct pm_instance *instance = device->instance;
    struct pm_state *state = instance->passive ? NULL : calloc(1, sizeof *state);
    if (state == NULL)
        return NULL;
    state->device = device;
    /* Nobody else of the process begins one in the same microsecond. */
    state->number = (unsigned)(pm_now() / 1000 & 0x7FFFFFFF);
    pthread_mutex_init(&state->lock, NULL);
    struct pm_session_status *status = &state->last;
    snprintf(status->game, sizeof status->game, "%s", instance->game);
    state->folder = pm_session_status_folder(status->game);
    state->control = pm_session_control_path(instance->game);
    plain(device->properties.deviceName, status->device);
    const char *run = pm_run_name();
    snprintf(status->run, sizeof status->run, "%s", run != NULL ? run : "");
    status->process = device->process;
    status->began = pm_wall_seconds();
    status->synchronous = instance->config.debug.synchronous;
    status->api_probability = instance->config.sampler.api_probability;
    status->window_probability = instance->config.sampler.window_probability;
    return state;
}

void pm_state_destroy(struct pm_state *state)
{
    if (state == NULL)
        return;
    pthread_mutex_destroy(&state->lock);
    free(state->folder);
    free(state->control);
    free(state);
}

/* ---- what is told ---- */

static void add_record(void *user, struct pm_shader_record *record)
{
    struct pm_session_status *status = user;
    struct pm_record_sum sum;
    pm_shader_record_sum(record, &sum);
    if (sum.calls == 0)
        return;
    status->shaders_sampled++;
    status->points += sum.points;
    status->points_sampled += sum.read;
    status->sampled += sum.calls;
}

static void look(struct pm_state *state, struct pm_session_status *status)
{
    struct pm_device *device = state->device;
    struct pm_sampling *sampling = device->sampling;
    struct pm_trials_sum sum;
    if (sampling == NULL)
        return;
    status->heartbeats = atomic_load(&sampling->heartbeats);
    status->windows = atomic_load(&sampling->windows);
    status->calls = atomic_load(&sampling->calls);
    status->bound_by_cpu = atomic_load(&sampling->watch.bound);
    status->keeps_recordings = atomic_load(&sampling->again) >= KEPT;
    status->shaders = atomic_load(&device->pipelines->shaders);
    status->shaders_sampled = status->points = status->points_sampled = 0;
    status->sampled = 0;
    pm_shader_records_each(device->pipelines->records, add_record, status);
    /* A recording is counted when it ends, and what ran in it each time that it is submitted. */
    if (status->calls < status->sampled)
        status->calls = status->sampled;
    if (status->shaders < status->shaders_sampled)
        status->shaders = status->shaders_sampled;
    pm_trials_sum(device->trials, &sum);
    status->trying = sum.going_on;
    status->comparing = sum.measured;
    status->dropped = sum.dropped;
    status->fastest = sum.fastest;
    status->slowest = sum.slowest;
    status->of_passes = sum.of_passes;
    status->frames_more = sum.frames_more;
    pthread_mutex_lock(&state->lock);
    status->specialized = state->used_count - state->to_time;
    status->to_time = state->to_time;
    status->by_blocks = state->by_blocks;
    status->by_recipe = state->by_recipe;
    pthread_mutex_unlock(&state->lock);
}

static void write_status(struct pm_state *state, const struct pm_session_status *status)
{
    struct pm_error error = {0};
    struct pm_session_status now = *status;
    if (state->failed || (state->written && memcmp(status, &state->last, sizeof *status) == 0))
        return;
    state->last = *status;
    now.written = time(NULL);
    if (!pm_session_status_write(state->folder, &now, state->number, !state->written, &error)) {
        state->failed = true;
        pm_log_info(state->device->instance->log, "nothing is told of the session: %s",
                    error.message);
    }
    state->written = true;
}

void pm_state_nothing(struct pm_state *state)
{
    if (state == NULL)
        return;
    struct pm_session_status status = state->last;
    plain(why_not(state->device), status.why_not);
    status.ended = false; /* what had begun has, not the device */
    write_status(state, &status);
}

/* Trials only while what is proven is bound: a session's side is bound as that is. */
static void pause_all(struct pm_device *device, bool paused)
{
    if (paused)
        pm_trials_pause(device->trials, true);
    pm_optimize_pause(device, paused);
    if (!paused)
        pm_trials_pause(device->trials, false);
}

void pm_state_tell(struct pm_state *state)
{
    if (state == NULL)
        return;
    struct pm_device *device = state->device;
    struct pm_session_status status = state->last;
    /* What compares has its own turns. */
    const bool paused = device->ab == NULL && device->optimizer != NULL &&
                        pm_session_is_paused_by(state->control);
    if (paused != state->paused) {
        pause_all(device, paused);
        pm_trace_instant(device->trace, "specialized", paused ? "paused" : "resumed", NULL, NULL);
        pm_log_info(device->instance->log, paused ? "the game's own shaders are used, as was asked"
                                                  : "specialized shaders are used again");
    }
    state->paused = status.paused = paused;
    look(state, &status);
    write_status(state, &status);
}

void pm_state_end(struct pm_state *state)
{
    if (state == NULL)
        return;
    struct pm_session_status status = state->last;
    look(state, &status);
    if (state->device->sampling != NULL)
        pm_records_say_gone(state->device->pipelines->records,
                            atomic_load(&state->device->pipelines->unknown),
                            state->device->instance->log);
    status.ended = true;
    write_status(state, &status);
}

void pm_state_shader(struct pm_state *state, const struct pm_shader_key *key, uint32_t by,
                     bool to_time)
{
    if (state == NULL)
        return;
    if (to_time)
        by = TO_TIME;
    pthread_mutex_lock(&state->lock);
    uint32_t i = 0;
    while (i < state->used_count && !pm_shader_key_equal(&state->used[i], key))
        i++;
    if (i < MOST_SHADERS) {
        const uint32_t more = by & ~state->used_by[i];
        state->to_time += (more & TO_TIME) != 0 && state->used_by[i] == 0;
        state->to_time -= !to_time && state->used_by[i] == TO_TIME;
        state->used[i] = *key;
        state->used_by[i] |= by;
        state->used_count += i == state->used_count;
        state->by_blocks += (more & PM_MADE_BY_BLOCKS) != 0;
        state->by_recipe += (more & PM_MADE_BY_RECIPE) != 0;
    }
    pthread_mutex_unlock(&state->lock);
}
