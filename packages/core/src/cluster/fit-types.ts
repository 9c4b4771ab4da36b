/** @file Shapes of the constants that bench/fit.mjs writes. */

/** Collectives with measured curves. */
export type CurveKind = 'all-reduce' | 'all-gather' | 'reduce-scatter' | 'all-to-all';

/** Time of a collective inside a link domain: alpha + bytes * perByte + sqrt(bytes) * perRootByte, bytes of the full buffer. */
export interface CollectiveCurve {
  readonly kind: CurveKind;
  readonly ranks: number;
  /** Seconds. */
  readonly alpha: number;
  readonly perByte: number;
  readonly perRootByte: number;
}

/** Time of a product: t0 + max(waves * tile time, bytes / bandwidth), tile time 2 tm tn (k + k0) / (peak e f / SMs). */
export interface GemmFit {
  /** e: share of peak that one long tile reaches. */
  readonly efficiency: number;
  /** k0: extra depth that fills and drains a tile. */
  readonly fillK: number;
  /** t0, seconds. */
  readonly start: number;
  /** f of the tiles 256x128 and 128x256, 128x128, 128x64. */
  readonly tileFactors: readonly [number, number, number];
  /** Bytes per element of the left operand that casting costs, in units of 3 m k; 0 for types without a cast. */
  readonly quantise: number;
}

export type DeviceName =
  | 'A100-40GB-SXM'
  | 'A100-80GB-SXM'
  | 'A100-80GB-PCIe'
  | 'H100-80GB-SXM'
  | 'H100-96GB-SXM'
  | 'H200-141GB-SXM'
  | 'B200-SXM'
  | 'B300-SXM'
  | 'GB200'
  | 'GB300'
  | 'L40S'
  | 'RTX-4090';

/** Keys of devices in the tables of measurements. */
export type TableGpu =
  | 'A100-SXM'
  | 'A100-PCIe'
  | 'H100-SXM'
  | 'H200-SXM'
  | 'B200-SXM'
  | 'B300-SXM'
  | 'GB200'
  | 'GB300'
  | 'L40S';

export type SourceKey =
  | 'accelerators'
  | 'aic-systems'
  | 'azure'
  | 'allocator'
  | 'vendor'
  | 'p2p'
  | 'nccl'
  | 'notes'
  | 'derate'
  | 'simumax'
  | 'guess'
  | 'torchtitan'
  | 'like-a100'
  | 'like-b200';

/** Value, kind, source, and the range where the kind is `assumed`. */
export type FactRow =
  | readonly [value: number, kind: 'stated' | 'measured', source: SourceKey]
  | readonly [value: number, kind: 'assumed', source: SourceKey, low: number, high: number];

export interface DeviceRows {
  readonly peakTf32: FactRow;
  readonly peakBf16: FactRow;
  readonly peakFp8?: FactRow;
  readonly multiprocessors: FactRow;
  readonly memoryNominal: FactRow;
  readonly memory: FactRow;
  readonly memoryBandwidth: FactRow;
  readonly memoryEfficiency: FactRow;
  readonly power: FactRow;
  readonly sustained: FactRow;
  readonly attentionForward: FactRow;
  readonly attentionBackward: FactRow;
}

export interface SwitchRows {
  readonly bandwidth: FactRow;
  readonly efficiency: FactRow;
  readonly latency: FactRow;
}

export interface PcieRows extends SwitchRows {
  readonly gpusPerUplink: FactRow;
}

export interface NicRows {
  readonly rate: FactRow;
  readonly efficiency: FactRow;
  readonly latency: FactRow;
  readonly oversubscription: FactRow;
}

export type SwitchName = 'nvlink3' | 'nvlink3-bridge' | 'nvlink4' | 'nvlink5';
export type PcieName = 'pcie4' | 'pcie4-host' | 'pcie5';
export type NicName = 'ib-200' | 'ib-400' | 'eth-100' | 'eth-10';
export type HostName = 'dgx-a100' | 'dgx-h100' | 'dgx-b200' | 'gb200-tray' | 'pcie-server' | 'workstation';

export type SwitchTable = Readonly<Record<SwitchName, SwitchRows>>;
export type PcieTable = Readonly<Record<PcieName, PcieRows>>;
export type NicTable = Readonly<Record<NicName, NicRows>>;

export interface HostRows {
  readonly memory: FactRow;
  readonly copyBandwidth: FactRow;
}

export interface GemmFitRow {
  readonly gpu: TableGpu;
  readonly dtype: 'bf16' | 'fp8';
  readonly source: string;
  readonly fit: GemmFit;
}

/** What one table taught about all devices: factors on the rate of plain products, and of attention. */
export interface SharedFit {
  readonly accumulate: number;
  readonly grouped: number;
  readonly groupedAccumulate: number;
  readonly forwardEfficiency: number;
  readonly forwardWaves: number;
  readonly backwardEfficiency: number;
  readonly backwardWaves: number;
}

export type CurveRow = readonly [
  gpu: TableGpu,
  kind: CurveKind,
  ranks: number,
  alpha: number,
  perByte: number,
  perRootByte: number,
];
