/** @file What a cluster is: nodes of equal devices, the links inside a node, the network between nodes.
 *
 * Nodes that differ, and links or devices that do less than they should, are resolved when a cluster is read: its numbers
 * are those of the slowest, and `parts` and `degraded` say what was there.
 *
 * Every number that describes hardware is a {@link Fact}: a value with its source, so that a page can show where it
 * comes from and an assumed one can be marked. Counts (nodes, GPUs of a node) are plain integers.
 */
import type { DType } from '../tensor/index.ts';
import type { CollectiveCurve, GemmFit } from './fit-types.ts';
import type { PresetName } from './presets/names.ts';

/** How a number is known. `stated`: the maker or a table says so; `measured`; `fitted` to a table of measurements by
 * bench/fit.mjs; `given` by the user; `assumed`: nobody has measured it here, it has a range. */
export type FactKind = 'stated' | 'measured' | 'fitted' | 'given' | 'assumed';

/** One number with its source. `low` and `high` are equal to `value` unless `kind` is `assumed`. */
export interface Fact {
  readonly value: number;
  readonly kind: FactKind;
  readonly source: string;
  /** Year-month in which the source was read. */
  readonly asOf: string;
  readonly low: number;
  readonly high: number;
}

/** Families of devices that run the same kernels; `blackwell-rtx` are its workstation and server cards. */
export type Generation =
  | 'volta'
  | 'ampere'
  | 'ada'
  | 'hopper'
  | 'blackwell'
  | 'blackwell-rtx'
  | 'cdna2'
  | 'cdna3'
  | 'cdna4'
  | 'tpu'
  | 'cpu';

/** Types that devices have a matrix rate for; fp32 runs as TF32 where the device has it. */
export type GemmType = Extract<DType, 'fp32' | 'fp16' | 'bf16' | 'fp8'>;

/** The shape-dependent model of matrix products of one type, as fitted to a table. */
export interface GemmModel {
  /** Dense FLOP/s of the maker, without sparsity. */
  readonly peak: Fact;
  /** Share of peak that one long tile reaches: of the device's own table, or assumed after one that is like it. */
  readonly efficiency: Fact;
  /** Shape constants; `efficiency` stands in place of the fit's own. */
  readonly fit: GemmFit;
  readonly source: string;
}

/** Factors on the rate of a plain product. */
export interface ProductFactors {
  /** Adds into an fp32 output (weight gradients). */
  readonly accumulate: Fact;
  /** Several products in one kernel (experts). */
  readonly grouped: Fact;
  readonly groupedAccumulate: Fact;
}

/** Efficiency of blockwise causal attention: share of bf16 peak for long sequences, head size 128, ten waves. */
export interface AttentionModel {
  readonly forward: Fact;
  readonly backward: Fact;
  /** Waves of tiles that half the device's rate would cost: efficiency x w / (w + this). */
  readonly forwardWaves: Fact;
  readonly backwardWaves: Fact;
}

/** Seconds of one kind of work on one rank: `start` + FLOPs x `perFlop` + bytes x `perByte`. */
export interface MeasuredCost {
  readonly start: number;
  readonly perFlop: number;
  readonly perByte: number;
}

/** A rank of a machine whose kernels were measured one by one: prices are these numbers and no model of a device. */
export interface MeasuredDevice {
  /** The kernels of the runtime that were measured. */
  readonly engine: string;
  /** Ranks beyond so many take turns. */
  readonly cores: number;
  /** By name of the kernel. */
  readonly kernels: Readonly<Record<string, MeasuredCost>>;
  /** Of kernels that have no row of their own. */
  readonly others: Readonly<Record<'gemm' | 'attention' | 'memory', MeasuredCost>>;
  /** Before each kernel: memory is handed out and marked, by byte that the kernel writes. */
  readonly between: MeasuredCost;
}

export interface DeviceSpec {
  readonly name: string;
  readonly generation: Generation;
  /** undefined: the device has no products of that type. fp16 or bf16 is always there. */
  readonly gemm: { readonly fp32: GemmModel } & Readonly<Record<Exclude<GemmType, 'fp32'>, GemmModel | undefined>>;
  readonly products: ProductFactors;
  /** Streaming multiprocessors: what the tiles of a product are spread over. */
  readonly multiprocessors: Fact;
  /** Sustained over burst rate under training load (power and clocks); the GEMM tables are bursts. */
  readonly sustained: Fact;
  readonly attention: AttentionModel;
  /** Bytes as printed by the maker. */
  readonly memoryNominal: Fact;
  /** Bytes that the allocator can hand out: the capacity that a verdict compares with. */
  readonly memory: Fact;
  /** Bytes per second of the maker. */
  readonly memoryBandwidth: Fact;
  /** Share of it that large streaming kernels reach. */
  readonly memoryEfficiency: Fact;
  /** Watts. */
  readonly power: Fact;
  /** Stands in place of all models of products, attention and memory where it is there. */
  readonly measured?: MeasuredDevice;
}

