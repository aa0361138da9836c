#include "tools/trace/trace.h"

#include "base/buffer.h"
#include "base/file.h"
#include "profile/trace_events.h"
#include "tools/common/out_file.h"
#include "tools/trace/perfetto_file.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* Several devices' worth (layer/core/trace.c). */
#define MOST_BYTES ((size_t)1 << 31)

static const char *const counters[PM_TRACE_COUNTS] = {[PM_TRACE_SAMPLED] = "sampled calls",
                                                      [PM_TRACE_CALLS] =
                                                          "calls of sampled recordings",
                                                      [PM_TRACE_SPECIALIZED] = "specialized binds",
                                                      [PM_TRACE_WAITING] = "compiles that wait"};

/* What tells a track from others. Zeroed before it is filled in, since all of it is hashed. */
struct track_key {
    int64_t process, thread; /* thread 0: of none */
    uint32_t device;
    bool counter;
    char name[PM_TRACE_TEXT];
};

struct track {
    struct track_key key;
    struct pm_perfetto_track written;
    uint32_t open; /* slices */
    UT_hash_handle hh;
};

struct line {
    int64_t at;
    size_t offset; /* also the order of lines of one time */
};

struct maker {
    char *text;
    struct line *lines;
    size_t count;
    struct track *tracks;
    struct pm_trace_made *made;
};

/* ---- tracks ---- */

static struct track *find(struct maker *maker, const struct track_key *key)
{
    struct track *track;
    HASH_FIND(hh, maker->tracks, key, sizeof *key, track);
    return track;
}

/* NULL: out of memory. */
static struct track *add(struct maker *maker, FILE *out, const struct track_key *key,
                         enum pm_track_kind kind, uint64_t parent, const char *name)
{
    struct track *track = calloc(1, sizeof *track);
    if (track == NULL)
        return NULL;
    track->key = *key;
    track->written = (struct pm_perfetto_track){
        .kind = kind,
        .uuid = HASH_COUNT(maker->tracks) + UINT64_C(1),
        .parent = parent,
        .name = name,
        .pid = (int32_t)key->process,
        .tid = (int32_t)key->thread,
    };
    HASH_ADD(hh, maker->tracks, key, sizeof track->key, track);
    pm_perfetto_track(out, &track->written);
    return track;
}

/* Of a device, or of its process. name: of who has none yet. NULL: out of memory. */
static struct track *owner(struct maker *maker, FILE *out, const struct pm_trace_event *event,
                           uint32_t device, const char *name)
{
    struct track_key key;
    memset(&key, 0, sizeof key);
    key.process = event->process;
    struct track *track = find(maker, &key);
    if (track == NULL)
        track = add(maker, out, &key, PM_TRACK_PROCESS, 0, device == 0 ? name : NULL);
    if (track == NULL || device == 0)
        return track;
    const uint64_t process = track->written.uuid;
    key.device = device;
    track = find(maker, &key);
    return track ? track : add(maker, out, &key, PM_TRACK_NAMED, process, name);
}

/* That an event is of; name NULL: the event's own. */
static struct track *track_of(struct maker *maker, FILE *out, const struct pm_trace_event *event,
                              const char *name, bool counter)
{
    struct track_key key;
    memset(&key, 0, sizeof key);
    name = name ? name : event->track;
    const bool of_thread = name[0] == '\0';
    key.process = event->process;
    key.thread = of_thread ? event->thread : 0;
    key.device = of_thread ? 0 : event->device;
    key.counter = counter;
    snprintf(key.name, sizeof key.name, "%s", name);
    struct track *track = find(maker, &key);
    if (track != NULL)
        return track;
    const struct track *above = owner(maker, out, event, key.device, "device");
    if (above == NULL)
        return NULL;
    const enum pm_track_kind kind = of_thread ? PM_TRACK_THREAD
                                    : counter ? PM_TRACK_COUNTER
                                              : PM_TRACK_NAMED;
    return add(maker, out, &key, kind, of_thread ? 0 : above->written.uuid, name);
}

/* ---- events ---- */

static void begin(FILE *out, struct track *track, const struct pm_trace_event *event,
                  const char *name)
{
    const struct pm_perfetto_event slice = {.track = track->written.uuid,
                                            .at = (uint64_t)event->at,
                                            .category = "piecemeal",
                                            .name = name,
                                            .shader = event->shader,
                                            .detail = event->detail};
    pm_perfetto_slice(out, PM_SLICE_BEGIN, &slice);
    track->open++;
}

/* What ends without having begun began before the trace did. */
static void end(FILE *out, struct track *track, int64_t at, const char *detail)
{
    const struct pm_perfetto_event slice = {
        .track = track->written.uuid, .at = (uint64_t)at, .detail = detail};
    if (track->open == 0)
        return;
    pm_perfetto_slice(out, PM_SLICE_END, &slice);
    track->open--;
}

