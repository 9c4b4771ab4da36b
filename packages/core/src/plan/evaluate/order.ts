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
  endsBackward,
  forwardCode,
  isBackward,
  isSplit,
  kindNumber,
  microBatchOf,
  placementOf,
  producerOf,
  type ScheduleShape,
  scheduleCodes,
} from '../../schedules/index.ts';

/** One round of the steady state: visits [from, to) of the order. */
export interface Loop {
  readonly from: number;
  readonly to: number;
  /** Invocations of each stage in it, and those among them that use weights. */
  readonly round: number;
  readonly uses: number;
  /** Transfers that are sent but not received when it ends, in ascending order. */
  readonly onTheWay: Int32Array;
}

/** What a visit is, as bits. `BACKWARD`: the gradient of the input comes out of it. */
export const FORWARD = 1;
export const BACKWARD = 2;
/** Forward of micro-batch 0: it waits for weights that were gathered at the start. */
export const FIRST_FORWARD = 4;
/** The last backward of its chunk, or the last of either part: it completes gradients. */
export const LAST_BACKWARD = 8;
/** The invocation that follows in its stage receives. */
export const POSTS = 16;
/** Forward of the last micro-batch: the last use of kept weights that only forward reads. */
export const LAST_FORWARD = 32;
/** Weight part of a backward: nothing comes in or goes out. */
export const WEIGHT = 64;
/** It receives from the other neighbour than the first chunk of its stage does. */
export const OTHER_SIDE = 128;

/** Its input, or its output, is handed over to another chunk of the same stage. */
export const LOCAL_IN = 256;
export const LOCAL_OUT = 512;

/** Passes that a chunk has a table entry for: forward and backward, or these and both parts of backward. */
export const passesOf = (schedule: ScheduleShape['schedule']): 2 | 4 => (isSplit(schedule) ? 4 : 2);

/** The place of a chunk and pass: (stage * chunks + chunk) * passes, and the number of the pass. */
const placeOf = ({ schedule, chunks }: ScheduleShape, stage: number, code: number): number =>
  (stage * chunks + chunkOf(code)) * passesOf(schedule) + kindNumber(code);

/** What a chunk sends in one direction: (stage * chunks + chunk) * 2, and 1 more for gradients. */
const senderOf = (chunks: number, stage: number, code: number): number =>
  (stage * chunks + chunkOf(code)) * 2 + (code & 1);

/** Struct of arrays: one entry for each visit, in the order of visiting. */
export interface Visits {
  readonly stage: Uint16Array;
  readonly place: Uint16Array;
  /** Transfer that it receives, -1 for none. Transfers are numbered microBatch * senders + the sender. */
  readonly from: Int32Array;
  /** Transfer that it sends, -1 for none. */
  readonly to: Int32Array;
  readonly bits: Uint16Array;
}

export interface WalkOrder {
  /** Micro-batches that the order is written for. */
  readonly written: number;
  /** Micro-batches of one round. */
  readonly stride: number;
  /** How often each loop runs beyond its first time. */
  readonly extra: number;
  readonly loops: readonly Loop[];
  /** Transfers of a micro-batch have so many numbers: 2 * stages * chunks. */
  readonly senders: number;
  /** Places of each stage's invocations that use weights, in the order of its list. */
  readonly lists: readonly Uint16Array[];
  /** By stage: whether its first invocation receives. */
  readonly opensWithReceive: Uint8Array;
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
  const lists = codes.map((list, stage) =>
    Uint16Array.from(list.filter(usesWeights), (code) => placeOf(shape, stage, code)),
  );
  const opensWithReceive = Uint8Array.from(codes, (list, stage) =>
    (producerOf(shape, stage, list[0] as number)?.stage ?? stage) === stage ? 0 : 1,
  );
  const senders = 2 * stages * chunks;
  return { written: microBatches, stride, extra: 0, loops, senders, lists, opensWithReceive, visits };
}

/** Forward, backward and input part read weights. */
const usesWeights = (code: number): boolean => !isWeight(code);

const isWeight = (code: number): boolean => endsBackward(code) && !isBackward(code);

/** Visits what the last stage needs, in its order; GPipe's backwards are driven by the first stage. Every prefix is
 * closed: it holds all that it waits for.
 */
