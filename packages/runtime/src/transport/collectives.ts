/** @file Collectives over shared memory, as generators that give way while they wait. Every rank stages its pieces in its
 * own channel and pulls from others; the order of every sum is fixed by the algorithm, so results repeat bit for bit.
 *
 * Ring: in step k of a reduce-scatter rank i adds its left neighbour's piece i - 2 - k to its own, so that piece i is
 * complete after n - 1 steps; a gather passes complete pieces on in the same direction. A rank never overwrites a piece
 * that its right neighbour still needs: whoever completes a piece has it from a chain that passed that neighbour.
 * Direct: everybody pulls everything from everybody and reduces in order of place. All-to-all and shift pull once.
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
export function* beginTogether(circle: Circle): Generator<void, number, void> {
  const own = circle.channels[circle.place]!;
  const base = own.posted();
  while (circle.channels.some((channel) => channel.posted() < base)) yield;
  return base;
}

/** Says that this rank has come one stage further. */
export function announce({ port, channels, place }: Circle): void {
  channels[place]!.post();
  port.ring(channels.map((channel) => channel.rank));
}

const wrap = (place: number, ways: number): number => ((place % ways) + ways) % ways;

function stagePiece(circle: Circle, index: number, values: Elements): void {
  const { memory, offset } = circle.channels[circle.place]!;
  circle.wire.write(memory, offset + index * circle.pieceElements * circle.wire.width, values);
}

/** Pulls a piece from another rank's staging; those are bytes that the other rank sends. The piece may be a view. */
function pullPiece(circle: Circle, from: number, index: number): Elements {
  const channel = circle.channels[from]!;
  if (from !== circle.place) {
    circle.port.count(channel.rank, circle.key, circle.pieceElements * circle.wire.counted);
  }
  return readPiece(circle, from, index);
}

/** A piece of a rank's staging: as it lies there, or a copy where it travels in another form. */
function readPiece({ channels, pieceElements, wire, create }: Circle, from: number, index: number): Elements {
  const { memory, offset } = channels[from]!;
  const at = offset + index * pieceElements * wire.width;
  if (wire.view) return wire.view(memory, at, pieceElements);
  const values = create(pieceElements);
  wire.read(memory, at, values);
  return values;
}

/** Waits until a member has posted `count` stages. */
export function* until(circle: Circle, place: number, count: number): Waiting {
  while (circle.channels[place]!.posted() < count) yield;
}

function* ringReduce(circle: Circle, base: number, reduce: 'sum' | 'max'): Waiting {
  const ways = circle.channels.length;
  const left = wrap(circle.place - 1, ways);
  for (let step = 0; step < ways - 1; step++) {
    yield* until(circle, left, base + 1 + step);
    const index = wrap(circle.place - 2 - step, ways);
    const sum = readPiece(circle, circle.place, index);
    reduceInto(sum, pullPiece(circle, left, index), reduce);
    if (!circle.wire.view) stagePiece(circle, index, sum);
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

/** Is given a complete piece, which lies where others may still read it: it must not be written. */
type TakePiece = (index: number, piece: Elements) => void;

/** All pieces go in; the rank's own piece comes out, reduced. */
export function* ringReduceScatter(
  circle: Circle,
  pieces: readonly Elements[],
  reduce: 'sum' | 'max',
  take: TakePiece,
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
export function* ringAllGather(circle: Circle, own: Elements, take: TakePiece): Waiting {
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
  take: TakePiece,
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
    else sum = circle.wire.view ? values.slice() : values;
  }
  announce(circle);
  if (sum) take(sum);
}

/** Everybody has a piece for everybody: `pieces` by place of the receiver go in, those that were meant for this rank come
 * out by place of the sender.
 */
export function* allToAll(circle: Circle, pieces: readonly Elements[], take: TakePiece): Waiting {
  const base = yield* beginTogether(circle);
  pieces.forEach((piece, index) => {
    stagePiece(circle, index, piece);
  });
  announce(circle);
  for (const [place] of circle.channels.entries()) {
    yield* until(circle, place, base + 1);
    take(place, pullPiece(circle, place, circle.place));
  }
  announce(circle);
}

/** Everybody hands all it has to the next place and takes what the one before hands on. */
export function* shift(circle: Circle, own: Elements, take: (values: Elements) => void): Waiting {
  const base = yield* beginTogether(circle);
  stagePiece(circle, 0, own);
  announce(circle);
  const left = wrap(circle.place - 1, circle.channels.length);
  yield* until(circle, left, base + 1);
  take(pullPiece(circle, left, 0));
  announce(circle);
}

/** The values times a factor: themselves where it is 1, else a copy. */
export const scaled = (values: Elements, factor: number): Elements =>
  factor === 1 ? values : (values as FloatArray).map((value) => value * factor);