/* The frame that ends is a slice from the end of the one before on. */
static bool write_frame(struct maker *maker, FILE *out, const struct pm_trace_event *event,
                        bool first)
{
    char name[PM_TRACE_TEXT];
    struct track *frames = track_of(maker, out, event, "frames", false);
    if (frames == NULL)
        return false;
    end(out, frames, event->at, NULL);
    snprintf(name, sizeof name, "frame %" PRIu64,
             first ? 1 : (uint64_t)strtoull(event->name, NULL, 10) + 1);
    begin(out, frames, event, name);
    for (int i = 0; !first && i < PM_TRACE_COUNTS; i++) {
        const struct track *counter = track_of(maker, out, event, counters[i], true);
        if (counter == NULL)
            return false;
        pm_perfetto_count(out, counter->written.uuid, (uint64_t)event->at, event->counts[i]);
    }
    return true;
}

static void write_clocks(FILE *out, const struct pm_trace_event *event)
{
    const struct pm_perfetto_clock clocks[PM_CLOCKS] = {
        {PM_CLOCK_MONOTONIC, (uint64_t)event->at},
        {PM_CLOCK_BOOTTIME, event->counts[PM_TRACE_BOOTTIME]},
        {PM_CLOCK_REALTIME, event->counts[PM_TRACE_REALTIME]}};
    pm_perfetto_clocks(out, clocks);
}

/* false: out of memory. */
static bool write_event(struct maker *maker, FILE *out, const struct pm_trace_event *event)
{
    struct track *track;
    struct pm_perfetto_event instant = {.at = (uint64_t)event->at,
                                        .category = "piecemeal",
                                        .name = event->name,
                                        .shader = event->shader,
                                        .detail = event->detail};
    switch (event->type) {
    case PM_TRACE_NAME:
        return owner(maker, out, event, event->device, event->name) != NULL &&
               (event->device == 0 || write_frame(maker, out, event, true));
    case PM_TRACE_CLOCKS:
        write_clocks(out, event);
        return true;
    case PM_TRACE_FRAME:
        return write_frame(maker, out, event, false);
    default:
        break;
    }
    if ((track = track_of(maker, out, event, NULL, false)) == NULL)
        return false;
    instant.track = track->written.uuid;
    if (event->type == PM_TRACE_BEGIN)
        begin(out, track, event, event->name);
    else if (event->type == PM_TRACE_END)
        end(out, track, event->at, event->detail);
    else
        pm_perfetto_slice(out, PM_SLICE_INSTANT, &instant);
    return true;
}

/* What of it had begun ends where all ends. */
static void end_all(struct maker *maker, FILE *out)
{
    const int64_t last = maker->count > 0 ? maker->lines[maker->count - 1].at : 0;
    for (struct track *track = maker->tracks; track != NULL; track = track->hh.next)
        while (track->open > 0)
            end(out, track, last, NULL);
}

static bool write_all(void *user, FILE *out, struct pm_error *error)
{
    struct maker *maker = user;
    for (size_t i = 0; i < maker->count; i++) {
        struct pm_trace_event event;
        if (pm_trace_events_parse(maker->text + maker->lines[i].offset, &event, NULL) &&
            !write_event(maker, out, &event))
            return pm_fail(error, PM_ERROR_MEMORY, "no memory for a trace");
    }
    end_all(maker, out);
    return true;
}

/* ---- lines ---- */

static int by_time(const void *a, const void *b)
{
    const struct line *first = a, *second = b;
    return first->at != second->at
               ? (first->at < second->at ? -1 : 1)
               : (first->offset > second->offset) - (first->offset < second->offset);
}

static size_t count_lines(const char *text)
{
    size_t lines = 0;
    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

/* Whole lines in order of time; what is no event is left out. */
static bool read_lines(struct maker *maker, struct pm_error *error)
{
    maker->lines = calloc(count_lines(maker->text) + 1, sizeof *maker->lines);
    if (maker->lines == NULL)
        return pm_fail(error, PM_ERROR_MEMORY, "no memory for a trace");
    for (char *at = maker->text, *next; (next = strchr(at, '\n')) != NULL; at = next + 1) {
        char line[1024];
        struct pm_trace_event event;
        snprintf(line, sizeof line, "%.*s", (int)(next - at), at);
        if (!pm_trace_events_parse(line, &event, NULL)) {
            maker->made->damaged++;
            continue;
        }
        maker->lines[maker->count++] =
            (struct line){.at = event.at, .offset = (size_t)(at - maker->text)};
    }
    qsort(maker->lines, maker->count, sizeof *maker->lines, by_time);
    maker->made->events = maker->count;
    return true;
}

bool pm_trace_make(const char *events, const char *path, struct pm_trace_made *made,
                   struct pm_error *error)
{
    struct pm_buffer text;
    struct maker maker = {.made = made};
    char nothing = '\0';
    *made = (struct pm_trace_made){0};
    pm_buffer_init(&text, MOST_BYTES);
    bool ok = pm_file_read(events, &text, error);
    maker.text = text.data ? (char *)text.data : &nothing;
    ok = ok && read_lines(&maker, error) && pm_out_file(path, write_all, &maker, error);
    for (struct track *track = maker.tracks, *next; track != NULL; track = next) {
        next = track->hh.next;
        HASH_DEL(maker.tracks, track);
        free(track);
    }
    free(maker.lines);
    pm_buffer_finish(&text);
    return ok;
}
