/** @file Time of an exchange that runs alone on its links, while all groups of the same axes run it.
 *
 * A group that spans tiers of links works on all of them at once, in pieces: on the tier outside of k ranks each rank
 * carries 1/k of the bytes. Latencies add up; of the transfers the slowest counts whole and the others by
 * {@link TIER_OVERLAP} (accuracy notes, section 6).
 */
import { algorithms, type CollectiveKind } from '../collectives/index.ts';
import { assertUnreachable } from '../errors/index.ts';
import { atCurve, type CurveTerms } from './curves.ts';
import { allToAllShares, type Dispatch } from './dispatch.ts';
import type { GroupPrice } from './group-price.ts';
import type { ExchangeAlgorithm, ExchangeRequest } from './price-types.ts';

/** Share of the faster tier's transfer that does not hide behind the slower one's. Assumed, 0 to 1. */
export const TIER_OVERLAP = 0.15;

/** Seconds of transfers on up to three tiers at once. */
export function joinedTransfers(inside: number, node: number, between: number): number {
  const slowest = Math.max(inside, node, between);
  return slowest + TIER_OVERLAP * (inside + node + between - slowest);
}

/** Seconds of `request` over `group`; `dispatch` says how an all-to-all of tokens travels. */
export function exchangeTime(group: GroupPrice, request: ExchangeRequest, dispatch?: Dispatch): number {
  const { kind, algorithm, bytes } = request;
  if (group.ranks <= 1) return 0;
  if (kind === 'send') return atCurve(group.send, bytes);
  if (algorithm === 'direct' && kind !== 'all-to-all') return directTime(group, kind === 'all-reduce', bytes);
  if (algorithm === 'flat-ring' && kind !== 'all-to-all') return flatTime(group, kind === 'all-reduce' ? 2 : 1, bytes);
  switch (kind) {
    case 'all-reduce':
      return tiersTime(group, group.domain.allReduce, kind, algorithm, bytes);
    case 'all-gather':
      return tiersTime(group, group.domain.allGather, kind, 'ring', bytes);
    case 'reduce-scatter':
      return tiersTime(group, group.domain.reduceScatter, kind, 'ring', bytes);
    case 'broadcast':
      return tiersTime(group, group.domain.broadcast, kind, algorithm, bytes);
    case 'all-to-all':
      return allToAllTime(group, bytes, dispatch);
    default:
      return assertUnreachable(kind);
  }
}

function tiersTime(
  group: GroupPrice,
  inside: CurveTerms,
  kind: CollectiveKind,
  algorithm: ExchangeAlgorithm,
  bytes: number,
): number {
  const { inDomain, inNode, islands } = group;
  const { ring, tree } = algorithms;
  let latency = group.start;
  let near = 0;
  let node = 0;
  let between = 0;
  if (inDomain > 1) {
    latency = inside.alpha;
    near = bytes * inside.perByte + Math.sqrt(bytes) * inside.perRootByte;
  }
  let share = bytes / inDomain;
  if (inNode > 1) {
    latency += ring.steps(kind, inNode) * group.pcieLatency;
    node = ring.bytesSent(kind, share, inNode) / group.pcieRate;
    share /= inNode;
  }
  if (islands > 1) {
    let hops = ring.steps(kind, islands) * group.netLatency;
    between = ring.bytesSent(kind, share, islands) / group.netRate;
    const other = algorithm === 'halving-doubling' ? algorithms[algorithm] : tree;
    if (algorithm === 'auto' || algorithm === other.name) {
      const otherHops = other.steps(kind, islands) * group.netLatency;
      const otherTransfer = other.bytesSent(kind, share, islands) / group.netRate;
      if (algorithm === other.name || otherHops + otherTransfer < hops + between) {
        hops = otherHops;
        between = otherTransfer;
      }
    }
    latency += hops;
  }
  return latency + joinedTransfers(near, node, between);
}

/** Peers in the domain at its curve, peers beyond at the rank's share of the slower links. */
function allToAllTime(group: GroupPrice, bytes: number, dispatch: Dispatch | undefined): number {
  const { inDomain, inNode, islands } = group;
  const shares = allToAllShares(group, dispatch);
  let latency = group.start;
  let near = 0;
  let node = 0;
  let between = 0;
  if (inDomain > 1) {
    const inside = group.domain.allToAll;
    // The curve is of a buffer of which the rank keeps its own piece.
    const here = (bytes * shares.inside * inDomain) / (inDomain - 1);
    latency = inside.alpha;
    near = here * inside.perByte + Math.sqrt(here) * inside.perRootByte;
  }
  if (inNode > 1) {
    latency += Math.ceil(Math.log2(inNode)) * group.pcieLatency;
    node = (bytes * shares.node) / group.pcieOutRate;
  }
  if (islands > 1) {
    latency += Math.ceil(Math.log2(islands)) * group.netLatency;
    between = (bytes * Math.max(0, shares.between)) / group.netOutRate;
  }
  return latency + joinedTransfers(near, node, between);
}

/** One step to all others; for scalars, where the time is latency. */
function directTime(group: GroupPrice, everything: boolean, bytes: number): number {
  const { inDomain, inNode, islands, ranks } = group;
  const sent = algorithms.direct.bytesSent(everything ? 'all-reduce' : 'all-gather', bytes, ranks);
  const latency =
    (inDomain > 1 ? group.domain.allReduce.alpha : group.start) +
    (inNode > 1 ? group.pcieLatency : 0) +
    (islands > 1 ? group.netLatency : 0);
  const rate = islands > 1 ? group.netOutRate : inNode > 1 ? group.pcieOutRate : group.flatRate;
  return latency + sent / rate;
}

/** One ring over all members: every step waits for the slowest link. */
const flatTime = (group: GroupPrice, passes: number, bytes: number): number =>
  group.start + passes * (group.ranks - 1) * (bytes / group.ranks / group.flatRate + group.flatLatency);