export function writeOrder(shape: ScheduleShape, withCuts: boolean): WrittenOrder {
  const { stages, microBatches, schedule } = shape;
  const codes = Array.from({ length: stages }, (_, stage) => scheduleCodes(shape, stage));
  const writer = createVisitWriter(shape, codes);
  const last = codes[stages - 1]?.length ?? 0;
  const cuts: Cut[] = [];
  const drive = (driver: number, from: number, to: number): void => {
    for (let position = from; position < to; position++) {
      writer.visitUpTo(driver, position);
      if (withCuts) cuts.push({ driver, at: writer.count(), cursors: writer.cursors.slice() });
    }
  };
  const forwards = schedule === 'gpipe' ? microBatches : last;
  drive(stages - 1, 0, forwards);
  drive(0, forwards, last);
  codes.forEach((list, stage) => {
    writer.visitUpTo(stage, list.length - 1);
  });
  const all = codes.reduce((sum, list) => sum + list.length, 0);
  assertInvariant(writer.count() === all, () => `visited ${writer.count()} of ${all} invocations`);
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
  const { stages, chunks } = shape;
  const { producer, sends } = transfersOf(shape);
  const senders = producer.length;
  const total = codes.reduce((sum, list) => sum + list.length, 0);
  const lasts = codes.map(lastBackwards);
  const folds = placementOf(shape.schedule) !== 'line';
  const visits: Visits = {
    stage: new Uint16Array(total),
    place: new Uint16Array(total),
    from: new Int32Array(total),
    to: new Int32Array(total),
    bits: new Uint16Array(total),
  };
  const positions = positionsOf(shape, codes);
  const cursors = new Int32Array(stages);
  let count = 0;
  const producerOfCode = (stage: number, code: number): number =>
    isWeight(code) ? -1 : (producer[senderOf(chunks, stage, code)] as number);
  const isLocal = (stage: number, sender: number): boolean =>
    sender >= 0 && Math.floor(sender / (2 * chunks)) === stage;
  const receives = (stage: number, code: number | undefined): boolean => {
    const sender = code === undefined ? -1 : producerOfCode(stage, code);
    return sender >= 0 && !isLocal(stage, sender);
  };
  const visitUpTo = (stage: number, position: number): void => {
    const list = codes[stage] as Int32Array;
    for (let at = cursors[stage] as number; at <= position; at++) {
      const code = list[at] as number;
      const place = placeOf(shape, stage, code);
      const microBatch = microBatchOf(code);
      const sender = producerOfCode(stage, code);
      const from = sender < 0 ? -1 : microBatch * senders + sender;
      const local = isLocal(stage, sender);
      if (from >= 0 && !local) visitUpTo(Math.floor(sender / (2 * chunks)), positions[from] as number);
      visits.stage[count] = stage;
      visits.place[count] = place;
      visits.from[count] = from;
      const own = senderOf(chunks, stage, code);
      visits.to[count] = !isWeight(code) && (sends[own] as number) > 0 ? microBatch * senders + own : -1;
      visits.bits[count] =
        bitsOf(code, shape) |
        ((lasts[stage] as ReadonlySet<number>).has(at) ? LAST_BACKWARD : 0) |
        (folds && chunkOf(code) === 1 ? OTHER_SIDE : 0) |
        (local ? LOCAL_IN : 0) |
        (!isWeight(code) && sends[own] === 2 ? LOCAL_OUT : 0) |
        (receives(stage, list[at + 1]) ? POSTS : 0);
      count += 1;
      cursors[stage] = at + 1;
    }
  };
  return { visits, cursors, count: () => count, visitUpTo };
}

function bitsOf(code: number, { schedule, microBatches }: ScheduleShape): number {
  if (isWeight(code)) return WEIGHT;
  if (isBackward(code)) return BACKWARD;
  const [first, last] = microBatchesOfChunk(schedule, microBatches, chunkOf(code));
  const microBatch = microBatchOf(code);
  return FORWARD | (microBatch === first ? FIRST_FORWARD : 0) | (microBatch === last ? LAST_FORWARD : 0);
}

/** First and last micro-batch that pass a chunk: half of them pass each where there are two copies of the model. */
function microBatchesOfChunk(
  schedule: ScheduleShape['schedule'],
  microBatches: number,
  chunk: number,
): readonly [number, number] {
  if (placementOf(schedule) !== 'mirror') return [0, microBatches - 1];
  return chunk === 0 ? [0, microBatches / 2 - 1] : [microBatches / 2, microBatches - 1];
}

/** Positions of the last invocation of each chunk that completes gradients of weights, and of the last that ends an input
 * part.
 */
function lastBackwards(list: Int32Array): ReadonlySet<number> {
  const last = new Map<number, number>();
  list.forEach((code, at) => {
    if (endsBackward(code)) last.set(2 * chunkOf(code), at);
    if (isBackward(code)) last.set(2 * chunkOf(code) + 1, at);
  });
  return new Set(last.values());
}

/** By sender: who it receives from (-1: nobody), and whether another stage (1) or its own (2) receives from it. */
function transfersOf(shape: ScheduleShape): { readonly producer: Int32Array; readonly sends: Uint8Array } {
  const { stages, chunks } = shape;
  const producer = new Int32Array(2 * stages * chunks).fill(-1);
  const sends = new Uint8Array(producer.length);
  for (let stage = 0; stage < stages; stage++) {
    for (let chunk = 0; chunk < chunks; chunk++) {
      for (const code of [forwardCode(chunk, 0), backwardCode(chunk, 0)]) {
        const from = producerOf(shape, stage, code);
        if (from === undefined) continue;
        const sender = (from.stage * chunks + from.chunk) * 2 + (code & 1);
        producer[senderOf(chunks, stage, code)] = sender;
        sends[sender] = from.stage === stage ? 2 : 1;
      }
    }
  }
  return { producer, sends };
}

/** Position in its stage's list of every invocation, numbered as its transfer would be. */
function positionsOf({ stages, chunks, microBatches }: ScheduleShape, codes: readonly Int32Array[]): Int32Array {
  const senders = 2 * stages * chunks;
  const positions = new Int32Array(senders * microBatches);
  codes.forEach((list, stage) => {
    for (let at = 0; at < list.length; at++) {
      const code = list[at] as number;
      if (!isWeight(code)) positions[microBatchOf(code) * senders + senderOf(chunks, stage, code)] = at;
    }
  });
  return positions;
}
