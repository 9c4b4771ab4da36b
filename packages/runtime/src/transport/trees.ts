/** @file An all-reduce up and down two binary trees, on half of the buffer each: who adds in one is a leaf of the other. */
import { twoTrees } from '@meshwright/core/collectives';
import type { Elements } from '../kernels/tensor.ts';
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
} from './circle.ts';
import { combineInto } from './wire.ts';

/** Both halves go in and come out reduced; `pieceElements` is a half. Up one tree, up the other, down the one, down the
 * other: each stage waits for stages before it and for those of the same tree further out or in, never round in a circle.
 * A member adds its own part and those of its children in order of place.
 */
export function* treeAllReduce(
  circle: Circle,
  halves: readonly Elements[],
  reduce: 'sum' | 'max',
  take: TakePiece,
): Waiting {
  const { place } = circle;
  const base = yield* beginTogether(circle);
  const trees = twoTrees(circle.channels.length).map((parents) => ({
    parent: parents[place] ?? -1,
    children: parents.flatMap((parent, member) => (parent === place ? [member] : [])),
  }));
  for (const [half, { children }] of trees.entries()) {
    yield* addChildren(circle, half, halves[half]!, children, base + 1 + half, reduce);
    announce(circle);
  }
  for (const [half, { parent, children }] of trees.entries()) {
    if (parent < 0) {
      take(half, readPiece(circle, place, half));
    } else {
      yield* until(circle, parent, base + 1 + trees.length + half);
      const sum = pullPiece(circle, parent, half);
      if (children.length > 0) stagePiece(circle, half, sum);
      take(half, sum);
    }
    announce(circle);
  }
}

/** The sum of a subtree, in its root's staging; a child's is there when it has posted `count` stages. */
function* addChildren(
  circle: Circle,
  half: number,
  own: Elements,
  children: readonly number[],
  count: number,
  reduce: 'sum' | 'max',
): Waiting {
  const { place, wire, pieceElements, create, add } = circle;
  const [first, ...others] = children;
  if (first === undefined) return stagePiece(circle, half, own);
  const sum = wire.view ? readPiece(circle, place, half) : create(pieceElements);
  yield* until(circle, first, count);
  combineInto(sum, own, pullPiece(circle, first, half), reduce, add);
  for (const child of others) {
    yield* until(circle, child, count);
    combineInto(sum, sum, pullPiece(circle, child, half), reduce, add);
  }
  if (!wire.view) stagePiece(circle, half, sum);
}
