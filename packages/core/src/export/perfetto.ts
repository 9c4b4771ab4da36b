/** @file A step as a trace in Perfetto's own format: a sequence of packets. One process for each host, one thread for each
 * lane of a rank, flows from sends to their receives, counters of memory and links. Opens at ui.perfetto.dev and in
 * trace_processor; written in a stream, none of it is held.
 */
import type { ExpandedOperation } from '../program/index.ts';
import { CHUNK_BYTES } from './chunks.ts';
import { type Counter, countersOf } from './counters.ts';
import { flowsOf } from './flows.ts';
import { wordsOf } from './names.ts';
import {
  EVENT,
  numbersOf,
  PACKET,
  TRACK,
  type TraceState,
  writeEvent,
  writePacket,
  writeTrack,
} from './perfetto-packets.ts';
import { createProtoWriter } from './protobuf.ts';
import { flowNumber, type TracedRank, type TracedStep, type Track, tracksOf } from './traced.ts';

const SLICE_BEGIN = 1;
const SLICE_END = 2;
const COUNTER = 4;
const STATE_CLEARED = 1;
const NEEDS_STATE = 2;
const UNIT_BYTES = 3;
/** Fields of an annotation. */
const ANNOTATION = { name: 1, uint: 3, string: 17 } as const;
/** Numbers of threads stay clear of those of processes, or a viewer takes them for main threads. */
const FIRST_THREAD = 1_000_000;

/** The trace in pieces of about a megabyte. Timestamps are whole nanoseconds. */
export function* perfettoTrace(step: TracedStep): Generator<Uint8Array> {
  const writer = createProtoWriter();
  const state: TraceState = {
    step,
    writer,
    words: wordsOf(step.program),
    flows: flowsOf(step.lists),
    strings: new Map(),
    numbers: new Map(),
    tracks: 0,
  };
  writePacket(state, () => writer.uint(PACKET.flags, STATE_CLEARED));
  const hosts = writeHosts(state);
  const tracks = tracksOf(step);
  const counters = countersOf(step);
  for (const rank of step.ranks) {
    const host = hosts.get(rank.host) as Host;
    for (const track of tracks.get(rank.timedAs) ?? []) {
      const thread = writeThread(state, host, threadName(step, rank, track));
      for (const slice of track.slices) {
        writeSlice(state, rank, thread, slice);
        if (writer.length >= CHUNK_BYTES) yield writer.take();
      }
    }
    for (const counter of counters(rank)) {
      writeCounter(state, host, counterName(step, rank, counter), counter);
      if (writer.length >= CHUNK_BYTES) yield writer.take();
    }
  }
  yield writer.take();
}

/** `rank 4 P1 compute`; further tracks of a lane are numbered. */
export const threadName = ({ lists }: TracedStep, { rank, list }: TracedRank, { lane, number }: Track): string =>
  `rank ${rank} ${lists[list]?.list.name ?? ''} ${lane}${number > 1 ? ` ${number}` : ''}`;

/** `rank 4 memory`, `rank 4 sends tensor (NVLink)`. */
export function counterName({ links }: TracedStep, { rank }: TracedRank, { name, unit }: Counter): string {
  if (unit === 'bytes') return `rank ${rank} ${name}`;
  const link = links?.[name];
  return `rank ${rank} sends ${name}${link === undefined ? '' : ` (${link})`}`;
}

interface Host {
  readonly uuid: number;
  readonly process: number;
}

/** One process for each host, numbered from 1: viewers take 0 for the idle process. */
function writeHosts(state: TraceState): ReadonlyMap<number, Host> {
  const { writer, step } = state;
  const hosts = new Map<number, Host>();
  for (const { host } of step.ranks) {
    if (hosts.has(host)) continue;
    const uuid = writeTrack(state, () => {
      const process = writer.open(TRACK.process);
      writer.uint(1, host + 1);
      writer.string(6, `host ${host}`);
      writer.close(process);
    });
    hosts.set(host, { uuid, process: host + 1 });
  }
  return hosts;
}

function writeThread(state: TraceState, host: Host, name: string): number {
  const { writer, tracks } = state;
  return writeTrack(state, () => {
    writer.uint(TRACK.parent, host.uuid);
    const thread = writer.open(TRACK.thread);
    writer.uint(1, host.process);
    writer.uint(2, FIRST_THREAD + tracks);
    writer.string(5, name);
    writer.close(thread);
  });
}

function writeSlice(state: TraceState, rank: TracedRank, track: number, slice: number): void {
  const { step, writer } = state;
  const { timeline } = step;
  const expanded = step.lists[rank.list]?.operations[timeline.operation[slice] as number] as ExpandedOperation;
  const { name, category, why, block, keys } = numbersOf(state, state.words(expanded));
  writePacket(state, () => {
    writer.uint(PACKET.flags, NEEDS_STATE);
    writer.uint(PACKET.timestamp, timeline.start[slice] as number);
    const event = writer.open(PACKET.event);
    writer.uint(EVENT.type, SLICE_BEGIN);
    writer.uint(EVENT.track, track);
    writer.uint(EVENT.name, name);
    writer.uint(EVENT.category, category);
    writeFlow(state, rank, expanded);
    writeAnnotation(state, keys.why, ANNOTATION.string, why);
    if (block > 0) writeAnnotation(state, keys.block, ANNOTATION.string, block);
    if (expanded.microBatch !== undefined)
      writeAnnotation(state, keys.microBatch, ANNOTATION.uint, expanded.microBatch);
    writer.close(event);
  });
  writeEvent(state, SLICE_END, track, timeline.end[slice] as number);
}

function writeFlow(
  { step, writer, flows }: TraceState,
  rank: TracedRank,
  { index, operation }: ExpandedOperation,
): void {
  const pair = flows.of[rank.list]?.[index] ?? -1;
  if (pair >= 0)
    writer.fixed64(operation.kind === 'send' ? EVENT.flow : EVENT.flowEnd, flowNumber(step.program, rank, pair));
}

function writeAnnotation({ writer }: TraceState, name: number, field: number, value: number): void {
  const annotation = writer.open(EVENT.annotation);
  writer.uint(ANNOTATION.name, name);
  writer.uint(field, value);
  writer.close(annotation);
}

function writeCounter(state: TraceState, host: Host, name: string, { unit, time, value }: Counter): void {
  const { writer } = state;
  const track = writeTrack(state, () => {
    writer.uint(TRACK.parent, host.uuid);
    writer.string(TRACK.name, name);
    const counter = writer.open(TRACK.counter);
    if (unit === 'bytes') writer.uint(3, UNIT_BYTES);
    else writer.string(6, unit);
    writer.close(counter);
  });
  time.forEach((at, index) => {
    writeEvent(state, COUNTER, track, at, () => writer.uint(EVENT.value, value[index] as number));
  });
}
