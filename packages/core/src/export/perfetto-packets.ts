/** @file Packets of Perfetto's format: fields by number, tracks, and strings that are written once. Fields and their
 * numbers: [perfetto-proto] in docs/sources.md.
 */
import type { ExpandedOperation } from '../program/index.ts';
import type { Flows } from './flows.ts';
import type { SliceWords } from './names.ts';
import type { ProtoWriter } from './protobuf.ts';
import type { TracedStep } from './traced.ts';

const TRACE = { packet: 1 } as const;
/** Numbers of fields, by message. */
export const PACKET = { timestamp: 8, sequence: 10, event: 11, interned: 12, flags: 13, track: 60 } as const;
export const EVENT = {
  category: 3,
  annotation: 4,
  type: 9,
  name: 10,
  track: 11,
  value: 30,
  flow: 47,
  flowEnd: 48,
} as const;
export const TRACK = { uuid: 1, name: 2, process: 3, thread: 4, parent: 5, counter: 8 } as const;
const INTERNED = { category: 1, name: 2, annotationName: 3, annotationString: 29 } as const;
/** All packets are of one sequence, whose strings are shared. */
const SEQUENCE = 1;

/** What a trace needs while it is written. */
export interface TraceState {
  readonly step: TracedStep;
  readonly writer: ProtoWriter;
  readonly words: (expanded: ExpandedOperation) => SliceWords;
  readonly flows: Flows;
  /** Numbers of strings that were written already, by field of the message of strings. */
  readonly strings: Map<number, Map<string, number>>;
  /** Numbers of the strings of slices. */
  readonly numbers: Map<SliceWords, WordNumbers>;
  /** Tracks so far. */
  tracks: number;
}

/** Writes one packet. */
export function writePacket({ writer }: TraceState, fill: () => void): void {
  const packet = writer.open(TRACE.packet);
  writer.uint(PACKET.sequence, SEQUENCE);
  fill();
  writer.close(packet);
}

/** Writes the description of a new track; returns its number. */
export function writeTrack(state: TraceState, fill: () => void): number {
  const { writer } = state;
  const uuid = ++state.tracks;
  writePacket(state, () => {
    const track = writer.open(PACKET.track);
    writer.uint(TRACK.uuid, uuid);
    fill();
    writer.close(track);
  });
  return uuid;
}

/** Writes an event of a type on a track. */
export function writeEvent(state: TraceState, type: number, track: number, time: number, fill?: () => void): void {
  const { writer } = state;
  writePacket(state, () => {
    writer.uint(PACKET.timestamp, time);
    const event = writer.open(PACKET.event);
    writer.uint(EVENT.type, type);
    writer.uint(EVENT.track, track);
    fill?.();
    writer.close(event);
  });
}

/** The numbers of a slice's strings; `block` is 0 where there is none. */
export interface WordNumbers {
  readonly name: number;
  readonly category: number;
  readonly why: number;
  readonly block: number;
  /** Names of annotations. */
  readonly keys: { readonly why: number; readonly block: number; readonly microBatch: number };
}

/** Numbers of the strings of a slice; new ones are written on the way. */
export function numbersOf(state: TraceState, words: SliceWords): WordNumbers {
  const known = state.numbers.get(words);
  if (known !== undefined) return known;
  const { name, category, why, block } = words;
  const numbers = {
    name: intern(state, INTERNED.name, name),
    category: intern(state, INTERNED.category, category),
    why: intern(state, INTERNED.annotationString, why),
    block: block === undefined ? 0 : intern(state, INTERNED.annotationString, block),
    keys: {
      why: intern(state, INTERNED.annotationName, 'why'),
      block: intern(state, INTERNED.annotationName, 'block'),
      microBatch: intern(state, INTERNED.annotationName, 'micro-batch'),
    },
  };
  state.numbers.set(words, numbers);
  return numbers;
}

/** The number of a string, written in a packet of its own when it is new. */
function intern(state: TraceState, field: number, text: string): number {
  const { writer, strings } = state;
  const known = strings.get(field) ?? new Map<string, number>();
  strings.set(field, known);
  const found = known.get(text);
  if (found !== undefined) return found;
  const number = known.size + 1;
  known.set(text, number);
  writePacket(state, () => {
    const data = writer.open(PACKET.interned);
    const entry = writer.open(field);
    writer.uint(1, number);
    writer.string(2, text);
    writer.close(entry);
    writer.close(data);
  });
  return number;
}
