/** @file Where in the model something lies: its parameters in a row, block after block, as shares of one. */
import type { Bucket, Program, RankList, View } from '@meshwright/core/program';
import { globalElements } from '@meshwright/core/tensor';

/** A stretch of the model, from and to in [0, 1]. */
export type Stretch = readonly [from: number, to: number];

/** Places of parameters and blocks. */
export interface ModelMap {
  /** Global parameters, copies counted once. */
  readonly parameters: number;
  /** Stretches of the parameters of a bucket, joined where they touch. */
  ofBucket(bucket: Bucket): readonly Stretch[];
  /** The stretch of a block; an empty one for a block without parameters of its own. */
  ofBlock(block: number): Stretch;
}

/** The map of the model that a program trains. */
export function modelMap(program: Program): ModelMap {
  const sizes = new Map<string, { readonly block: number; readonly size: number }>();
  for (const list of program.lists) {
    for (const view of list.buckets.flatMap((bucket) => bucket.views)) {
      if (isCopy(view, list) || sizes.has(keyOf(view))) continue;
      sizes.set(keyOf(view), { block: view.block, size: globalElements(view.dims) });
    }
  }
  const parameters = [...sizes.values()].reduce((sum, each) => sum + each.size, 0);
  const places = new Map<string, Stretch>();
  const blocks = new Map<number, Stretch>();
  let from = 0;
  for (const [key, { block, size }] of [...sizes].sort(([, one], [, other]) => one.block - other.block)) {
    const to = from + size / parameters;
    places.set(key, [from, to]);
    blocks.set(block, [blocks.get(block)?.[0] ?? from, to]);
    from = to;
  }
  return {
    parameters,
    ofBucket: (bucket) => joined(bucket.views.flatMap((view) => optional(places.get(keyOf(view))))),
    ofBlock: (block) => blocks.get(block) ?? (block < 0 ? [0, 0] : [1, 1]),
  };
}

const keyOf = ({ block, name }: View): string => `${block}:${name}`;

/** A tied matrix counts on the first stage and is a copy on the last. */
const isCopy = ({ counted }: View, { pipeline }: RankList): boolean =>
  counted.some(({ axis, coordinate }) => axis === 'pipeline' && coordinate !== pipeline);

const TOUCHING = 1e-9;

/** Stretches in order, those that touch as one. */
export function joined(stretches: readonly Stretch[]): readonly Stretch[] {
  const result: [number, number][] = [];
  for (const [from, to] of [...stretches].sort((one, other) => one[0] - other[0])) {
    const last = result.at(-1);
    if (last && from <= last[1] + TOUCHING) last[1] = Math.max(last[1], to);
    else result.push([from, to]);
  }
  return result;
}

const optional = <T>(value: T | undefined): readonly T[] => (value === undefined ? [] : [value]);
