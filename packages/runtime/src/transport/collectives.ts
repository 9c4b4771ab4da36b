/** @file Collectives over shared memory, as generators that give way while they wait. Every rank stages what others need in its
 * own channel and pulls from theirs; the order of every sum is fixed by the algorithm, so results repeat bit for bit.
 *
 * Ring: sums are in the order of a ring, and each rank sends the bytes of a ring: piece i begins at rank i + 1 and ends at
 * rank i. In shared memory nothing has to pass through the ranks between, so rank i pulls the parts of its piece where they
 * were staged and adds them in that order: one pass over memory, and two waits in place of one for each rank.
 * Direct: everybody pulls everything from everybody and reduces in order of place. All-to-all and shift pull once.
 *
 * A rank's last post of an exchange says that it has read all it needs; the next one in the channel begins when all have.
 */
import type { Elements, FloatArray } from '../kernels/tensor.ts';
import type { Add } from '../kernels/wasm/vector-add.ts';
import type { Channel, Port } from './port.ts';
import { combineInto, type Wire } from './wire.ts';

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
  /** A faster sum of float32; absent: a loop. */
  readonly add?: Add;
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

/** Members in the order in which a ring adds to the piece of this rank: the next one first, this one last. */
const ringOrder = ({ channels, place }: Circle): readonly number[] =>
  channels.map((_, step) => wrap(place + 1 + step, channels.length));

/** Is given a complete piece, which lies where others may still read it: it must not be written. */
type TakePiece = (index: number, piece: Elements) => void;

/** Stages the parts of the others' pieces. */
function stageParts(circle: Circle, pieces: readonly Elements[]): void {
  for (const [index, piece] of pieces.entries()) if (index !== circle.place) stagePiece(circle, index, piece);
  announce(circle);
}

/** The rank's own piece, reduced in the order of a ring: in its own place of the staging where it can lie there. */
function* reduceOwn(
  circle: Circle,
  base: number,
  own: Elements,
  reduce: 'sum' | 'max',
): Generator<void, Elements, void> {
  const { place, wire, pieceElements, create, add } = circle;
  const sum = wire.view ? readPiece(circle, place, place) : create(pieceElements);
  let first: Elements | undefined;
  let count = 0;
  for (const member of ringOrder(circle)) {
    yield* until(circle, member, base + 1);
    const part = member === place ? own : pullPiece(circle, member, place);
    if (first === undefined) first = part;
    else combineInto(sum, count === 1 ? first : sum, part, reduce, add);
    count++;
  }
  if (count === 1 && first) sum.set(first);
  return sum;
}

/** Pulls the pieces of the others, each complete once its rank has posted `count` stages. */
function* pullOthers(circle: Circle, count: number, take: TakePiece): Waiting {
  for (const member of ringOrder(circle)) {
    if (member === circle.place) continue;
    yield* until(circle, member, count);
    take(member, pullPiece(circle, member, member));
  }
  announce(circle);
}

/** All pieces go in; the rank's own piece comes out, reduced. */
export function* ringReduceScatter(
  circle: Circle,
  pieces: readonly Elements[],
  reduce: 'sum' | 'max',
  take: TakePiece,
): Waiting {
  const base = yield* beginTogether(circle);
  stageParts(circle, pieces);
  take(circle.place, yield* reduceOwn(circle, base, pieces[circle.place]!, reduce));
  announce(circle);
}

/** The rank's own piece goes in; all pieces come out. */
export function* ringAllGather(circle: Circle, own: Elements, take: TakePiece): Waiting {
  const base = yield* beginTogether(circle);
  stagePiece(circle, circle.place, own);
  announce(circle);
  take(circle.place, readPiece(circle, circle.place, circle.place));
  yield* pullOthers(circle, base + 1, take);
}

/** Reduce-scatter, then all-gather, over the same staging. */
export function* ringAllReduce(
  circle: Circle,
  pieces: readonly Elements[],
  reduce: 'sum' | 'max',
  take: TakePiece,
): Waiting {
  const base = yield* beginTogether(circle);
  stageParts(circle, pieces);
  const sum = yield* reduceOwn(circle, base, pieces[circle.place]!, reduce);
  if (!circle.wire.view) stagePiece(circle, circle.place, sum);
  announce(circle);
  take(circle.place, readPiece(circle, circle.place, circle.place));
  yield* pullOthers(circle, base + 2, take);
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
    if (sum) combineInto(sum, sum, values, reduce, circle.add);
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
export function scaled(values: Elements, factor: number): Elements {
  if (factor === 1) return values;
  if (!(values instanceof Float32Array)) return (values as FloatArray).map((value) => value * factor);
  const { length } = values;
  const result = new Float32Array(length);
  for (let index = 0; index < length; index++) result[index] = values[index]! * factor;
  return result;
}
