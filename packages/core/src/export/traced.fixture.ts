/** Simulated steps to be written as traces, and an independent reader of Perfetto's format. */
import protobuf from 'protobufjs';
import { compileProgram } from '../compile/index.ts';
import { toyJob, toyLayout } from '../compile/toy.fixture.ts';
import { createPrices } from '../cost/index.ts';
import type { Layout } from '../layout/index.ts';
import { pricesOf, type SimulatedStep, simulateProgram, timelineOf } from '../sim/index.ts';
import { type TracedStep, tracedRanks } from './index.ts';

/** The toy of the worked example under a layout, simulated, on hosts of four ranks. */
export function tracedToy(
  changes: Partial<Layout> = {},
  which: 'all' | 'one-per-list' = 'one-per-list',
): TracedStep & {
  readonly step: SimulatedStep;
} {
  const job = toyJob();
  const program = compileProgram(job, toyLayout(changes));
  const step = simulateProgram(program, pricesOf(program, createPrices(job.cluster, program.mesh)));
  const lists = step.lists.map(({ expanded }) => expanded);
  const timeline = timelineOf(step);
  return { step, program, lists, timeline, ranks: tracedRanks(program, which, 4), links: { tensor: 'NVLink' } };
}

/** Perfetto's messages, as far as our traces use them. */
const schema = `
syntax = "proto2";
message Trace { repeated TracePacket packet = 1; }
message TracePacket {
  optional uint64 timestamp = 8;
  optional uint32 trusted_packet_sequence_id = 10;
  optional TrackEvent track_event = 11;
  optional InternedData interned_data = 12;
  optional uint32 sequence_flags = 13;
  optional TrackDescriptor track_descriptor = 60;
}
message TrackEvent {
  repeated uint64 category_iids = 3;
  repeated DebugAnnotation debug_annotations = 4;
  optional int32 type = 9;
  optional uint64 name_iid = 10;
  optional uint64 track_uuid = 11;
  optional int64 counter_value = 30;
  repeated fixed64 flow_ids = 47;
  repeated fixed64 terminating_flow_ids = 48;
}
message DebugAnnotation { optional uint64 name_iid = 1; optional uint64 uint_value = 3; optional uint64 string_value_iid = 17; }
message TrackDescriptor {
  optional uint64 uuid = 1;
  optional string name = 2;
  optional ProcessDescriptor process = 3;
  optional ThreadDescriptor thread = 4;
  optional uint64 parent_uuid = 5;
  optional CounterDescriptor counter = 8;
}
message ProcessDescriptor { optional int32 pid = 1; optional string process_name = 6; }
message ThreadDescriptor { optional int32 pid = 1; optional int32 tid = 2; optional string thread_name = 5; }
message CounterDescriptor { optional int32 unit = 3; optional string unit_name = 6; }
message InternedData {
  repeated Entry event_categories = 1;
  repeated Entry event_names = 2;
  repeated Entry debug_annotation_names = 3;
  repeated StringEntry debug_annotation_string_values = 29;
}
message Entry { optional uint64 iid = 1; optional string name = 2; }
message StringEntry { optional uint64 iid = 1; optional bytes str = 2; }
`;

/** A slice as it was read back. */
export interface ReadSlice {
  readonly thread: string;
  readonly name: string;
  readonly category: string;
  readonly start: number;
  readonly end: number;
  readonly flows: readonly number[];
  readonly flowEnds: readonly number[];
  readonly notes: Readonly<Record<string, string | number>>;
}

/** What a trace holds. */
export interface ReadTrace {
  readonly packets: number;
  readonly processes: readonly string[];
  readonly threads: readonly { readonly name: string; readonly process: number; readonly thread: number }[];
  readonly slices: readonly ReadSlice[];
  /** Times and values by name of track. */
  readonly counters: ReadonlyMap<string, readonly (readonly [number, number])[]>;
}

