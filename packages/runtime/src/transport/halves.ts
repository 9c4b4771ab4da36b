/** @file An all-reduce by halves (Thakur, Rabenseifner, Gropp 2005): partners at distances 1, 2, 4, ... share out what is left
 * between them, until each has the sum of one piece; then they hand pieces on the same way back. Members beyond a power of
 * two hand their buffer to one below and get the result from it.
 */
import type { Elements } from '../kernels/tensor.ts';
import {
  addParts,
  announce,
  beginTogether,
  type Circle,
  pullPiece,
  readPiece,
  stagePiece,
  type TakePiece,
  until,
  type Waiting,
} from './circle.ts';

/** All pieces, as many as the largest power of two of members, go in and come out reduced. A piece of the own staging is written
 * where nobody but the partner of an earlier stage has read what lay there before. Every member posts one stage for
 * what it brings, one for each partner each way, and two for those beyond.
 */
export function* halvingAllReduce(
  circle: Circle,
  pieces: readonly Elements[],
  reduce: 'sum' | 'max',
  take: TakePiece,
): Waiting {
  const { place, channels } = circle;
  const whole = pieces.length;
  const base = yield* beginTogether(circle);
  const distances = Array.from({ length: Math.log2(whole) }, (_, step) => 2 ** step);
  for (const [index, piece] of pieces.entries()) stagePiece(circle, index, piece);
  announce(circle);
  const last = base + 2 + 2 * distances.length;
  if (place >= whole) return yield* takeAll(circle, place - whole, whole, last, take);
  if (place + whole < channels.length) {
    for (const [index, piece] of pieces.entries()) {
      yield* addParts(circle, index, piece, [place + whole], base + 1, reduce);
    }
  }
  announce(circle);
  let count = base + 2;
  for (const distance of distances) {
    for (const index of every(2 * distance, place, whole)) {
      yield* addParts(circle, index, readPiece(circle, place, index), [place ^ distance], count, reduce);
    }
    announce(circle);
    count++;
  }
  for (const distance of distances.toReversed()) {
    const partner = place ^ distance;
    yield* until(circle, partner, count);
    for (const index of every(2 * distance, partner, whole)) {
      stagePiece(circle, index, pullPiece(circle, partner, index));
    }
    announce(circle);
    count++;
  }
  for (let index = 0; index < whole; index++) take(index, readPiece(circle, place, index));
  announce(circle);
}

/** Pieces below `whole` that stand as `place` does among so many. */
const every = (distance: number, place: number, whole: number): readonly number[] =>
  Array.from({ length: whole / distance }, (_, step) => (place % distance) + step * distance);

/** A member beyond: has brought what it has, and waits for the result. */
function* takeAll(circle: Circle, from: number, whole: number, last: number, take: TakePiece): Waiting {
  while (circle.channels[circle.place]!.posted() < last) announce(circle);
  yield* until(circle, from, last);
  for (let index = 0; index < whole; index++) take(index, pullPiece(circle, from, index));
  announce(circle);
}
