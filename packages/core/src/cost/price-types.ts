/** @file What prices are asked and what they answer. */
import type { AlgorithmName, CollectiveKind, ProtocolName } from '../collectives/index.ts';
import type { AxisName } from '../mesh/index.ts';
import type { KernelName, Work } from '../program/index.ts';
import type { Seconds } from '../units/index.ts';
import type { DispatchWay } from './dispatch.ts';
import type { TierAlgorithms } from './network/index.ts';

/** How an exchange is laid over the ranks.
 *
 * `auto`: the fastest for the size. `ring` and `hierarchical` are one: rings per tier of links, which send the same
 * bytes per rank as one ring. `flat-ring`: one ring over all ranks, as libraries did before they knew of nodes.
 * `direct`: everybody to everybody in one step, for scalars.
 */
export type ExchangeAlgorithm = 'auto' | 'ring' | 'hierarchical' | 'flat-ring' | 'tree' | 'halving-doubling' | 'direct';

export interface ExchangeRequest {
  readonly kind: CollectiveKind;
  readonly algorithm: ExchangeAlgorithm;
  /** The full buffer: the gathered size of an all-gather, the input of a reduce-scatter, the buffer of an all-reduce or
   * broadcast or of one rank's all-to-all, the message of one rank of a send. */
  readonly bytes: number;
  /** The axes whose ranks take part; a send goes to the next coordinate of its one axis. */
  readonly axes: readonly AxisName[];
  /** Of an all-to-all of tokens: the experts that they go to. */
  readonly experts?: number;
  /** `ends`: only the first and the last coordinate of the one axis take part (a tied embedding). Default `all`. */
  readonly members?: 'all' | 'ends';
  /** Of the first axis only so many coordinates, so far apart: it is made of such groups. */
  readonly part?: AxisPart;
}

/** Coordinates of one group of an axis that is made of such groups. */
export interface AxisPart {
  readonly count: number;
  readonly step: number;
}

/** One assumed number that prices rest on. */
export interface Assumption {
  readonly what: string;
  readonly value: number;
  readonly low: number;
  readonly high: number;
  readonly source: string;
}

/** The links that the exchanges of an axis use. */
export interface LinkDescription {
  /** Slowest link of the group: `NVLink 4`, `PCIe 4`, `InfiniBand 400 Gb/s`; `none` for one rank. */
  readonly name: string;
  readonly tier: 'none' | 'intra' | 'pcie' | 'inter';
  /** A member sits on another node. */
  readonly crossesNode: boolean;
  /** Bytes per second that one rank reaches on it while all groups of the axis run, one direction. */
  readonly bandwidth: number;
  /** Ranks of the group: all, in one link domain, domains in one node, nodes (or domains larger than a node). */
  readonly ranks: number;
  readonly ranksInDomain: number;
  readonly domainsInNode: number;
  readonly islands: number;
}

/** How collectives run: an algorithm on every tier of links, or as a library chooses by size (`library`); a protocol. A way
 * that does not take a collective is not taken for it. */
export interface ExchangeWays {
  readonly algorithm?: Exclude<AlgorithmName, 'hierarchical' | 'pairwise'> | 'library';
  readonly protocol?: ProtocolName;
}

export interface PriceOptions {
  /** Host seconds per kernel launch; default 27 us, assumed. */
  readonly launchCompute?: number;
  /** Host seconds per exchange launch; default 35 us, assumed. */
  readonly launchExchange?: number;
  /** Sustained over burst rate of products; default that of the device. */
  readonly sustained?: number;
  /** Share of the device's attention rate that the kernel in use reaches; default 1. */
  readonly attention?: { readonly forward: number; readonly backward: number };
  /** Bytes that a kernel moves over those of its fused pass, by kernel; default 1. */
  readonly traffic?: Readonly<Partial<Record<string, number>>>;
  /** fp32 operands (the gradient of logits) are cast to 16 bit before a product, as mixed precision does; default no. */
  readonly castsProducts?: boolean;
  /** Products run in fp8, all but those with the vocabulary as a size; casting their operands takes `casts` times what
   * casting by tensor takes, default 1. */
  readonly fp8?: { readonly vocabulary: number; readonly casts?: number };
  /** Standard deviation of the speed of devices, as a share; a step waits for the slowest of all. Default 0. */
  readonly spread?: number;
  /** `each`: the products of the experts of a rank are launched one by one; default `grouped`, in one launch. */
  readonly expertProducts?: 'grouped' | 'each';
  /** A kernel of its own adds weight gradients to what is there; default no, the product does. */
  readonly addsSeparately?: boolean;
  /** Share of tensor exchanges that hides behind pieces of products; default 0. */
  readonly tensorHidden?: number;
  /** `flat`: exchanges over data run as one ring that knows no nodes; default `tiers`. */
  readonly rings?: 'tiers' | 'flat';
  /** How copies of a token travel to the `topK` experts that it is sent to; default one for each expert. */
  readonly dispatch?: {
    readonly way: DispatchWay;
    readonly topK: number;
    /** Spread of rows over expert ranks, over that of uniform routing: the busiest rank decides. Default 0, equal rows. */
    readonly spread?: number;
  };
  /** Algorithm and protocol of collectives but scalars and all-to-alls; default what the tables of links were measured on. */
  readonly ways?: ExchangeWays;
}

/** Prices of work and of exchanges on one cluster under one mesh; all seconds are of a thing that runs alone. */
export interface Prices {
  /** Device time alone, without the host. `kernel` names the row of the kernel table; without it the work is fused. */
  compute(work: Work, kernel?: KernelName): Seconds;
  /** Between the memory of the device and that of the host, while all devices of the node copy. */
  hostCopy(bytes: number): Seconds;
  /** The host reads and writes so many bytes of its memory for one device, while it does so for all devices of the node. */
  hostPass(bytes: number): Seconds;
  /** Rows of the busiest of `ranks` expert ranks over the mean of `rows`, as the router is assumed to spread them. */
  busiest(rows: number, ranks: number): number;
  /** Time alone on its links, while all groups of the same axes run the same exchange. */
  exchange(request: ExchangeRequest): Seconds;
  /** Time of the host lane for a kernel of the table, all its launches together. */
  launch(work: Work, kernel?: KernelName): Seconds;
  /** Time of the host lane per kernel of one launch and per exchange. */
  readonly launchCompute: Seconds;
  readonly launchExchange: Seconds;
  linkOf(axes: readonly AxisName[], members?: 'all' | 'ends', part?: AxisPart): LinkDescription;
  /** How the tiers of its group run an exchange: what loads the links while {@link exchange} seconds pass. */
  tiersOf(request: ExchangeRequest): TierAlgorithms;
  readonly assumptions: readonly Assumption[];
}
