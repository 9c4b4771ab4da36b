/** @file Shapes of the constants that bench/fit.mjs writes. */
import type { NicName, PcieName, SourceKey, SwitchName } from './generated/names.ts';

export type { DeviceName, HostName, NicName, PcieName, SourceKey, SwitchName } from './generated/names.ts';

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

/** Value, kind, source, and the range where the kind is `assumed`. */
export type FactRow =
  | readonly [value: number, kind: 'stated' | 'measured', source: SourceKey]
  | readonly [value: number, kind: 'assumed', source: SourceKey, low: number, high: number];

export interface DeviceRows {
  /** Products of fp32 operands: TF32 where the device has it. */
  readonly peakTf32: FactRow;
  /** Absent: the device has no products of that type. */
  readonly peakBf16?: FactRow;
  /** Where it is not that of bf16. */
  readonly peakFp16?: FactRow;
  readonly peakFp8?: FactRow;
  /** Share of peak that one long tile of a product reaches, where no table of products says so. */
  readonly productEfficiency?: FactRow;
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
  /** Where devices are joined directly and not by a switch: the path between two. */
  readonly peer?: FactRow;
  readonly efficiency: FactRow;
  readonly latency: FactRow;
}

export interface PcieRows extends Omit<SwitchRows, 'peer'> {
  readonly gpusPerUplink: FactRow;
}

export interface NicRows {
  readonly rate: FactRow;
  readonly efficiency: FactRow;
  readonly latency: FactRow;
  readonly oversubscription: FactRow;
}

export type SwitchTable = Readonly<Record<SwitchName, SwitchRows>>;
export type PcieTable = Readonly<Record<PcieName, PcieRows>>;
export type NicTable = Readonly<Record<NicName, NicRows>>;

export interface HostRows {
  readonly memory: FactRow;
  readonly copyBandwidth: FactRow;
  readonly memoryBandwidth: FactRow;
  readonly gpusPerUplink: FactRow;
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
