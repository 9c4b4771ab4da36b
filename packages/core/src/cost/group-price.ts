/** @file What a group of ranks pays on each tier of links: computed once per group, used by plain arithmetic. */
import { addsInSwitch, type ClusterSpec } from '../cluster/index.ts';
import { type Mesh, worldSize } from '../mesh/index.ts';
import { type CurveTerms, type DomainTerms, domainTerms, sendTerms } from './curves.ts';
import { fabricShare } from './fabric-share.ts';
import { type GroupAxes, groupAxes, type PartOfAxis, sendLeaves, spreadOver } from './group-shape.ts';

/** A group: ranks = inDomain x inNode x islands where it tiles its blocks.
 *
 * Rates are bytes per second of one rank and direction while every group of the same axes runs, latencies seconds per
 * step.
 */
export interface GroupPrice {
  readonly ranks: number;
  /** Members in one link domain. */
  readonly inDomain: number;
  /** Domains of the group in one node, joined by PCIe. */
  readonly inNode: number;
  /** Nodes, or domains larger than a node. */
  readonly islands: number;
  readonly crossesNode: boolean;
  readonly domain: DomainTerms;
  readonly pcieRate: number;
  /** The same for exchanges in which every rank sends out of its uplink. */
  readonly pcieOutRate: number;
  readonly pcieLatency: number;
  readonly netRate: number;
  /** The same for exchanges in which every rank sends to all others. */
  readonly netOutRate: number;
  readonly netLatency: number;
  /** Device seconds before the first byte when no member shares a domain. */
  readonly start: number;
  /** Of one rank into its domain, as stated; whether the domain's switches add up. */
  readonly insideRate: number;
  readonly insideLatency: number;
  readonly addsInSwitch: boolean;
  /** Bytes per second of one ring over all members. */
  readonly flatRate: number;
  readonly flatLatency: number;
  readonly send: CurveTerms;
}

/** Terms of a cluster that no mesh changes. */
export interface ClusterTerms {
  readonly cluster: ClusterSpec;
  domainOf(ranks: number): DomainTerms;
  readonly send: CurveTerms;
  readonly pcieFull: number;
  /** A rank's share of its NIC. */
  readonly netShare: number;
}

export function clusterTerms(cluster: ClusterSpec): ClusterTerms {
  const { intra, pcie, inter } = cluster;
  const known = new Map<number, DomainTerms>();
  const wire = (inter.rate.value * inter.efficiency.value) / inter.gpusPerNic;
  return {
    cluster,
    domainOf(ranks) {
      const found = known.get(ranks) ?? domainTerms(intra, ranks);
      known.set(ranks, found);
      return found;
    },
    send: sendTerms(intra),
    pcieFull: pcie.bandwidth.value * pcie.efficiency.value,
    netShare: wire,
  };
}

/** The prices of the groups of `mask` under `mesh`; groups that leave their uplink share it with their neighbours. */
export function groupPrice(terms: ClusterTerms, mesh: Mesh, mask: number, part?: PartOfAxis): GroupPrice {
  const { intra, pcie, inter, gpusPerNode } = terms.cluster;
  const group = groupAxes(mesh, mask, part);
  const world = worldSize(mesh);
  const inDomain = spreadOver(group, intra.gpus, world);
  const inNode = spreadOver(group, gpusPerNode, world);
  const hasPcieTier = intra.gpus < gpusPerNode;
  const domains = hasPcieTier ? Math.max(1, Math.ceil(inNode.members / inDomain.members)) : 1;
  const islands = hasPcieTier ? inNode.blocks : inDomain.blocks;
  const uplink = uplinkFlows(terms.cluster, group, world, inDomain.members);
  const pcieRate = terms.pcieFull / uplink.ring;
  const groupsOfNode = gpusPerNode / inNode.members;
  const flatWire =
    inter.rate.value * inter.efficiency.value * Math.min(1, gpusPerNode / inter.gpusPerNic / groupsOfNode);
  const start = terms.send.alpha;
  const fabric = fabricShare(terms.cluster, group, world, islands > 1 ? group.ranks / islands : group.ranks);
  const partial = {
    ranks: group.ranks,
    inDomain: inDomain.members,
    inNode: domains,
    islands,
    crossesNode: inNode.blocks > 1,
    domain: terms.domainOf(inDomain.members),
    pcieRate,
    pcieOutRate: terms.pcieFull / uplink.out,
    pcieLatency: pcie.latency.value,
    netRate: terms.netShare / fabric.ring,
    netOutRate: terms.netShare / fabric.out,
    netLatency: inter.latency.value,
    start,
    insideRate: intraRate(terms.cluster),
    insideLatency: intra.latency.value,
    addsInSwitch: addsInSwitch(terms.cluster),
    flatRate: islands > 1 ? flatWire / fabric.ring : domains > 1 ? pcieRate : intraRate(terms.cluster),
    flatLatency: islands > 1 ? inter.latency.value : domains > 1 ? pcie.latency.value : intra.latency.value,
  };
  return { ...partial, send: sendPrice(terms, group, partial.pcieOutRate, terms.netShare / fabric.send) };
}

const intraRate = ({ intra }: ClusterSpec): number => intra.bandwidth.value * intra.efficiency.value;

interface UplinkFlows {
  /** Flows that share an uplink when the groups run rings. */
  readonly ring: number;
  /** And when every rank sends out. */
  readonly out: number;
}

function uplinkFlows(cluster: ClusterSpec, group: GroupAxes, world: number, inDomain: number): UplinkFlows {
  const { gpusPerNode, pcie } = cluster;
  const size = Math.min(gpusPerNode, pcie.gpusPerUplink.value);
  const block = spreadOver(group, size, world);
  if (block.blocks === 1) return { ring: 1, out: 1 };
  const first = group.strides[0] ?? 1;
  return { ring: size / Math.max(1, block.members / inDomain), out: Math.max(1, Math.min(size, first)) };
}

/** A message to the next coordinate, over the slowest link that a neighbour pair needs. */
function sendPrice(terms: ClusterTerms, group: GroupAxes, pcieOutRate: number, netRate: number): CurveTerms {
  const { intra, pcie, inter, gpusPerNode } = terms.cluster;
  const stride = group.strides[0] ?? 1;
  const degree = group.degrees[0] ?? 1;
  const island = Math.max(intra.gpus, gpusPerNode);
  const over = (latency: number, rate: number): CurveTerms => ({
    alpha: terms.send.alpha + latency,
    perByte: 1 / rate,
    perRootByte: 0,
  });
  if (sendLeaves(stride, degree, island)) return over(inter.latency.value, netRate);
  if (sendLeaves(stride, degree, intra.gpus)) return over(pcie.latency.value, pcieOutRate);
  return terms.send;
}
