/** @file Algorithms of collectives as data: bytes that one rank sends, and dependent steps.
 *
 * `bytes` is always the full buffer: the gathered size of an all-gather, the input of a reduce-scatter, the buffer of
 * one rank of an all-to-all, the message of a send. Sources: ring and halving forms in [thakur2005], double tree in
 * [sanders2009], see docs/sources.md.
 */
import { collectiveBytes } from '../program/index.ts';
import type { AlgorithmName, CollectiveKind } from './types.ts';

export interface CollectiveAlgorithm {
  readonly name: AlgorithmName;
  /** The kinds that it runs; others are not asked. */
  readonly kinds: readonly CollectiveKind[];
  /** Bytes that the busiest rank of `ranks` sends; `inner` of them share a fast link domain (hierarchical only). */
  bytesSent(kind: CollectiveKind, bytes: number, ranks: number, inner?: number): number;
  /** Messages that wait for each other. */
  steps(kind: CollectiveKind, ranks: number, inner?: number): number;
}

const everyKind: readonly CollectiveKind[] = [
  'all-reduce',
  'reduce-scatter',
  'all-gather',
  'broadcast',
  'all-to-all',
  'send',
];

/** What programs are counted by: the byte ledger has the forms of ring and direct. */
const sentBy = (algorithm: 'ring' | 'direct', kind: CollectiveKind, bytes: number, ranks: number): number =>
  kind === 'send' ? Math.min(1, ranks - 1) * bytes : collectiveBytes(kind, algorithm, ranks, bytes);

/** Neighbour to neighbour: least bytes, a step per rank. All-reduce sends 2 (n-1)/n bytes in 2 (n-1) steps. */
const ring: CollectiveAlgorithm = {
  name: 'ring',
  kinds: everyKind,
  bytesSent: (kind, bytes, ranks) => sentBy('ring', kind, bytes, ranks),
  steps(kind, ranks) {
    if (ranks <= 1) return 0;
    if (kind === 'send') return 1;
    return (kind === 'all-reduce' ? 2 : 1) * (ranks - 1);
  },
};

/** Everybody to everybody at once: one step, (n-1) x bytes for an all-reduce. For scalars. */
const direct: CollectiveAlgorithm = {
  name: 'direct',
  kinds: everyKind,
  bytesSent: (kind, bytes, ranks) => sentBy('direct', kind, bytes, ranks),
  steps: (_kind, ranks) => (ranks > 1 ? 1 : 0),
};

/** Two binary trees on half the buffer each: every rank sends the buffer twice, in steps that grow with log2. */
const tree: CollectiveAlgorithm = {
  name: 'tree',
  kinds: ['all-reduce', 'broadcast'],
  bytesSent: (kind, bytes, ranks) => (ranks <= 1 ? 0 : (kind === 'all-reduce' ? 2 : 1) * bytes),
  steps: (kind, ranks) => (kind === 'all-reduce' ? 2 : 1) * Math.ceil(Math.log2(Math.max(1, ranks))),
};

/** Rings inside each domain, then across domains on 1/inner of the bytes: what one ring over all ranks sends. */
const hierarchical: CollectiveAlgorithm = {
  name: 'hierarchical',
  kinds: everyKind,
  bytesSent: (kind, bytes, ranks) => ring.bytesSent(kind, bytes, ranks),
  steps(kind, ranks, inner = 1) {
    return kind === 'send' ? ring.steps(kind, ranks) : ring.steps(kind, inner) + ring.steps(kind, ranks / inner);
  },
};

/** The algorithms by name. */
export const algorithms: Readonly<Record<AlgorithmName, CollectiveAlgorithm>> = { ring, tree, direct, hierarchical };

/** The algorithm with the least steps x latency + bytes sent / rate, where every link has that latency and rate. */
export function chooseAlgorithm(
  kind: CollectiveKind,
  bytes: number,
  ranks: number,
  latencySeconds: number,
  bytesPerSecond: number,
): AlgorithmName {
  let best: AlgorithmName = 'ring';
  let bestTime = Number.POSITIVE_INFINITY;
  for (const each of [ring, tree, direct]) {
    if (!each.kinds.includes(kind)) continue;
    const time = each.steps(kind, ranks) * latencySeconds + each.bytesSent(kind, bytes, ranks) / bytesPerSecond;
    if (time < bestTime) {
      best = each.name;
      bestTime = time;
    }
  }
  return best;
}
