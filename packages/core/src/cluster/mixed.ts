/** @file A cluster of several groups of nodes, priced as one: ranks step together, so the slowest of every number counts.
 *
 * That is exact where all groups do the same work (data, tensor, context and expert ranks wait for each other in every
 * step), and too slow where a pipeline puts whole stages on equal nodes and gives the slow ones fewer layers: the
 * assumptions of the prices say so. What cannot be one mesh of equal nodes is refused.
 */
import { type Issue, issue } from '../errors/index.ts';
import { halfProducts } from './devices.ts';
import { freezeDeep } from './fact.ts';
import type { ClusterResult } from './read.ts';
import type { ClusterPart, ClusterSpec, DeviceSpec, Fact, GemmModel, HostSpec } from './types.ts';

/** One cluster of all groups, with the numbers of the slowest; `clusters` in order of rank, at least one. */
export function mixedCluster(clusters: readonly ClusterSpec[], path: string): ClusterResult {
  const [first, ...others] = clusters;
  if (first === undefined || others.length === 0) return { ...(first && { cluster: first }), issues: [] };
  const issues = others.flatMap((each) => unlike(first, each, path));
  if (issues.length > 0) return { issues };
  const least = (rate: (cluster: ClusterSpec) => number): ClusterSpec =>
    clusters.reduce((slowest, each) => (rate(each) < rate(slowest) ? each : slowest));
  const parts = clusters.map(partOf);
  const slowest = Math.min(...clusters.map(({ device }) => speedOf(device)));
  return {
    issues,
    cluster: freezeDeep({
      name: clusters.map((each) => each.name).join(' + '),
      preset: first.preset,
      nodes: clusters.reduce((sum, { nodes }) => sum + nodes, 0),
      gpusPerNode: first.gpusPerNode,
      device: slowestDevice(clusters.map(({ device }) => device)),
      intra: least(({ intra }) => intra.bandwidth.value * intra.efficiency.value).intra,
      pcie: least(({ pcie }) => (pcie.bandwidth.value * pcie.efficiency.value) / pcie.gpusPerUplink.value).pcie,
      inter: least(({ inter }) => (inter.rate.value * inter.efficiency.value) / inter.gpusPerNic).inter,
      host: slowestHost(clusters.map(({ host }) => host)),
      parts: parts.map((part, index) => ({ ...part, speed: speedOf((clusters[index] ?? first).device) / slowest })),
      degraded: [],
    }),
  };
}

const partOf = ({ nodes, preset, device }: ClusterSpec): Omit<ClusterPart, 'speed'> => ({
  nodes,
  preset,
  device: device.name,
});

/** What keeps two groups from being equal nodes of one mesh. */
function unlike(first: ClusterSpec, other: ClusterSpec, path: string): readonly Issue[] {
  const issues: Issue[] = [];
  const refuse = (message: string, hint: string): void => {
    issues.push(issue('NODES_NOT_ALIKE', path, message, hint));
  };
  if (first.gpusPerNode !== other.gpusPerNode) {
    refuse(
      `nodes of ${first.gpusPerNode} and of ${other.gpusPerNode} devices cannot hold one mesh.`,
      `Set gpusPerNode to ${Math.min(first.gpusPerNode, other.gpusPerNode)} in both groups, or plan them apart.`,
    );
  } else if (first.intra.gpus !== other.intra.gpus) {
    refuse(
      `link domains of ${first.intra.gpus} and of ${other.intra.gpus} devices cannot hold one mesh.`,
      'Give both groups the same intra, or plan them apart.',
    );
  }
  if (vendorOf(first.device) !== vendorOf(other.device)) {
    refuse(
      `${first.device.name} and ${other.device.name} have no library of collectives in common.`,
      'Plan them apart.',
    );
  }
  return issues;
}

const vendorOf = ({ generation }: DeviceSpec): string =>
  generation.startsWith('cdna') ? 'RCCL' : generation === 'tpu' ? 'XLA' : 'NCCL';

/** FLOP/s that long products keep up. */
function speedOf(device: DeviceSpec): number {
  const { peak, efficiency } = halfProducts(device);
  return peak.value * efficiency.value * device.sustained.value;
}

function slowestDevice(devices: readonly DeviceSpec[]): DeviceSpec {
  const base = devices.reduce((slowest, each) => (speedOf(each) < speedOf(slowest) ? each : slowest));
  const slower = (model: (device: DeviceSpec) => GemmModel | undefined): GemmModel | undefined => {
    const models = devices.map(model);
    if (models.includes(undefined)) return undefined;
    return (models as readonly GemmModel[]).reduce((a, b) => (rateOf(b) < rateOf(a) ? b : a));
  };
  const names = [...new Set(devices.map(({ name }) => name))];
  return {
    ...base,
    name: names.join(' and '),
    gemm: {
      fp32: slower(({ gemm }) => gemm.fp32) ?? base.gemm.fp32,
      fp16: slower(({ gemm }) => gemm.fp16),
      bf16: slower(({ gemm }) => gemm.bf16),
      fp8: slower(({ gemm }) => gemm.fp8),
    },
    memoryNominal: leastOf(devices.map(({ memoryNominal }) => memoryNominal)),
    memory: leastOf(devices.map(({ memory }) => memory)),
    memoryBandwidth: leastOf(devices.map(({ memoryBandwidth }) => memoryBandwidth)),
  };
}

const rateOf = ({ peak, efficiency }: GemmModel): number => peak.value * efficiency.value;

const slowestHost = (hosts: readonly HostSpec[]): HostSpec => ({
  memory: leastOf(hosts.map(({ memory }) => memory)),
  memoryBandwidth: leastOf(hosts.map(({ memoryBandwidth }) => memoryBandwidth)),
  copyBandwidth: leastOf(hosts.map(({ copyBandwidth }) => copyBandwidth)),
  gpusPerUplink: hosts.map(({ gpusPerUplink }) => gpusPerUplink).reduce((a, b) => (b.value > a.value ? b : a)),
});

const leastOf = (facts: readonly Fact[]): Fact =>
  facts.reduce((least, each) => (each.value < least.value ? each : least));
