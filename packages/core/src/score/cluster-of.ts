/** @file The cluster of a run: device, node and network from what the row says of them. */
import { type ClusterSpec, clusterFromRequest } from '../cluster/index.ts';
import type { RunRow } from './run-row.ts';
import { type Outcome, skip } from './skip.ts';

interface DeviceEntry {
  /** Names in the column `gpu` that mean this device. */
  readonly name: RegExp;
  readonly preset: string;
  readonly gpu: string | Readonly<Record<string, number | string>>;
  readonly gpusPerNode: number;
  /** What is assumed of a device that has no table of its own. */
  readonly assumed?: string;
}

const hopper = { preset: 'dgx-h100', gpusPerNode: 8 } as const;
const ampere = { preset: 'dgx-a100', gpusPerNode: 8 } as const;

/** First match wins. Numbers beside `like` are of the hardware table or of the fits of their own tables. */
const devices: readonly DeviceEntry[] = [
  { name: /^A100.*40GB(?!\/)/i, ...ampere, gpu: 'A100-40GB-SXM' },
  { name: /^A100.*PCIe/i, preset: 'pcie-8x-a100', gpusPerNode: 8, gpu: 'A100-80GB-PCIe' },
  { name: /^A100/i, ...ampere, gpu: 'A100-80GB-SXM' },
  {
    name: /^H100-96GB/i,
    ...hopper,
    gpu: { like: 'H100-80GB-SXM', memoryGiB: 95, memoryGBps: 2400, sustained: 0.62 },
    assumed: 'device: H100 at 500 W with HBM2e, 0.78 of the sustained rate (accuracy notes, section 2: 0.7 to 0.85)',
  },
  { name: /^H100/i, ...hopper, gpu: 'H100-80GB-SXM' },
  { name: /^H200/i, preset: 'dgx-h200', gpusPerNode: 8, gpu: 'H200-141GB-SXM' },
  { name: /^B200/i, preset: 'dgx-b200', gpusPerNode: 8, gpu: 'B200-SXM' },
  {
    name: /^B300/i,
    preset: 'dgx-b200',
    gpusPerNode: 8,
    gpu: { like: 'B200-SXM', memoryGiB: 268, memoryGBps: 7750, sustained: 0.855 },
    assumed: 'device: B200 with the burst rates of B300 (accuracy notes, section 2: 0.76 over 0.71 of peak)',
  },
  { name: /^GB200/i, preset: 'gb200-nvl72', gpusPerNode: 4, gpu: 'GB200' },
  {
    name: /^GB300/i,
    preset: 'gb200-nvl72',
    gpusPerNode: 4,
    gpu: { like: 'GB200', memoryGiB: 277, sustained: 0.9 },
    assumed: 'device: GB200 with the burst rates of GB300 (accuracy notes, section 2: 0.77 over 0.685 of peak)',
  },
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
  const { cluster, issues } = clusterFromRequest(
    {
      preset: entry.preset,
      gpu: entry.gpu,
      nodes: gpus / perNode,
      gpusPerNode: perNode,
      ...(rate !== undefined && {
        inter: { Gbps: rate, gpusPerNic: 1, ...(share !== undefined && { efficiency: share }) },
      }),
    },
    'cluster',
  );
  if (cluster === undefined) return skip('gpus-not-whole-nodes', issues.map((each) => each.message).join(' '));
  const assumed = [
    ...(entry.assumed === undefined ? [] : [entry.assumed]),
    ...(row.gpus_per_node === undefined ? [`gpus per node: ${perNode}`] : []),
    ...(rate === undefined && gpus > perNode ? [`network: ${cluster.inter.name}`] : []),
  ];
  return { value: { cluster, assumed } };
}
