#!/usr/bin/env python3
"""Checks a trace that `protoc --decode=perfetto.protos.Trace` has decoded, read from standard input: order, nesting and
clocks, by what Perfetto's schema says of them. Prints one line for each slice, instant and counter that was found:
TRACK|KIND|NAME|SHADER|DETAIL|VALUE|ABOVE, for the caller to look for what its session must have in it. TRACK has the
names of the tracks above it before it, with slashes; ABOVE is the slice that a slice is inside of.
usage: trace_check.py BEGAN ENDED (nanoseconds since 1970 between which the session was)"""
import re
import sys

REALTIME, MONOTONIC, BOOTTIME = 1, 3, 6


def parse(lines):
    """A message of protobuf's text format as a dictionary of lists."""
    message = {}
    for line in lines:
        line = line.strip()
        if line == "}":
            return message
        if line.endswith("{"):
            message.setdefault(line[:-1].strip(), []).append(parse(lines))
        elif line:
            name, value = line.split(": ", 1)
            message.setdefault(name, []).append(value[1:-1] if value[0] == '"' else
                                                int(value) if re.fullmatch("-?[0-9]+", value) else value)
    return message


def check(condition, what):
    if not condition:
        sys.exit(f"trace_check: {what}")


def one(message, name, default=None):
    values = message.get(name, [default])
    check(len(values) == 1, f"{name} is there {len(values)} times")
    return values[0]


def clocks(packet):
    return {one(clock, "clock_id"): one(clock, "timestamp") for clock in one(packet, "clock_snapshot")["clocks"]}


def check_clocks(packets, began, ended):
    check("clock_snapshot" in packets[0] and one(packets[0], "sequence_flags") == 1, "the first packet has no clocks")
    snapshots = [clocks(packet) for packet in packets if "clock_snapshot" in packet]
    check(len(snapshots) >= 2, "there are not two snapshots of the clocks")
    for snapshot in snapshots:
        check(set(snapshot) == {REALTIME, MONOTONIC, BOOTTIME}, f"a snapshot has the clocks {set(snapshot)}")
        check(began <= snapshot[REALTIME] <= ended, "a snapshot's time is not the session's")
    first, last = snapshots[0], snapshots[-1]
    for clock in (REALTIME, BOOTTIME):
        drift = (last[clock] - first[clock]) - (last[MONOTONIC] - first[MONOTONIC])
        check(abs(drift) < 10 ** 9, f"clock {clock} ran away by {drift} ns")
    return first[MONOTONIC], last[MONOTONIC]


class Tracks:
    def __init__(self):
        self.names, self.counters, self.open = {}, set(), {}

    def add(self, descriptor):
        uuid, parent = one(descriptor, "uuid"), one(descriptor, "parent_uuid")
        check(uuid not in self.names, f"track {uuid} is described twice")
        check(parent is None or parent in self.names, f"track {uuid} is described before its parent")
        if "process" in descriptor:
            name = one(one(descriptor, "process"), "process_name")
        elif "thread" in descriptor:
            name = "thread"
        else:
            name = one(descriptor, "name")
        self.names[uuid] = f"{self.names[parent]}/{name}" if parent else name
        self.open[uuid] = []
        if "counter" in descriptor:
            self.counters.add(uuid)

    def take(self, event):
        """What the event is, for the caller."""
        uuid, kind = one(event, "track_uuid"), one(event, "type")
        check(uuid in self.names, f"an event is of track {uuid}, which was not described before")
        annotations = {one(a, "name"): one(a, "string_value") for a in event.get("debug_annotations", [])}
        slices, name, value = self.open[uuid], one(event, "name", ""), ""
        check((uuid in self.counters) == (kind == "TYPE_COUNTER"), f"{kind} on {self.names[uuid]}")
        above = slices[-1] if slices else ""
        if kind == "TYPE_SLICE_BEGIN":
            check(name, "a slice without a name")
            slices.append(name)
        elif kind == "TYPE_SLICE_END":
            check(slices, f"what ends on {self.names[uuid]} has not begun")
            name = slices.pop()
            above = slices[-1] if slices else ""
        elif kind == "TYPE_COUNTER":
            value = one(event, "counter_value")
            check(value >= 0, "a count is negative")
        else:
            check(kind == "TYPE_INSTANT", f"{kind} is no type that we write")
        return "|".join([self.names[uuid], kind[5:].lower(), name, annotations.get("shader", ""),
                         annotations.get("detail", ""), str(value), above])


def main():
    packets = parse(iter(sys.stdin)).get("packet", [])
    check(packets, "there are no packets")
    first, last = check_clocks(packets, int(sys.argv[1]), int(sys.argv[2]))
    tracks, before = Tracks(), first
    for packet in packets:
        check(one(packet, "trusted_packet_sequence_id") == 1, "a packet is of another sequence")
        if "track_descriptor" in packet:
            tracks.add(one(packet, "track_descriptor"))
        if "track_event" not in packet:
            continue
        at = one(packet, "timestamp")
        check(one(packet, "timestamp_clock_id") == MONOTONIC, "an event is on another clock")
        check(before <= at <= last, f"an event at {at} is not between {before} and {last}")
        before = at
        print(tracks.take(one(packet, "track_event")))
    check(not any(tracks.open.values()), f"not ended: {[s for s in tracks.open.values() if s]}")


main()
