/** @file Algorithms of collectives as data: who sends what to whom, bytes that one rank sends, and dependent steps.
 *
 * `bytes` is always the full buffer: the gathered size of an all-gather, the input of a reduce-scatter, the buffer of
 * one rank of an all-to-all, the message of a send. Sources: ring and halving forms in [thakur2005], double tree in
 * [sanders2009], sums in switches [nccl-algorithms]; see docs/sources.md.
 */
import { collectiveBytes } from '../program/index.ts';
import { halvingFlows, pairFlows, ringFlows, switchFlows, treeFlows } from './flows.ts';
import type { AlgorithmName, CollectiveKind, FlowVisitor } from './types.ts';

export interface CollectiveAlgorithm {
  readonly name: AlgorithmName;
  /** Whether it runs this kind over so many ranks; others are not asked. */
  readonly takes: (kind: CollectiveKind, ranks: number) => boolean;
  /** Bytes that the busiest rank of `ranks` sends; `inner` of them share a fast link domain (hierarchical only). */
  bytesSent(kind: CollectiveKind, bytes: number, ranks: number, inner?: number): number;
  /** Bytes over the busiest link of a rank, out of it or into it. */
  busiest(kind: CollectiveKind, bytes: number, ranks: number): number;
  /** Messages that wait for each other. */
  steps(kind: CollectiveKind, ranks: number, inner?: number): number;
  /** Visits what members send each other, as shares of the buffer. Of `hierarchical` nothing: it is made of others. */
  flows(kind: CollectiveKind, ranks: number, visit: FlowVisitor): void;
}

const everything = (): boolean => true;
const halves: readonly CollectiveKind[] = ['all-reduce', 'reduce-scatter', 'all-gather'];
const isPowerOfTwo = (ranks: number): boolean => Number.isInteger(Math.log2(ranks));

/** What programs are counted by: the byte ledger has the forms of ring and direct. */
const sentBy = (algorithm: 'ring' | 'direct', kind: CollectiveKind, bytes: number, ranks: number): number =>
  kind === 'send' ? Math.min(1, ranks - 1) * bytes : collectiveBytes(kind, algorithm, ranks, bytes);

/** Who receives no more than the busiest rank sends. */
const sameBothWays = (algorithm: Omit<CollectiveAlgorithm, 'busiest'>): CollectiveAlgorithm => ({
  ...algorithm,
  busiest: (kind, bytes, ranks) => algorithm.bytesSent(kind, bytes, ranks),
});

/** Neighbour to neighbour: least bytes, a step per rank. All-reduce sends 2 (n-1)/n bytes in 2 (n-1) steps. */
const ring = sameBothWays({
  name: 'ring',
  takes: everything,
  bytesSent: (kind, bytes, ranks) => sentBy('ring', kind, bytes, ranks),
  steps(kind, ranks) {
    if (ranks <= 1) return 0;
    if (kind === 'send') return 1;
    return (kind === 'all-reduce' ? 2 : 1) * (ranks - 1);
  },
  flows: (kind, ranks, visit) => ringFlows(ranks, sentBy('ring', kind, 1, ranks), visit),
});

/** Everybody to everybody at once: one step, (n-1) x bytes for an all-reduce. For scalars. */
const direct = sameBothWays({
  name: 'direct',
  takes: everything,
  bytesSent: (kind, bytes, ranks) => sentBy('direct', kind, bytes, ranks),
  steps: (_kind, ranks) => (ranks > 1 ? 1 : 0),
  flows: (kind, ranks, visit) =>
    pairFlows(ranks, ranks > 1 ? sentBy('direct', kind, 1, ranks) / (ranks - 1) : 0, visit),
});

/** One partner after the other: the bytes of `direct`, in n-1 steps. */
const pairwise: CollectiveAlgorithm = {
  ...direct,
  name: 'pairwise',
  takes: (kind) => kind === 'all-to-all',
  steps: (_kind, ranks) => Math.max(0, ranks - 1),
};

