/** @file What the instances of one list hold while its operations are walked: cuts of buckets over data, partial states. */
import type { Degrees } from '../../tensor/index.ts';
import type { Instance } from '../expand.ts';
import type { Bucket, RankList, View } from '../types.ts';
import { complete, cutOf, type PartialSet } from './partial.ts';

/** A plain buffer: one partial state. */
export interface PlainState {
  readonly kind: 'plain';
  partial: PartialSet;
  /** Which pieces are there, where it is written piece by piece. */
  pieces?: { readonly written: ReadonlySet<number>; readonly of: number };
}

/** A flat bucket: which axes cut it now, and for gradients the partial state of each parameter that is written. */
export interface BucketState {
  readonly kind: 'bucket';
  cut: readonly string[];
  readonly views: Map<View, PartialSet>;
  /** Something was said of it already. */
  reported?: true;
}

export interface States {
  readonly plain: Map<string, PlainState>;
  readonly buckets: Map<string, BucketState>;
  readonly bucketOf: (instance: Instance) => Bucket | undefined;
}

/** The states at the start of a period: `carried` holds those of resident weights and optimizer state, by name. */
export function createStates(
  list: RankList,
  carried: ReadonlyMap<string, readonly string[]>,
  degrees: Degrees,
): States {
  const named = new Map(list.buckets.map((bucket) => [bucket.name, bucket]));
  const buckets = new Map<string, BucketState>();
  for (const { name, role, resident, dims } of list.buffers) {
    if (!resident || (role !== 'weight' && role !== 'optimizer')) continue;
    const [flat] = dims;
    const cut = carried.get(name) ?? (flat ? cutOf(flat, degrees) : []);
    buckets.set(name, { kind: 'bucket', cut, views: new Map() });
  }
  return { plain: new Map(), buckets, bucketOf: ({ declaration }) => named.get(declaration.bucket ?? '') };
}

/** What a period hands to the next. */
export function carriedStates(list: RankList, states: States): ReadonlyMap<string, readonly string[]> {
  const names = list.buffers.filter(({ resident }) => resident).map(({ name }) => name);
  return new Map(names.map((name) => [name, states.buckets.get(name)?.cut ?? []]));
}

/** The cut that a flat bucket is declared with. */
export const declaredCut = ({ declaration }: Instance, degrees: Degrees): readonly string[] => {
  const [flat] = declaration.dims;
  return flat === undefined ? [] : cutOf(flat, degrees);
};

export const isBucket = ({ declaration }: Instance): boolean => declaration.bucket !== undefined;

/** The parameters that an operand covers: its own, those in the leading slice, or all of the bucket. */
export function coveredViews(bucket: Bucket, operand: { view?: View; slice?: 'summed' }): readonly View[] {
  if (operand.view) return [operand.view];
  return operand.slice === undefined ? bucket.views : bucket.views.filter(({ offset }) => offset < bucket.summed);
}

/** Parameters by what `key` says of them; those of which it says nothing are left out. */
export function groupViews(
  views: readonly View[],
  key: (view: View) => string | undefined,
): ReadonlyMap<string, readonly View[]> {
  const groups = new Map<string, View[]>();
  for (const view of views) {
    const name = key(view);
    if (name !== undefined) groups.set(name, [...(groups.get(name) ?? []), view]);
  }
  return groups;
}

/** `ln1.w, ln1.b and 4 more in G.body`. */
export function viewWords(views: readonly View[], { name }: Instance): string {
  const names = [...new Set(views.map((view) => view.name))];
  const more = names.length > 3 ? ` and ${names.length - 2} more` : '';
  return `${names.slice(0, more === '' ? 3 : 2).join(', ')}${more} in ${name}`;
}

export const plainState = (partial: PartialSet = complete): PlainState => ({ kind: 'plain', partial });
