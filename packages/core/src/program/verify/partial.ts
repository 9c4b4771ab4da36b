/** @file Sets of partial states: what must still be reduced, and over which axes. A set is sorted and has no doubles. */
import type { Degrees, Dim } from '../../tensor/index.ts';
import type { PartialState } from '../types.ts';

/** What must still be reduced; empty for a complete value. */
export type PartialSet = readonly PartialState[];

export const complete: PartialSet = [];

export const partialOver = (over: string, reduce: PartialState['reduce'] = 'sum'): PartialState => ({ over, reduce });

export function union(left: PartialSet, right: PartialSet): PartialSet {
  if (right.length === 0) return left;
  if (left.length === 0) return right;
  const added = right.filter((each) => !left.some((other) => same(each, other)));
  return added.length === 0 ? left : sorted([...left, ...added]);
}

export const without = (set: PartialSet, over: string): PartialSet => set.filter((each) => each.over !== over);

export const equal = (left: PartialSet, right: PartialSet): boolean =>
  left.length === right.length && left.every((each) => right.some((other) => same(each, other)));

export const sorted = (set: PartialSet): PartialSet => [...set].sort((a, b) => (a.over < b.over ? -1 : 1));

/** `the sum over tensor and data`, `complete`. */
export function wordsOf(set: PartialSet): string {
  if (set.length === 0) return 'complete';
  return set.map(({ over, reduce }) => `partial (${reduce}) over ${over}`).join(' and ');
}

const same = (left: PartialState, right: PartialState): boolean =>
  left.over === right.over && left.reduce === right.reduce;

/** The axes that really cut a dim: those with more than one rank. */
export function cutOf(dim: Dim, degrees: Degrees): readonly string[] {
  return dim.cut === undefined ? [] : dim.cut.filter((axis) => degrees(axis) > 1);
}

export const sameAxes = (left: readonly string[], right: readonly string[]): boolean =>
  left.length === right.length && left.every((axis, index) => axis === right[index]);

/** `cut over tensor`, `whole`. */
export const cutWords = (cut: readonly string[]): string => (cut.length === 0 ? 'whole' : `cut over ${cut.join(', ')}`);
