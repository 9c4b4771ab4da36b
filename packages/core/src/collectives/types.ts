/** @file Names of collectives, of the ways to run them, and of the protocols that carry them. */

export type CollectiveKind = 'all-reduce' | 'reduce-scatter' | 'all-gather' | 'broadcast' | 'all-to-all' | 'send';

/** `hierarchical`: the same in each tier of links, on a share of the bytes across them. `in-switch`: switches add up and
 * copy (NVLS inside of a domain, SHARP between nodes). `pairwise`: with one partner after the other. */
export type AlgorithmName = 'ring' | 'tree' | 'halving-doubling' | 'direct' | 'pairwise' | 'in-switch' | 'hierarchical';

/** What travels with the data: `ll` a flag with every 4 bytes, `ll128` one with every 120, `simple` none, and waits. */
export type ProtocolName = 'll' | 'll128' | 'simple';

/** Receives the parts of a collective: `share` of the buffer goes from one member to another, over all its steps.
 * {@link SWITCH} stands for the switches between them. */
export type FlowVisitor = (from: number, to: number, share: number) => void;

/** As `from` or `to` of a flow: what switches add up or copy. */
export const SWITCH = -1;