/** `switch`: all devices of the domain reach each other at full rate; `mesh`: direct links, the rate is shared out over
 * the peers, so that few devices reach less; `pairs`: bridges between neighbours, PCIe beyond; `pcie`: nothing but PCIe. */
export type IntraKind = 'switch' | 'mesh' | 'pairs' | 'pcie';

/** The fast link domain. Ranks fill it in order: rank r is in domain floor(r / gpus). */
export interface IntraSpec {
  readonly kind: IntraKind;
  /** For people: `NVLink 4`. */
  readonly name: string;
  /** Devices of one domain: the node's, 2 for pairs, 1 for pcie, more than the node's for a rack (NVL72). */
  readonly gpus: number;
  /** Bytes per second per device and direction; for `pcie` that of the PCIe link. */
  readonly bandwidth: Fact;
  /** Of a `mesh`: bytes per second and direction between two devices. */
  readonly peer: Fact | undefined;
  /** Share of it that large messages reach where no curve says so. */
  readonly efficiency: Fact;
  /** Seconds per step where no curve says so. */
  readonly latency: Fact;
  /** Measured curves of collectives inside the domain; empty when there are none. */
  readonly curves: readonly CollectiveCurve[];
  /** Bandwidth of the domain that the curves were measured on; the byte terms scale with it. */
  readonly curveBandwidth: number;
  /** Time over that of the curves: 1, assumed where they were measured on another device with the same links. */
  readonly curveFit: Fact;
}

export interface PcieSpec {
  readonly name: string;
  /** Bytes per second per device and direction. */
  readonly bandwidth: Fact;
  /** Share that exchanges between devices reach. */
  readonly efficiency: Fact;
  /** Seconds per step. */
  readonly latency: Fact;
  /** Devices that share one way out of their switch or socket. */
  readonly gpusPerUplink: Fact;
}

/** One level of switches. Nodes fill its blocks in order: node n is in block floor(n / nodes). */
export interface FabricTier {
  /** For people: `leaf`. */
  readonly name: string;
  /** Nodes of one block, which reach each other below this level's way out. */
  readonly nodes: number;
  /** Sum of the node rates of a block over the rate out of it: 1 is a full fabric. */
  readonly oversubscription: Fact;
}

/** The network between nodes (between domains, where a domain is larger than a node). */
export interface InterSpec {
  /** For people: `InfiniBand 400 Gb/s`. */
  readonly name: string;
  /** Line rate of one NIC, bytes per second per direction. */
  readonly rate: Fact;
  /** Devices that share one NIC; 1 in a rail-optimised node. */
  readonly gpusPerNic: number;
  /** Share of the line rate that large messages reach. */
  readonly efficiency: Fact;
  /** Seconds per step. */
  readonly latency: Fact;
  /** Each card of a node hangs on a leaf of its own, which the same cards of other nodes share. */
  readonly rails: boolean;
  /** From the leaves outward; at least one. */
  readonly tiers: readonly FabricTier[];
}

export interface HostSpec {
  /** Bytes of one node. */
  readonly memory: Fact;
  /** Bytes per second between host and one device that copies alone, each direction. */
  readonly copyBandwidth: Fact;
  /** Bytes per second of the node's memory. */
  readonly memoryBandwidth: Fact;
  /** Devices that share one link to the host while they all copy. */
  readonly gpusPerUplink: Fact;
}

/** A group of equal nodes in a cluster of several. */
export interface ClusterPart {
  readonly nodes: number;
  readonly preset: ClusterSpec['preset'];
  readonly device: string;
  /** Rate of its 16-bit products over that of the slowest group; 1 or more. */
  readonly speed: number;
}

/** A link or device that reaches a share of its rate. Every step waits for it, so the cluster's numbers contain it. */
export interface Degradation {
  readonly what: 'device' | 'intra' | 'pcie' | 'inter';
  /** Share of the rate that is left, at most 1; 0 for fast links that PCIe stands in for. */
  readonly fraction: number;
  /** Where, for people and figures; absent: somewhere. */
  readonly node: number | undefined;
  readonly gpu: number | undefined;
}

/** A cluster: a frozen value. Rank r sits on node floor(r / gpusPerNode) as its device r % gpusPerNode. */
export interface ClusterSpec {
  /** As a user would write it: `8x dgx-h100`. */
  readonly name: string;
  readonly preset: PresetName | 'measured';
  readonly nodes: number;
  readonly gpusPerNode: number;
  readonly device: DeviceSpec;
  readonly intra: IntraSpec;
  readonly pcie: PcieSpec;
  readonly inter: InterSpec;
  readonly host: HostSpec;
  /** Of one device for an hour, in any currency; only the user knows it. */
  readonly price?: Fact;
  /** Groups of nodes, in order of rank, where they differ; empty otherwise. */
  readonly parts: readonly ClusterPart[];
  readonly degraded: readonly Degradation[];
}

export type { PresetName } from './presets/names.ts';
