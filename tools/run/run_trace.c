#include "tools/run/run_trace.h"

#include "profile/trace_events.h"
#include "tools/common/tool.h"
#include "tools/run/run_options.h"
#include "tools/trace/trace.h"
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static void tell(struct pm_run_trace *trace, const struct pm_trace_event *event)
{
    size_t bytes;
    if (trace->file >= 0)
        (void)pm_trace_events_write(trace->file, event, &bytes);
}

static uint64_t clock_at(clockid_t clock)
{
    struct timespec time = {0};
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* What other traces go by, which run away from each other. */
static void tell_clocks(struct pm_run_trace *trace)
{
    struct pm_trace_event event = {.type = PM_TRACE_CLOCKS};
    event.counts[PM_TRACE_BOOTTIME] = clock_at(CLOCK_BOOTTIME);
    event.counts[PM_TRACE_REALTIME] = clock_at(CLOCK_REALTIME);
    tell(trace, &event);
}

void pm_run_trace_begin(struct pm_run_trace *trace, const char *path)
{
    struct pm_error error = {0};
    *trace = (struct pm_run_trace){.path = path, .file = -1};
    if (path == NULL)
        return;
    if (!pm_tool_temporary(trace->events, sizeof trace->events, "piecemeal-trace", &error) ||
        !pm_run_set("trace.file", trace->events, "--trace", &error) ||
        (trace->file = pm_trace_events_open(trace->events, &error)) < 0)
        pm_run_warn(&error);
    tell_clocks(trace);
    tell(trace, &(struct pm_trace_event){.type = PM_TRACE_NAME, .name = "piecemeal run"});
}

void pm_run_trace_step(struct pm_run_trace *trace, const char *what)
{
    struct pm_trace_event event = {.type = PM_TRACE_BEGIN};
    snprintf(event.name, sizeof event.name, "%s", what);
    tell(trace, &event);
}

void pm_run_trace_step_ends(struct pm_run_trace *trace)
{
    tell(trace, &(struct pm_trace_event){.type = PM_TRACE_END});
}

void pm_run_trace_end(struct pm_run_trace *trace)
{
    struct pm_error error = {0};
    struct pm_trace_made made;
    if (trace->file < 0)
        return;
    tell_clocks(trace);
    close(trace->file);
    if (!pm_trace_make(trace->events, trace->path, &made, &error)) {
        pm_run_warn(&error);
        fprintf(stderr, "piecemeal run: what was traced is still in %s\n", trace->events);
        return;
    }
    fprintf(stderr, "piecemeal run: %s: a trace of %zu events, for ui.perfetto.dev%s\n",
            trace->path, made.events, made.damaged > 0 ? "; some were damaged" : "");
    unlink(trace->events);
}
