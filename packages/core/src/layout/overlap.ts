/** @file Which exchanges run beside compute: what a framework lets, what can be chosen, and where a choice has an effect. */
import { type LayoutJob, profileOf } from './job.ts';
import type { Layout, Overlapped } from './types.ts';

/** All that a layout can name, in this order. */
export const overlapKinds: readonly Overlapped[] = ['data', 'parameters', 'pipeline'];

/** One list for each choice, so that equal choices are one object. */
const lists: readonly (readonly Overlapped[])[] = Array.from({ length: 2 ** overlapKinds.length }, (_, bits) =>
  Object.freeze(overlapKinds.filter((_kind, at) => ((bits >> at) & 1) === 1)),
);

/** The kinds in their order, each once. */
export const overlapOf = (kinds: Iterable<string>): readonly Overlapped[] => {
  const named = new Set(kinds);
  const bits = overlapKinds.reduce((sum, kind, at) => sum + (named.has(kind) ? 2 ** at : 0), 0);
  return lists[bits] as readonly Overlapped[];
};

/** What runs beside compute when nobody chooses. Units of sharding 3 always may: how far ahead, says `prefetch`. */
export function defaultOverlap(job: LayoutJob, sharding: Layout['sharding']): readonly Overlapped[] {
  const habits = profileOf(job).overlap.value;
  return overlapOf(overlapKinds.filter((kind) => habits[kind] || (kind === 'parameters' && sharding === 3)));
}

/** The choice as far as it changes something; the rest is the framework's. One replica reduces nothing; what is not sharded is
 * not gathered, and how far units of sharding 3 are ahead says `prefetch`; one stage sends nothing.
 */
export function overlapWithEffect(
  job: LayoutJob,
  replicas: number,
  { sharding, pipeline, overlap }: Pick<Layout, 'sharding' | 'pipeline' | 'overlap'>,
): readonly Overlapped[] {
  const usual = defaultOverlap(job, sharding);
  const matters: Readonly<Record<Overlapped, boolean>> = {
    data: replicas > 1,
    parameters: sharding === 1 || sharding === 2,
    pipeline: pipeline > 1,
  };
  return overlapOf(overlapKinds.filter((kind) => (matters[kind] ? overlap : usual).includes(kind)));
}

/** Units that may be gathered ahead: none where gathers of parameters hold up what comes next. */
export const prefetchWithEffect = ({ prefetch, overlap }: Pick<Layout, 'prefetch' | 'overlap'>): number =>
  overlap.includes('parameters') ? prefetch : 0;
