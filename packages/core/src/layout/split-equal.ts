import type { SplitCosts } from './split.ts';

/** {@link balancedSplit} for layers that cost the same: each layer in turn goes to the stage that it loads least.
 *
 * Stages between the ends are alike, so they are counted as one pool: O(layers). */
export function splitEqual(costs: SplitCosts, cost: number, pipeline: number, chunks: number): number[] {
  const stages = countLayers(costs, cost, pipeline, chunks);
  const split = new Array<number>(pipeline * chunks).fill(0);
  stages.forEach((layers, stage) => {
    const extra = layers % chunks;
    for (let chunk = 0; chunk < chunks; chunk++) {
      // The last stage carries the head on its last chunk, so its earlier chunks take what is over; elsewhere the later
      // chunks do, whose micro-batches are in flight for a shorter time.
      const takes = stage === pipeline - 1 ? chunk < extra : chunk >= chunks - extra;
      split[chunk * pipeline + stage] = Math.floor(layers / chunks) + (takes ? 1 : 0);
    }
  });
  return split;
}

/** Layers of each stage, at least `chunks` each. */
function countLayers(costs: SplitCosts, cost: number, pipeline: number, chunks: number): readonly number[] {
  const total = costs.layers.length;
  if (pipeline === 1) return [total];
  const between = pipeline - 2;
  let first = chunks;
  let last = chunks;
  /** Every stage between the ends has `level` layers, `above` of them one more. */
  let level = chunks;
  let above = 0;
  for (let left = total - pipeline * chunks; left > 0; left--) {
    const onFirst = costs.embed + first * cost;
    const onLast = costs.head + last * cost;
    if (between > 0 && level * cost <= onFirst && level * cost <= onLast) {
      above += 1;
      if (above === between) {
        level += 1;
        above = 0;
      }
    } else if (onLast <= onFirst) last += 1;
    else first += 1;
  }
  const middle = Array.from({ length: between }, (_, index) => level + (index >= between - above ? 1 : 0));
  return [first, ...middle, last];
}
