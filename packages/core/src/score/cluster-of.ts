/** @file The cluster of a run: device, node and network from what the row says of them. */
import { type ClusterSpec, clusterFromRequest } from '../cluster/index.ts';
import type { RunRow } from './run-row.ts';
import { type Outcome, skip } from './skip.ts';

interface DeviceEntry {
  /** Names in the column `gpu` that mean this device. */
  readonly name: RegExp;
  readonly preset: string;
  readonly gpu: string;
  readonly gpusPerNode: number;
}

const hopper = { preset: 'dgx-h100', gpusPerNode: 8 } as const;
const ampere = { preset: 'dgx-a100', gpusPerNode: 8 } as const;

/** First match wins. */
const devices: readonly DeviceEntry[] = [
  { name: /^A100.*40GB(?!\/)/i, ...ampere, gpu: 'A100-40GB-SXM' },
  { name: /^A100.*PCIe/i, preset: 'pcie-8x-a100', gpusPerNode: 8, gpu: 'A100-80GB-PCIe' },
  { name: /^A100/i, ...ampere, gpu: 'A100-80GB-SXM' },
  { name: /^H100-96GB/i, ...hopper, gpu: 'H100-96GB-SXM' },
  { name: /^H100/i, ...hopper, gpu: 'H100-80GB-SXM' },
  { name: /^H200/i, preset: 'dgx-h200', gpusPerNode: 8, gpu: 'H200-141GB-SXM' },
  { name: /^B200/i, preset: 'dgx-b200', gpusPerNode: 8, gpu: 'B200-SXM' },
  { name: /^B300/i, preset: 'dgx-b200', gpusPerNode: 8, gpu: 'B300-SXM' },
  { name: /^GB200/i, preset: 'gb200-nvl72', gpusPerNode: 4, gpu: 'GB200' },
  { name: /^GB300/i, preset: 'gb200-nvl72', gpusPerNode: 4, gpu: 'GB300' },
  { name: /^A800/i, preset: 'hgx-a800', gpusPerNode: 8, gpu: 'A800-80GB-SXM' },
  { name: /^H800/i, preset: 'hgx-h800', gpusPerNode: 8, gpu: 'H800-80GB-SXM' },
  { name: /^V100.*DGX-2/i, preset: 'dgx-2', gpusPerNode: 16, gpu: 'V100-32GB-SXM' },
  { name: /^A10G/i, preset: 'aws-g5', gpusPerNode: 8, gpu: 'A10G' },
  { name: /^L40S/i, preset: 'pcie-8x-l40s', gpusPerNode: 8, gpu: 'L40S' },
  { name: /^MI300X/i, preset: 'mi300x-8x', gpusPerNode: 8, gpu: 'MI300X' },
  { name: /^MI325X/i, preset: 'mi325x-8x', gpusPerNode: 8, gpu: 'MI325X' },
  { name: /^MI355X/i, preset: 'mi355x-8x', gpusPerNode: 8, gpu: 'MI355X' },
];

/** A cluster, with what was assumed to build it. */
export interface ClusterOfRun {
  readonly cluster: ClusterSpec;
  readonly assumed: readonly string[];
}

/** The cluster of a run. */
export function clusterOf(row: RunRow): Outcome<ClusterOfRun> {
  const entry = devices.find(({ name }) => name.test(row.gpu));
  if (entry === undefined) return skip('gpu-unknown', row.gpu);
  const gpus = row.n_gpus ?? 0;
  const perNode = Math.min(gpus, row.gpus_per_node ?? entry.gpusPerNode);
  if (gpus === 0 || gpus % perNode !== 0) return skip('gpus-not-whole-nodes', `${gpus} devices in nodes of ${perNode}`);
  const rate = row.interconnect_inter_gbps_per_gpu;
  const share = row.inter_efficiency;
  const request = {
    preset: entry.preset,
    gpu: entry.gpu,
    nodes: gpus / perNode,
    gpusPerNode: perNode,
    ...(rate !== undefined && {
      inter: { Gbps: rate, gpusPerNic: 1, ...(share !== undefined && { efficiency: share }) },
    }),
  };
  const whole = clusterFromRequest(request, 'cluster');
  const part = whole.cluster === undefined ? undefined : equalPart(whole.cluster, gpus, perNode);
  const { cluster, issues } =
    part === undefined ? whole : clusterFromRequest({ ...request, intra: { gpus: part } }, 'cluster');
  if (cluster === undefined) return skip('gpus-not-whole-nodes', issues.map((each) => each.message).join(' '));
  const assumed = [
    ...(row.gpus_per_node === undefined ? [`gpus per node: ${perNode}`] : []),
    ...(part === undefined ? [] : [`racks: ${part} devices of each`]),
    ...(rate === undefined && gpus > perNode ? [`network: ${cluster.inter.name}`] : []),
  ];
  return { value: { cluster, assumed } };
}

/** Devices of each rack for a run over several: schedulers place blocks of equal size, so that groups do not straddle racks;
 * none where racks are nodes or the run fills whole ones. */
function equalPart({ intra }: ClusterSpec, gpus: number, perNode: number): number | undefined {
  if (intra.gpus <= perNode || gpus <= intra.gpus || gpus % intra.gpus === 0) return undefined;
  const most = Math.floor(intra.gpus / perNode);
  const nodes = Array.from({ length: most }, (_, index) => most - index).find((each) => gpus % (each * perNode) === 0);
  return nodes === undefined ? undefined : nodes * perNode;
}
