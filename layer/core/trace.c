#include "layer/core/trace.h"

#include "base/clock.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of a device: hours of frames. */
#define MOST_BYTES (UINT64_C(256) << 20)

static void write_event(struct pm_trace *trace, struct pm_trace_event *event)
{
    size_t bytes = 0;
    if (atomic_load_explicit(&trace->ended, memory_order_relaxed) || getpid() != trace->process)
        return;
    event->device = trace->number;
    const bool written = pm_trace_events_write(trace->file, event, &bytes);
    if ((!written || atomic_fetch_add(&trace->bytes, bytes) > MOST_BYTES) &&
        !atomic_exchange(&trace->ended, true))
        pm_log_warning(trace->instance->log, "the trace ends here: %s",
                       written ? "it is too large" : "trace.file cannot be written");
}

static void set_text(char to[static PM_TRACE_TEXT], const char *text)
{
    snprintf(to, PM_TRACE_TEXT, "%s", text != NULL ? text : "");
}

static void tell(struct pm_trace *trace, enum pm_trace_type type, const char *track,
                 const char *name, const struct pm_shader_key *shader, const char *detail)
{
    struct pm_trace_event event = {.type = type};
    if (trace == NULL)
        return;
    set_text(event.track, track);
    set_text(event.name, name);
    set_text(event.detail, detail);
    _Static_assert(PM_SHADER_KEY_TEXT <= PM_TRACE_TEXT, "a key fits");
    if (shader != NULL)
        pm_shader_key_format(shader, event.shader);
    write_event(trace, &event);
}

struct pm_trace *pm_trace_create(struct pm_device *device)
{
    const char *path = device->instance->config.trace.file;
    struct pm_error error = {0};
    if (path == NULL)
        return NULL;
    struct pm_trace *trace = calloc(1, sizeof *trace);
    const int file = trace != NULL ? pm_trace_events_open(path, &error) : -1;
    if (file < 0) {
        pm_log_warning(device->instance->log, "trace.file: %s", error.message);
        free(trace);
        return NULL;
    }
    trace->instance = device->instance;
    trace->file = file;
    trace->process = getpid();
    tell(trace, PM_TRACE_NAME, NULL, device->instance->game, NULL, NULL);
    /* Nobody else of the process begins one in the same microsecond. */
    trace->number = ((uint32_t)(pm_now() / 1000) & 0x7FFFFFFF) | 1u << 31;
    tell(trace, PM_TRACE_NAME, NULL, device->properties.deviceName, NULL, NULL);
    return trace;
}

void pm_trace_destroy(struct pm_trace *trace)
{
    if (trace == NULL)
        return;
    close(trace->file);
    free(trace);
}

void pm_trace_begin(struct pm_trace *trace, const char *track, const char *name,
                    const struct pm_shader_key *shader)
{
    tell(trace, PM_TRACE_BEGIN, track, name, shader, NULL);
}

void pm_trace_end(struct pm_trace *trace, const char *track, const char *detail)
{
    tell(trace, PM_TRACE_END, track, NULL, NULL, detail);
}

void pm_trace_instant(struct pm_trace *trace, const char *track, const char *name,
                      const struct pm_shader_key *shader, const char *detail)
{
    tell(trace, PM_TRACE_INSTANT, track, name, shader, detail);
}

void pm_trace_frame(struct pm_trace *trace, uint64_t heartbeat, uint64_t calls, uint32_t waiting)
{
    struct pm_trace_event event = {.type = PM_TRACE_FRAME};
    if (trace == NULL)
        return;
    snprintf(event.name, sizeof event.name, "%" PRIu64, heartbeat);
    for (int i = 0; i < PM_TRACE_COUNTS; i++)
        event.counts[i] = atomic_exchange(&trace->counts[i], 0);
    event.counts[PM_TRACE_CALLS] = calls - trace->calls;
    event.counts[PM_TRACE_WAITING] = waiting;
    trace->calls = calls;
    write_event(trace, &event);
}
