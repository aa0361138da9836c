#include "tools/trace/perfetto_file.h"

#include "perfetto.pb-c.h"
#include <stdlib.h>

/* All packets are of one sequence, whose state begins with the file. */
enum { SEQUENCE = 1, STATE_CLEARED = 1 };

/* A trace of one packet: traces that stand one behind the other are one trace. */
static void put(FILE *out, Perfetto__Protos__TracePacket *packet)
{
    Perfetto__Protos__Trace trace = PERFETTO__PROTOS__TRACE__INIT;
    trace.n_packet = 1;
    trace.packet = &packet;
    packet->has_trusted_packet_sequence_id = 1;
    packet->trusted_packet_sequence_id = SEQUENCE;
    unsigned char *bytes = malloc(perfetto__protos__trace__get_packed_size(&trace));
    if (bytes != NULL)
        fwrite(bytes, 1, perfetto__protos__trace__pack(&trace, bytes), out);
    free(bytes);
}

static void put_at(FILE *out, Perfetto__Protos__TracePacket *packet, uint64_t at)
{
    packet->has_timestamp = packet->has_timestamp_clock_id = 1;
    packet->timestamp = at;
    packet->timestamp_clock_id = PM_CLOCK_MONOTONIC;
    put(out, packet);
}

/* protobuf-c's messages hold texts that may be changed. */
static char *text_of(const char *text)
{
    return (char *)(uintptr_t)text;
}

void pm_perfetto_clocks(FILE *out, const struct pm_perfetto_clock clocks[static PM_CLOCKS])
{
    Perfetto__Protos__ClockSnapshot__Clock all[PM_CLOCKS], *list[PM_CLOCKS];
    Perfetto__Protos__ClockSnapshot snapshot = PERFETTO__PROTOS__CLOCK_SNAPSHOT__INIT;
    Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
    for (int i = 0; i < PM_CLOCKS; i++) {
        perfetto__protos__clock_snapshot__clock__init(&all[i]);
        all[i].has_clock_id = all[i].has_timestamp = 1;
        all[i].clock_id = clocks[i].id;
        all[i].timestamp = clocks[i].at;
        list[i] = &all[i];
    }
    snapshot.n_clocks = PM_CLOCKS;
    snapshot.clocks = list;
    packet.clock_snapshot = &snapshot;
    packet.has_sequence_flags = ftell(out) == 0;
    packet.sequence_flags = STATE_CLEARED;
    put(out, &packet);
}

void pm_perfetto_track(FILE *out, const struct pm_perfetto_track *track)
{
    Perfetto__Protos__ProcessDescriptor process = PERFETTO__PROTOS__PROCESS_DESCRIPTOR__INIT;
    Perfetto__Protos__ThreadDescriptor thread = PERFETTO__PROTOS__THREAD_DESCRIPTOR__INIT;
    Perfetto__Protos__CounterDescriptor counter = PERFETTO__PROTOS__COUNTER_DESCRIPTOR__INIT;
    Perfetto__Protos__TrackDescriptor descriptor = PERFETTO__PROTOS__TRACK_DESCRIPTOR__INIT;
    Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
    descriptor.has_uuid = 1;
    descriptor.uuid = track->uuid;
    descriptor.has_parent_uuid = track->parent != 0;
    descriptor.parent_uuid = track->parent;
    switch (track->kind) {
    case PM_TRACK_PROCESS:
        process.has_pid = 1;
        process.pid = track->pid;
        process.process_name = text_of(track->name);
        descriptor.process = &process;
        break;
    case PM_TRACK_THREAD:
        thread.has_pid = thread.has_tid = 1;
        thread.pid = track->pid;
        thread.tid = track->tid;
        descriptor.thread = &thread;
        break;
    case PM_TRACK_COUNTER:
        counter.has_unit = 1;
        counter.unit = PERFETTO__PROTOS__COUNTER_DESCRIPTOR__UNIT__UNIT_COUNT;
        descriptor.counter = &counter;
        descriptor.name = text_of(track->name);
        break;
    case PM_TRACK_NAMED:
        descriptor.name = text_of(track->name);
        break;
    }
    packet.track_descriptor = &descriptor;
    put(out, &packet);
}

static size_t annotate(Perfetto__Protos__DebugAnnotation *annotation, const char *name,
                       const char *value)
{
    if (value == NULL || value[0] == '\0')
        return 0;
    perfetto__protos__debug_annotation__init(annotation);
    annotation->name = text_of(name);
    annotation->string_value = text_of(value);
    return 1;
}

void pm_perfetto_slice(FILE *out, enum pm_slice slice, const struct pm_perfetto_event *event)
{
    static const Perfetto__Protos__TrackEvent__Type types[] = {
        [PM_SLICE_BEGIN] = PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_BEGIN,
        [PM_SLICE_END] = PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_SLICE_END,
        [PM_SLICE_INSTANT] = PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_INSTANT};
    Perfetto__Protos__DebugAnnotation shader, detail, *annotations[2];
    Perfetto__Protos__TrackEvent of = PERFETTO__PROTOS__TRACK_EVENT__INIT;
    Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
    char *category = text_of(event->category);
    if (annotate(&shader, "shader", event->shader))
        annotations[of.n_debug_annotations++] = &shader;
    if (annotate(&detail, "detail", event->detail))
        annotations[of.n_debug_annotations++] = &detail;
    of.debug_annotations = annotations;
    of.has_type = of.has_track_uuid = 1;
    of.type = types[slice];
    of.track_uuid = event->track;
    of.n_categories = category != NULL && category[0] != '\0';
    of.categories = &category;
    of.name = event->name != NULL && event->name[0] != '\0' ? text_of(event->name) : NULL;
    packet.track_event = &of;
    put_at(out, &packet, event->at);
}

void pm_perfetto_count(FILE *out, uint64_t track, uint64_t at, uint64_t count)
{
    Perfetto__Protos__TrackEvent of = PERFETTO__PROTOS__TRACK_EVENT__INIT;
    Perfetto__Protos__TracePacket packet = PERFETTO__PROTOS__TRACE_PACKET__INIT;
    of.has_type = of.has_track_uuid = of.has_counter_value = 1;
    of.type = PERFETTO__PROTOS__TRACK_EVENT__TYPE__TYPE_COUNTER;
    of.track_uuid = track;
    of.counter_value = (int64_t)count;
    packet.track_event = &of;
    put_at(out, &packet, at);
}
