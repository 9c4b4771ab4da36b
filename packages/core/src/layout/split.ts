/** @file Splits a row of layers over stages so that the slowest is as fast as can be. */
import { assertInvariant } from '../errors/index.ts';
import { splitEqual } from './split-equal.ts';
import { splitUnequal } from './split-unequal.ts';

/** Work of each layer and of the two ends, in one unit of the caller's choice; at least 0 and finite. */
export interface SplitCosts {
  readonly layers: readonly number[];
  /** Work before the first layer, on the first chunk. */
  readonly embed: number;
  /** Work after the last layer (final norm, head, loss), on the last chunk. */
  readonly head: number;
}

/** Layers of each of `pipeline * chunks` chunks in model order, at least 1 each, frozen.
 *
 * Chunk c of stage i stands at c * pipeline + i. The slowest *stage* (the sum of its chunks) is minimal, exactly, when
 * all layers cost the same or `chunks` is 1. Layers that differ and several chunks: the slowest *chunk* is minimal.
 * Among the splits that reach it: the most even (smallest sum of squared loads), then fewer layers at the ends, then
 * fewer on earlier stages, which hold more micro-batches.
 */
export function balancedSplit(costs: SplitCosts, pipeline: number, chunks = 1): readonly number[] {
  const { layers } = costs;
  assertInvariant(
    pipeline >= 1 && chunks >= 1 && pipeline * chunks <= layers.length,
    () => `${layers.length} layers cannot be split into ${pipeline} x ${chunks} chunks`,
  );
  const [first = 0] = layers;
  const equal = layers.every((cost) => cost === first);
  const split = equal ? splitEqual(costs, first, pipeline, chunks) : splitUnequal(costs, pipeline * chunks);
  return Object.freeze(split);
}

/** Every layer costs 1 and the ends nothing: the split of those who have no prices. */
export const equalCosts = (layers: number): SplitCosts => ({
  layers: new Array<number>(layers).fill(1),
  embed: 0,
  head: 0,
});
