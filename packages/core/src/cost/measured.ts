/** @file Prices of a machine that was measured kernel by kernel. */
import type { MeasuredCost, MeasuredDevice } from '../cluster/index.ts';
import type { KernelName, Work } from '../program/index.ts';

/** Seconds of one kernel and of what the rank does before it. */
export interface MeasuredSeconds {
  readonly kernel: number;
  readonly between: number;
}

/** Rows of an expert grid, which needs several ranks, do what those of experts on one rank do. */
const alike: Readonly<Record<string, KernelName>> = {
  'expert-gemm': 'grouped-gemm',
  'expert-gemm.dx': 'grouped-gemm.dx',
  'expert-gemm.dw': 'grouped-gemm.dw',
  permute: 'dispatch',
  'permute.dx': 'dispatch.dx',
  unpermute: 'combine',
  'unpermute.dx': 'combine.dx',
};

/** Seconds of work on one of `ranks` ranks of a machine: those beyond its cores take turns. */
export function measuredSeconds(
  device: MeasuredDevice,
  ranks: number,
  work: Work,
  kernel: KernelName | undefined,
): MeasuredSeconds {
  const share = Math.max(1, ranks / device.cores);
  const cost = device.kernels[kernel ?? ''] ?? device.kernels[alike[kernel ?? ''] ?? ''] ?? device.others[work.kind];
  return {
    kernel: share * costOf(cost, work.flops, work.bytesRead + work.bytesWritten),
    between: share * costOf(device.between, 0, work.bytesWritten),
  };
}

const costOf = ({ start, perFlop, perByte }: MeasuredCost, flops: number, bytes: number): number =>
  start + flops * perFlop + bytes * perByte;
