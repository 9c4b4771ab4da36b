/** @file One row of traffic: the exchanges of one kind over one group, with their links. */
import type { Prices } from '../cost/index.ts';
import type { Job } from '../job/index.ts';
import type { AxisName } from '../mesh/index.ts';
import type { ExchangeDetail } from './detail.ts';
import type { ShownTraffic } from './show-types.ts';
import { tiersOf } from './traffic-tiers.ts';

/** What exchanges of a layout send, over which links, and how long. */
export function trafficOf({ cluster }: Job, row: ExchangeDetail, prices: Prices): ShownTraffic {
  // Replicas are booked on data and lie on context too.
  const axes: readonly AxisName[] = row.over === 'replicas' ? ['data', 'context'] : [row.axis as AxisName];
  const link = prices.linkOf(axes, row.over === 'ends' ? 'ends' : 'all');
  return {
    axis: row.axis,
    collective: row.kind,
    count: row.count,
    bytesPerRank: row.bytes,
    link: link.name,
    tiers: tiersOf(cluster, link, row.kind, row.bytes),
    crossesNode: link.crossesNode,
    seconds: row.seconds,
    exposedSeconds: row.exposedSeconds,
    blocking: row.exposedSeconds > row.seconds / 2,
  };
}
