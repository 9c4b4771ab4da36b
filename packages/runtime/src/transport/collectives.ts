/** @file Collectives over shared memory, as generators that give way while they wait. Every rank stages its pieces in its
 * own channel and pulls from others; the order of every sum is fixed by the algorithm, so results repeat bit for bit.
 *
 * Ring: in step k of a reduce-scatter rank i adds its left neighbour's piece i - 2 - k to its own, so that piece i is
 * complete after n - 1 steps; a gather passes complete pieces on in the same direction. A rank never overwrites a piece
 * that its right neighbour still needs: whoever completes a piece has it from a chain that passed that neighbour.
 * Direct: everybody pulls everything from everybody and reduces in order of place.
 */
import type { Elements, FloatArray } from '../kernels/tensor.ts';
import type { Channel, Port } from './port.ts';
import { reduceInto, type Wire } from './wire.ts';

/** One rank's part in a collective. */
export interface Circle {
  readonly port: Port;
  /** Channels of the group in order of place. */
  readonly channels: readonly Channel[];
  /** Own place in the group. */
  readonly place: number;
  readonly pieceElements: number;
  readonly wire: Wire;
  /** Key of the ledger that bytes are counted under. */
  readonly key: number;
  /** An array of the buffer's type. */
  readonly create: (length: number) => Elements;
}

export type Waiting = Generator<void, void, void>;

/** What has been posted before: members begin together, when all have finished what was before in this channel. */
function* beginTogether(circle: Circle): Generator<void, number, void> {
  const own = circle.channels[circle.place]!;
  const base = own.posted();
  while (circle.channels.some((channel) => channel.posted() < base)) yield;
  return base;
}

function announce({ port, channels, place }: Circle): void {
  channels[place]!.post();
  port.ring(channels.map((channel) => channel.rank));
}

const wrap = (place: number, ways: number): number => ((place % ways) + ways) % ways;

function stagePiece(circle: Circle, index: number, values: Elements): void {
  const { memory, offset } = circle.channels[circle.place]!;
  circle.wire.write(memory, offset + index * circle.pieceElements * circle.wire.width, values);
}

/** Pulls a piece from another rank's staging; those are bytes that the other rank sends. */
function pullPiece(circle: Circle, from: number, index: number): Elements {
  const channel = circle.channels[from]!;
  const values = readPiece(circle, from, index);
  if (from !== circle.place) {
    circle.port.count(channel.rank, circle.key, circle.pieceElements * circle.wire.counted);
  }
  return values;
}

function readPiece(circle: Circle, from: number, index: number): Elements {
  const { memory, offset } = circle.channels[from]!;
  const values = circle.create(circle.pieceElements);
  circle.wire.read(memory, offset + index * circle.pieceElements * circle.wire.width, values);
  return values;
}

/** Waits until a member has posted `count` stages. */
function* until(circle: Circle, place: number, count: number): Waiting {
  while (circle.channels[place]!.posted() < count) yield;
}

function* ringReduce(circle: Circle, base: number, reduce: 'sum' | 'max'): Waiting {
  const ways = circle.channels.length;
  const left = wrap(circle.place - 1, ways);
  for (let step = 0; step < ways - 1; step++) {
    yield* until(circle, left, base + 1 + step);
    const index = wrap(circle.place - 2 - step, ways);
    const sum = pullPiece(circle, left, index);
    reduceInto(sum, readPiece(circle, circle.place, index), reduce);
    stagePiece(circle, index, sum);
    announce(circle);
  }
}

function* ringGather(circle: Circle, base: number): Waiting {
  const ways = circle.channels.length;
  const left = wrap(circle.place - 1, ways);
  for (let step = 0; step < ways - 1; step++) {
    yield* until(circle, left, base + 1 + step);
    const index = wrap(circle.place - 1 - step, ways);
    stagePiece(circle, index, pullPiece(circle, left, index));
    announce(circle);
  }
}

/** All pieces go in; the rank's own piece comes out, reduced. */
export function* ringReduceScatter(
  circle: Circle,
  pieces: readonly Elements[],
  reduce: 'sum' | 'max',
  take: (index: number, piece: Elements) => void,
): Waiting {
  const base = yield* beginTogether(circle);
  pieces.forEach((piece, index) => {
    stagePiece(circle, index, piece);
  });
  announce(circle);
  yield* ringReduce(circle, base, reduce);
  take(circle.place, readPiece(circle, circle.place, circle.place));
}

/** The rank's own piece goes in; all pieces come out. */
export function* ringAllGather(circle: Circle, own: Elements, take: (index: number, piece: Elements) => void): Waiting {
  const base = yield* beginTogether(circle);
  stagePiece(circle, circle.place, own);
  announce(circle);
  yield* ringGather(circle, base);
  circle.channels.forEach((_, index) => {
    take(index, readPiece(circle, circle.place, index));
  });
}

/** Reduce-scatter, then all-gather, over the same staging. */
export function* ringAllReduce(
  circle: Circle,
  pieces: readonly Elements[],
  reduce: 'sum' | 'max',
  take: (index: number, piece: Elements) => void,
): Waiting {
  const base = yield* beginTogether(circle);
  pieces.forEach((piece, index) => {
    stagePiece(circle, index, piece);
  });
  announce(circle);
  yield* ringReduce(circle, base, reduce);
  yield* ringGather(circle, base + circle.channels.length - 1);
  circle.channels.forEach((_, index) => {
    take(index, readPiece(circle, circle.place, index));
  });
}

/** Everybody sends everything to everybody; `pieceElements` is the whole buffer. */
export function* directAllReduce(
  circle: Circle,
  whole: Elements,
  reduce: 'sum' | 'max',
  take: (values: Elements) => void,
): Waiting {
  const base = yield* beginTogether(circle);
  stagePiece(circle, 0, whole);
  announce(circle);
  let sum: Elements | undefined;
  for (const [place] of circle.channels.entries()) {
    yield* until(circle, place, base + 1);
    const values = pullPiece(circle, place, 0);
    if (sum) reduceInto(sum, values, reduce);
    else sum = values;
  }
  announce(circle);
  if (sum) take(sum);
}

/** Multiplies in place. */
export function scale(values: Elements, factor: number): void {
  if (factor === 1) return;
  for (let index = 0; index < values.length; index++) (values as FloatArray)[index]! *= factor;
}
