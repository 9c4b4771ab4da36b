/** @file The order in which the evaluation visits the invocations of all stages.
 *
 * A schedule repeats itself once the pipeline is full. So its order is written for a few micro-batches only; each loop
 * marks one round of the steady state, and the walk repeats it (or, once clocks advance evenly, skips ahead) until the
 * real number of micro-batches is reached. See loops.ts.
 */
import { assertInvariant } from '../../errors/index.ts';
import {
  backwardCode,
  chunkOf,
  forwardCode,
  isBackward,
  microBatchOf,
  producerOf,
  type ScheduleShape,
  scheduleCodes,
} from '../../schedules/index.ts';

/** One round of the steady state: visits [from, to) of the order. */
export interface Loop {
  readonly from: number;
  readonly to: number;
  /** Invocations of each stage in it. */
  readonly round: number;
  /** Transfers that are sent but not received when it ends, in ascending order. */
  readonly onTheWay: Int32Array;
}

/** What a visit is, as bits. */
export const FORWARD = 1;
export const BACKWARD = 2;
/** Forward of micro-batch 0: it waits for weights that were gathered at the start. */
export const FIRST_FORWARD = 4;
/** Backward of the last micro-batch: it completes gradients. */
export const LAST_BACKWARD = 8;
/** The invocation that follows in its stage receives. */
export const POSTS = 16;
/** Forward of the last micro-batch: the last use of kept weights that only forward reads. */
export const LAST_FORWARD = 32;

/** The place of a chunk and direction: (stage * chunks + chunk) * 2, and 1 more for backward. */
const placeOf = (chunks: number, stage: number, code: number): number =>
  (stage * chunks + chunkOf(code)) * 2 + (code & 1);

/** Struct of arrays: one entry for each visit, in the order of visiting. */
export interface Visits {
  readonly stage: Uint16Array;
  readonly place: Uint16Array;
  /** Transfer that it receives, -1 for none. Transfers are numbered microBatch * places + place of the sender. */
  readonly from: Int32Array;
  /** Transfer that it sends, -1 for none. */
  readonly to: Int32Array;
  readonly bits: Uint8Array;
}

export interface WalkOrder {
  /** Micro-batches that the order is written for. */
  readonly written: number;
  /** Micro-batches of one round. */
  readonly stride: number;
  /** How often each loop runs beyond its first time. */
  readonly extra: number;
  readonly loops: readonly Loop[];
  /** Places of the pipeline: 2 * stages * chunks. */
  readonly places: number;
  /** Places of each stage's invocations, in the order of its list. */
  readonly lists: readonly Uint16Array[];
  readonly visits: Visits;
}

/** Where the visits stood when one stage, which drives the others, had done one more invocation. */
export interface Cut {
  readonly driver: number;
  /** Visits so far. */
  readonly at: number;
  /** Invocations so far, by stage. */
  readonly cursors: Int32Array;
}

/** An order with the cuts at which a loop may begin and end. */
export interface WrittenOrder {
  readonly shape: ScheduleShape;
  readonly codes: readonly Int32Array[];
  readonly visits: Visits;
  readonly cuts: readonly Cut[];
}

/** The order of all micro-batches, without loops. */
export function fullOrder(shape: ScheduleShape): WalkOrder {
  return walkOrder(writeOrder(shape, false), 1, []);
}

/** A written order, each loop run once. */
export function walkOrder({ shape, codes, visits }: WrittenOrder, stride: number, loops: readonly Loop[]): WalkOrder {
  const { microBatches, stages, chunks } = shape;
  const lists = codes.map((list, stage) => Uint16Array.from(list, (code) => placeOf(chunks, stage, code)));
  return { written: microBatches, stride, extra: 0, loops, places: 2 * stages * chunks, lists, visits };
}

/** Visits what the last stage needs, in its order; GPipe's backwards are driven by the first stage. Every prefix is
 * closed: it holds all that it waits for.
 */
