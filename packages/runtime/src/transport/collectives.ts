/** @file Collectives over shared memory, as generators that give way while they wait. Every rank stages what others need in its
 * own channel and pulls from theirs; the order of every sum is fixed by the algorithm, so results repeat bit for bit.
 *
 * Ring: sums are in the order of a ring, and each rank sends the bytes of a ring: piece i begins at rank i + 1 and ends at
 * rank i. In shared memory nothing has to pass through the ranks between, so rank i pulls the parts of its piece where they
 * were staged and adds them in that order: one pass over memory, and two waits in place of one for each rank.
 * Direct: everybody pulls everything from everybody and reduces in order of place. All-to-all and shift pull once.
 * Trees are in trees.ts, two tiers in tiers.ts.
 */
import type { Elements, FloatArray } from '../kernels/tensor.ts';
import {
  announce,
  beginTogether,
  type Circle,
  pullPiece,
  readPiece,
  stagePiece,
  type TakePiece,
  until,
  type Waiting,
  wrap,
} from './circle.ts';
import { combineInto } from './wire.ts';

/** Members in the order in which a ring adds to the piece of this rank: the next one first, this one last. */
const ringOrder = ({ channels, place }: Circle): readonly number[] =>
  channels.map((_, step) => wrap(place + 1 + step, channels.length));

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

/** Everybody sends everything to everybody; the one piece is the whole buffer. */
export function* directAllReduce(
  circle: Circle,
  [whole]: readonly Elements[],
  reduce: 'sum' | 'max',
  take: TakePiece,
): Waiting {
  const base = yield* beginTogether(circle);
  if (whole) stagePiece(circle, 0, whole);
  announce(circle);
  let sum: Elements | undefined;
  for (const [place] of circle.channels.entries()) {
    yield* until(circle, place, base + 1);
    const values = pullPiece(circle, place, 0);
    if (sum) combineInto(sum, sum, values, reduce, circle.add);
    else if (circle.wire.view) {
      sum = circle.create(values.length);
      sum.set(values);
    } else sum = values;
  }
  announce(circle);
  if (sum) take(0, sum);
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
