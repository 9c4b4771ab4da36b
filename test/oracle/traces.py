"""Reads a trace with Perfetto's own message classes and one in Chrome's format, and holds them against each other.

    pip install perfetto        (0.59.1 was used; outside of this repository)
    python traces.py TRACE.pftrace TRACE.json[.gz]

Both are of one simulation. Prints slices and busy time; ends with 1 where a slice or the busy time of a thread differs.
"""

import collections
import gzip
import json
import sys

from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackEvent


def perfetto_slices(path):
    """(thread, name, start, end) in nanoseconds, in any order."""
    trace = Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    threads, names, begun, slices = {}, {}, collections.defaultdict(list), []
    for packet in trace.packet:
        for name in packet.interned_data.event_names:
            names[name.iid] = name.name
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            if track.HasField("thread"):
                threads[track.uuid] = track.thread.thread_name
        elif packet.HasField("track_event"):
            event = packet.track_event
            if event.type == TrackEvent.TYPE_SLICE_BEGIN:
                begun[event.track_uuid].append((names[event.name_iid], packet.timestamp))
            elif event.type == TrackEvent.TYPE_SLICE_END:
                name, start = begun[event.track_uuid].pop()
                slices.append((threads[event.track_uuid], name, start, packet.timestamp))
    if any(begun.values()):
        sys.exit("slices begin and never end")
    return slices


def chrome_slices(path):
    opened = gzip.open(path, "rt") if path.endswith(".gz") else open(path)
    with opened as file:
        events = json.load(file)["traceEvents"]
    threads = {event["tid"]: event["args"]["name"] for event in events if event["name"] == "thread_name"}
    slices = []
    for event in events:
        if event["ph"] == "X":
            start = round(event["ts"] * 1000)
            slices.append((threads[event["tid"]], event["name"], start, start + round(event["dur"] * 1000)))
    return slices


def busy(slices):
    seconds = collections.Counter()
    for thread, _, start, end in slices:
        seconds[thread] += end - start
    return seconds


def main():
    ours, other = perfetto_slices(sys.argv[1]), chrome_slices(sys.argv[2])
    same = sorted(ours) == sorted(other) and busy(ours) == busy(other)
    ranks = {thread.split(" ")[1] for thread, *_ in ours}
    total = sum(busy(ours).values())
    print(f"{len(ranks)} ranks, {len(ours)} slices, busy {total / 1e9:.6f} s: {'the same' if same else 'NOT the same'} in both formats")
    sys.exit(0 if same else 1)


main()
