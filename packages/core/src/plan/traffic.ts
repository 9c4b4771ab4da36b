/** @file One row of traffic: the exchanges of one kind over one group, with their links. */
import {
  blockContext,
  contextGroupsOf,
  normGroup,
  type Replicas,
  replicaGroup,
  setsGroup,
  shardGroup,
} from '../compile/index.ts';
import type { Prices } from '../cost/index.ts';
import type { Job } from '../job/index.ts';
import type { Layout } from '../layout/index.ts';
import type { AxisName } from '../mesh/index.ts';
import type { ExchangeDetail } from './detail.ts';
import type { ShownTraffic } from './show-types.ts';
import { tiersOf } from './traffic-tiers.ts';

/** What exchanges of a layout send, over which links, and how long. */
export function trafficOf(job: Job, layout: Layout, row: ExchangeDetail, prices: Prices): ShownTraffic {
  const { axes, part } = groupOf(job, layout, row);
  const link = prices.linkOf(axes, row.over === 'ends' ? 'ends' : 'all', part);
  return {
    axis: row.axis,
    collective: row.kind,
    count: row.count,
    bytesPerRank: row.bytes,
    link: link.name,
    tiers: tiersOf(job.cluster, link, row.kind, row.bytes),
    crossesNode: link.crossesNode,
    seconds: row.seconds,
    exposedSeconds: row.exposedSeconds,
    blocking: row.exposedSeconds > row.seconds / 2,
  };
}

/** The ranks of an exchange: those of its axis, or of the group of the data or context axis that it names. */
function groupOf(job: Job, layout: Layout, { over, axis }: ExchangeDetail): Pick<Replicas, 'axes' | 'part'> {
  const kinds = [{}, { experts: true }] as const;
  const groups = kinds.flatMap((kind) => [
    replicaGroup(kind, layout),
    shardGroup(kind, layout),
    setsGroup(kind, layout),
  ]);
  const context = contextGroupsOf(blockContext(job, layout)).map(({ name, along, coordinates }): Replicas => {
    const [first = 0, second = first + 1] = coordinates;
    return { over: name, axes: [along], part: { count: coordinates.length, step: second - first } };
  });
  const named = [normGroup(layout, 'data'), ...groups, ...context];
  return named.find((each) => each.over === over) ?? { axes: [axis as AxisName] };
}