interface Packet {
  readonly timestamp?: number;
  readonly trustedPacketSequenceId?: number;
  readonly sequenceFlags?: number;
  readonly trackEvent?: Event;
  readonly trackDescriptor?: Descriptor;
  readonly internedData?: Readonly<Record<string, readonly { iid: number; name?: string; str?: Uint8Array }[]>>;
}
interface Event {
  readonly type: number;
  readonly trackUuid: number;
  readonly nameIid?: number;
  readonly categoryIids?: readonly number[];
  readonly counterValue?: number;
  readonly flowIds?: readonly number[];
  readonly terminatingFlowIds?: readonly number[];
  readonly debugAnnotations?: readonly { nameIid: number; uintValue?: number; stringValueIid?: number }[];
}
interface Descriptor {
  readonly uuid: number;
  readonly name?: string;
  readonly process?: { readonly pid: number; readonly processName: string };
  readonly thread?: { readonly pid: number; readonly tid: number; readonly threadName: string };
  readonly counter?: { readonly unit?: number };
}

/** Reads a trace with an independent decoder. Throws where ends do not follow beginnings. */
export function readPerfetto(bytes: Uint8Array): ReadTrace {
  const type = protobuf.parse(schema).root.lookupType('Trace');
  const { packet = [] } = type.toObject(type.decode(bytes), { longs: Number }) as { packet?: readonly Packet[] };
  const strings = new Map<string, string>();
  const tracks = new Map<number, Descriptor>();
  const open = new Map<number, ReadSlice>();
  const slices: ReadSlice[] = [];
  const counters = new Map<string, [number, number][]>();
  for (const { timestamp = 0, trackEvent, trackDescriptor, internedData } of packet) {
    for (const [kind, entries] of Object.entries(internedData ?? {})) {
      for (const { iid, name, str } of entries) strings.set(`${kind} ${iid}`, name ?? new TextDecoder().decode(str));
    }
    if (trackDescriptor) tracks.set(trackDescriptor.uuid, trackDescriptor);
    if (!trackEvent) continue;
    const track = tracks.get(trackEvent.trackUuid);
    if (trackEvent.type === 1) {
      if (open.has(trackEvent.trackUuid)) throw new Error('a slice begins before the one before has ended.');
      open.set(trackEvent.trackUuid, sliceOf(trackEvent, timestamp, track?.thread?.threadName ?? '', strings));
    } else if (trackEvent.type === 2) {
      slices.push({ ...(open.get(trackEvent.trackUuid) as ReadSlice), end: timestamp });
      open.delete(trackEvent.trackUuid);
    } else {
      const name = track?.name ?? '';
      counters.set(name, [...(counters.get(name) ?? []), [timestamp, trackEvent.counterValue ?? 0]]);
    }
  }
  if (open.size > 0) throw new Error('a slice does not end.');
  const described = [...tracks.values()];
  return {
    packets: packet.length,
    processes: described.flatMap(({ process }) => (process ? [process.processName] : [])),
    threads: described.flatMap(({ thread }) =>
      thread ? [{ name: thread.threadName, process: thread.pid, thread: thread.tid }] : [],
    ),
    slices,
    counters,
  };
}

function sliceOf(event: Event, start: number, thread: string, strings: ReadonlyMap<string, string>): ReadSlice {
  const notes = (event.debugAnnotations ?? []).map(({ nameIid, uintValue, stringValueIid }) => [
    strings.get(`debugAnnotationNames ${nameIid}`),
    uintValue ?? strings.get(`debugAnnotationStringValues ${stringValueIid}`),
  ]);
  return {
    thread,
    name: strings.get(`eventNames ${event.nameIid}`) ?? '',
    category: strings.get(`eventCategories ${event.categoryIids?.[0]}`) ?? '',
    start,
    end: start,
    flows: event.flowIds ?? [],
    flowEnds: event.terminatingFlowIds ?? [],
    notes: Object.fromEntries(notes),
  };
}