/** Two binary trees on half the buffer each: no rank sends the buffer more than twice, in steps that grow with log2. */
const tree = sameBothWays({
  name: 'tree',
  takes: (kind) => kind === 'all-reduce' || kind === 'broadcast',
  bytesSent: (kind, bytes, ranks) =>
    (kind === 'all-reduce' ? treeShare(ranks) : Math.ceil(treeShare(ranks) / 2)) * bytes,
  steps: (kind, ranks) => (kind === 'all-reduce' ? 2 : 1) * Math.ceil(Math.log2(Math.max(1, ranks))),
  flows: treeFlows,
});

/** What the busiest member of two trees sends: from four members on, two buffers. */
const treeShare = (ranks: number): number => (ranks >= 4 ? 2 : ([0, 0, 1, 1.5][ranks] ?? 0));

/** Halves with partners ever further away: the bytes of a ring in steps that grow with log2, on a power of two. An
 * all-reduce over other numbers folds the ranks beyond: two buffers more over the link of who takes them in. */
const halvingDoubling = sameBothWays({
  name: 'halving-doubling',
  takes: (kind, ranks) => halves.includes(kind) && (kind === 'all-reduce' || isPowerOfTwo(ranks)),
  bytesSent(kind, bytes, ranks) {
    const whole = 2 ** Math.floor(Math.log2(ranks));
    return sentBy('ring', kind, bytes, whole) + (whole < ranks ? bytes : 0);
  },
  steps(kind, ranks) {
    const whole = Math.floor(Math.log2(ranks));
    return (kind === 'all-reduce' ? 2 : 1) * whole + (isPowerOfTwo(ranks) ? 0 : 2);
  },
  flows: halvingFlows,
});

/** Switches add up and copy: a rank sends an all-reduce's buffer once, and the result of its own piece. */
const inSwitch: CollectiveAlgorithm = {
  name: 'in-switch',
  takes: (kind) => halves.includes(kind),
  bytesSent(kind, bytes, ranks) {
    if (ranks <= 1) return 0;
    return kind === 'all-reduce' ? bytes * (1 + 1 / ranks) : kind === 'all-gather' ? bytes / ranks : bytes;
  },
  busiest: (kind, bytes, ranks) => (ranks <= 1 ? 0 : kind === 'all-reduce' ? bytes * (1 + 1 / ranks) : bytes),
  steps: (kind, ranks) => (ranks <= 1 ? 0 : kind === 'all-reduce' ? 2 : 1),
  flows: switchFlows,
};

/** Rings inside each domain, then across domains on 1/inner of the bytes: what one ring over all ranks sends. An
 * all-to-all first hands bytes to the member of its domain that stands as the receiver stands in its own. */
const hierarchical = sameBothWays({
  name: 'hierarchical',
  takes: everything,
  bytesSent(kind, bytes, ranks, inner = 1) {
    if (kind !== 'all-to-all' || ranks <= 1) return ring.bytesSent(kind, bytes, ranks);
    return pairwise.bytesSent(kind, bytes, inner) + pairwise.bytesSent(kind, bytes, ranks / inner);
  },
  steps(kind, ranks, inner = 1) {
    return kind === 'send' ? ring.steps(kind, ranks) : ring.steps(kind, inner) + ring.steps(kind, ranks / inner);
  },
  flows: () => undefined,
});

/** The algorithms by name. */
export const algorithms: Readonly<Record<AlgorithmName, CollectiveAlgorithm>> = {
  ring,
  tree,
  'halving-doubling': halvingDoubling,
  direct,
  pairwise,
  'in-switch': inSwitch,
  hierarchical,
};

/** Seconds of a collective by an algorithm where every link has this latency and rate, and nothing else runs:
 * steps x latency + bytes of the busiest link / rate. */
export const timeAlone = (
  { busiest, steps }: CollectiveAlgorithm,
  kind: CollectiveKind,
  bytes: number,
  ranks: number,
  latencySeconds: number,
  bytesPerSecond: number,
): number => steps(kind, ranks) * latencySeconds + busiest(kind, bytes, ranks) / bytesPerSecond;
