/** @file Which parameters of a program are trained, and so which gradients its blocks owe.
 *
 * The law: what lies in a frozen bucket has no gradient. A block hands on the gradient of its input when something below
 * it is trained; where nothing is frozen, always.
 */
import { blocksOf } from '../expand.ts';
import type { Program, Template } from '../types.ts';

/** Says of a name that a forward reads from outside whether it is owed a gradient; `x` is the input of the block. */
export type IsTrained = (name: string) => boolean;

/** What is trained as seen by the block whose forward templates are given. */
export function trainedIn({ lists }: Program, forward: readonly Template[]): IsTrained {
  const buckets = lists.flatMap((list) => list.buckets);
  if (buckets.every(({ frozen }) => !frozen)) return () => true;
  const trained = buckets.filter(({ frozen }) => !frozen).flatMap(({ views }) => views);
  const names = new Set(trained.map(({ name }) => name));
  const templates = new Set(forward.map(({ name }) => name));
  const blocks = lists
    .flatMap(({ items }) => items)
    .flatMap((item) => (item.kind === 'call' && templates.has(item.template) ? blocksOf(item) : []));
  const lowest = blocks.reduce((least, block) => Math.min(least, block), Number.POSITIVE_INFINITY);
  const passes = trained.some(({ block }) => block < lowest);
  return (name) => (name === 'x' ? passes : names.has(name));
}
