import { assertInvariant } from '../errors/index.ts';
import type { SplitCosts } from './split.ts';

/** {@link balancedSplit} for layers that differ: the exact smallest limit by greedy filling, then the evenest split
 * below it by dynamic programming. */
export function splitUnequal(costs: SplitCosts, chunks: number): number[] {
  const limit = smallestLimit(costs, chunks);
  return evenest(costs, chunks, limit);
}

/** The load of layers [from, to) as chunk `chunk` of `chunks`. One order of additions for all callers. */
function loadOf(costs: SplitCosts, sums: readonly number[], chunk: number, chunks: number, from: number, to: number) {
  const ends = (chunk === 0 ? costs.embed : 0) + (chunk === chunks - 1 ? costs.head : 0);
  return ends + ((sums[to] ?? 0) - (sums[from] ?? 0));
}

function prefixSums(layers: readonly number[]): readonly number[] {
  const sums = [0];
  let sum = 0;
  for (const cost of layers) {
    sum += cost;
    sums.push(sum);
  }
  return sums;
}

/** Bisects the limit, then steps down from one reached load to the next until none smaller is possible. */
function smallestLimit(costs: SplitCosts, chunks: number): number {
  const sums = prefixSums(costs.layers);
  let reached = fill(costs, sums, chunks, Number.POSITIVE_INFINITY, false);
  assertInvariant(reached !== undefined, () => `no split of ${costs.layers.length} layers into ${chunks}`);
  let below = 0;
  for (let round = 0; round < 60 && below < reached; round++) {
    const middle = below + (reached - below) / 2;
    const better = fill(costs, sums, chunks, middle, false);
    if (better === undefined) below = middle;
    else reached = better;
  }
  for (;;) {
    const better = fill(costs, sums, chunks, reached, true);
    if (better === undefined) return reached;
    reached = better;
  }
}

/** Fills chunks from the left as far as `limit` (below it when `strict`) allows and enough layers are left for the
 * rest. The largest load, or undefined when the layers do not fit. */
function fill(
  costs: SplitCosts,
  sums: readonly number[],
  chunks: number,
  limit: number,
  strict: boolean,
): number | undefined {
  const total = costs.layers.length;
  const fits = (load: number): boolean => (strict ? load < limit : load <= limit);
  let from = 0;
  let largest = 0;
  for (let chunk = 0; chunk < chunks; chunk++) {
    const most = total - (chunks - 1 - chunk);
    let to = chunk === chunks - 1 ? total : from + 1;
    if (!fits(loadOf(costs, sums, chunk, chunks, from, to))) return undefined;
    while (to < most && fits(loadOf(costs, sums, chunk, chunks, from, to + 1))) to += 1;
    largest = Math.max(largest, loadOf(costs, sums, chunk, chunks, from, to));
    from = to;
  }
  return largest;
}

/** The split with no load above `limit` and the smallest sum of squared loads; ties go to more layers on later chunks. */
function evenest(costs: SplitCosts, chunks: number, limit: number): number[] {
  const total = costs.layers.length;
  const sums = prefixSums(costs.layers);
  const width = total + 1;
  /** Best sum of squares of the chunks from `chunk` on when they start at a layer, and where the next one starts. */
  let after = new Float64Array(width).fill(Number.POSITIVE_INFINITY);
  after[total] = 0;
  const next = new Int32Array(chunks * width);
  for (let chunk = chunks - 1; chunk >= 0; chunk--) {
    const best = new Float64Array(width).fill(Number.POSITIVE_INFINITY);
    for (let from = chunk; from < total - (chunks - 1 - chunk); from++) {
      for (let to = from + 1; to <= total; to++) {
        const load = loadOf(costs, sums, chunk, chunks, from, to);
        if (load > limit) break;
        const squares = load * load + (after[to] ?? 0);
        if (squares >= (best[from] ?? 0)) continue;
        best[from] = squares;
        next[chunk * width + from] = to;
      }
    }
    after = best;
  }
  const split: number[] = [];
  for (let chunk = 0, from = 0; chunk < chunks; chunk++) {
    const to = next[chunk * width + from] ?? total;
    split.push(to - from);
    from = to;
  }
  return split;
}