export function writeOrder(shape: ScheduleShape, withCuts: boolean): WrittenOrder {
  const { stages, microBatches, chunks, schedule } = shape;
  const codes = Array.from({ length: stages }, (_, stage) => scheduleCodes(shape, stage));
  const writer = createVisitWriter(shape, codes);
  const slots = 2 * chunks * microBatches;
  const cuts: Cut[] = [];
  const drive = (driver: number, from: number, to: number): void => {
    for (let position = from; position < to; position++) {
      writer.visitUpTo(driver, position);
      if (withCuts) cuts.push({ driver, at: writer.count(), cursors: writer.cursors.slice() });
    }
  };
  const forwards = schedule === 'gpipe' ? microBatches : slots;
  drive(stages - 1, 0, forwards);
  drive(0, forwards, slots);
  for (let stage = 0; stage < stages; stage++) writer.visitUpTo(stage, slots - 1);
  assertInvariant(
    writer.count() === stages * slots,
    () => `visited ${writer.count()} of ${stages * slots} invocations`,
  );
  return { shape, codes, visits: writer.visits, cuts };
}

interface VisitWriter {
  readonly visits: Visits;
  readonly cursors: Int32Array;
  readonly count: () => number;
  /** Visits a stage up to a position of its list, and before it whatever that waits for. */
  readonly visitUpTo: (stage: number, position: number) => void;
}

function createVisitWriter(shape: ScheduleShape, codes: readonly Int32Array[]): VisitWriter {
  const { stages, chunks, microBatches } = shape;
  const { producer, sends } = transfersOf(shape);
  const places = producer.length;
  const total = places * microBatches;
  const visits: Visits = {
    stage: new Uint16Array(total),
    place: new Uint16Array(total),
    from: new Int32Array(total),
    to: new Int32Array(total),
    bits: new Uint8Array(total),
  };
  const positions = positionsOf(shape, codes);
  const cursors = new Int32Array(stages);
  let count = 0;
  const receives = (stage: number, code: number | undefined): boolean =>
    code !== undefined && (producer[placeOf(chunks, stage, code)] as number) >= 0;
  const visitUpTo = (stage: number, position: number): void => {
    const list = codes[stage] as Int32Array;
    for (let at = cursors[stage] as number; at <= position; at++) {
      const code = list[at] as number;
      const place = placeOf(chunks, stage, code);
      const microBatch = microBatchOf(code);
      const sender = producer[place] as number;
      const from = sender < 0 ? -1 : microBatch * places + sender;
      if (from >= 0) visitUpTo(Math.floor(sender / (2 * chunks)), positions[from] as number);
      visits.stage[count] = stage;
      visits.place[count] = place;
      visits.from[count] = from;
      visits.to[count] = sends[place] === 1 ? microBatch * places + place : -1;
      visits.bits[count] = bitsOf(code, microBatches) | (receives(stage, list[at + 1]) ? POSTS : 0);
      count += 1;
      cursors[stage] = at + 1;
    }
  };
  return { visits, cursors, count: () => count, visitUpTo };
}

const bitsOf = (code: number, microBatches: number): number =>
  isBackward(code)
    ? BACKWARD | (microBatchOf(code) === microBatches - 1 ? LAST_BACKWARD : 0)
    : FORWARD |
      (microBatchOf(code) === 0 ? FIRST_FORWARD : 0) |
      (microBatchOf(code) === microBatches - 1 ? LAST_FORWARD : 0);

/** By place: the place that it receives from (-1: none), and whether anybody receives from it. */
function transfersOf(shape: ScheduleShape): { readonly producer: Int32Array; readonly sends: Uint8Array } {
  const { stages, chunks } = shape;
  const producer = new Int32Array(2 * stages * chunks).fill(-1);
  const sends = new Uint8Array(producer.length);
  for (let stage = 0; stage < stages; stage++) {
    for (let chunk = 0; chunk < chunks; chunk++) {
      for (const code of [forwardCode(chunk, 0), backwardCode(chunk, 0)]) {
        const from = producerOf(shape, stage, code);
        if (from === undefined) continue;
        const sender = placeOf(chunks, from.stage, from.code);
        producer[placeOf(chunks, stage, code)] = sender;
        sends[sender] = 1;
      }
    }
  }
  return { producer, sends };
}

/** Position in its stage's list of every invocation, numbered as its transfer would be. */
function positionsOf({ stages, chunks, microBatches }: ScheduleShape, codes: readonly Int32Array[]): Int32Array {
  const places = 2 * stages * chunks;
  const positions = new Int32Array(places * microBatches);
  codes.forEach((list, stage) => {
    for (let at = 0; at < list.length; at++) {
      const code = list[at] as number;
      positions[microBatchOf(code) * places + placeOf(chunks, stage, code)] = at;
    }
  });
  return positions;
}
