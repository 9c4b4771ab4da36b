/** @file Warnings about exchanges whose messages are too small: their time is steps that wait for each other, not bytes.
 *
 * A ring of N ranks takes 2 (N-1) a + 2 (N-1)/N S/B for an all-reduce: the steps rule below S = N a B. The share is read
 * from the prices: what the same exchange takes without bytes, over what it takes.
 */
import type { ExchangeRequest, Prices } from '../../cost/index.ts';
import { type Issue, warning } from '../../errors/index.ts';
import type { AxisName } from '../../mesh/index.ts';
import { formatShare } from '../../units/index.ts';
import type { ShownTraffic } from '../show-types.ts';
import { thresholds } from '../thresholds.ts';
import type { Judged } from './judged.ts';

const rings: readonly string[] = ['all-reduce', 'all-gather', 'reduce-scatter'];
/** Bytes that a rank sends of a joint scalar to each other rank. */
const SCALAR = 4;

export function latencyWarnings(judged: Judged): readonly Issue[] {
  const { traffic, prices, seconds, layout } = judged;
  const axes = [...new Set(traffic.map((row) => row.axis))].filter((axis) => axis !== 'pipeline');
  return axes.flatMap((axis): readonly Issue[] => {
    const rows = traffic.filter((row) => row.axis === axis && rings.includes(row.collective));
    const { ranks } = prices.linkOf([axis as AxisName]);
    const large = rows.filter(({ bytesPerRank, count }) => bytesPerRank / count > SCALAR * ranks);
    const total = sum(large, (row) => row.seconds);
    if (total < thresholds.relevantShare * seconds || total === 0) return [];
    const share = Math.min(1, sum(large, (row) => row.count * latencyOf(prices, row)) / total);
    if (share <= thresholds.latencyShare) return [];
    const count = Math.round(sum(large, (row) => row.count));
    const values = { latencyShare: share, exchanges: count, ranks };
    const what = `${formatShare(share)} of the time of its ${count} exchanges over ${ranks} ranks is latency, above ${formatShare(thresholds.latencyShare)}.`;
    if (axis === 'data' && layout.sharding === 3) {
      const fix = 'Gather several blocks as one unit, or shard over fewer ranks.';
      return [warning('UNITS_TOO_SMALL', 'layout.sharding', what, fix, values)];
    }
    const fix =
      axis === 'data'
        ? 'Use larger buckets, fewer data ranks, or an algorithm of few steps (tree, in-switch).'
        : 'Use fewer ranks on this axis, or larger micro-batches.';
    return [warning('RING_LATENCY_BOUND', `layout.${axis}`, what, fix, values)];
  });
}

/** What one exchange of the row takes before its first byte. */
const latencyOf = (prices: Prices, { axis, collective }: ShownTraffic): number =>
  prices.exchange({
    kind: collective as ExchangeRequest['kind'],
    algorithm: 'ring',
    bytes: 0,
    axes: [axis as AxisName],
  });

const sum = <Row>(rows: readonly Row[], of: (row: Row) => number): number =>
  rows.reduce((total, row) => total + of(row), 0);
