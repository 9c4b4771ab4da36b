/** @file Protocols of the communication libraries, and how these choose one together with an algorithm.
 *
 * Latencies and shares are those that NCCL's own model compares: [nccl-algorithms] in docs/sources.md. They are for
 * choosing: what an exchange takes is priced by the tables of links.
 */
import { algorithms, type CollectiveAlgorithm } from './algorithms.ts';
import type { AlgorithmName, CollectiveKind, ProtocolName } from './types.ts';

/** What a protocol costs. */
export interface Protocol {
  readonly name: ProtocolName;
  /** Share of the rate of a link that data gets. */
  readonly share: number;
  /** Seconds of a step over the latency of `simple`, on NVLink, PCIe and network. */
  readonly latency: Readonly<Record<LinkClass, number>>;
}

/** What a step goes over. */
export type LinkClass = 'nvlink' | 'pcie' | 'network';

/** Seconds of one step of a ring by protocol and link; the share of a ring's rate. */
const stepSeconds: Readonly<Record<ProtocolName, Readonly<Record<LinkClass, number>>>> = {
  ll: { nvlink: 0.47e-6, pcie: 1e-6, network: 2.7e-6 },
  ll128: { nvlink: 1.9e-6, pcie: 2.5e-6, network: 4e-6 },
  simple: { nvlink: 3.4e-6, pcie: 5.7e-6, network: 9.6e-6 },
};

const shares: Readonly<Record<ProtocolName, number>> = { ll: 0.25, ll128: 120 / 128, simple: 1 };

const over = (name: ProtocolName, link: LinkClass): number => stepSeconds[name][link] / stepSeconds.simple[link];

const protocol = (name: ProtocolName): Protocol => ({
  name,
  share: shares[name],
  latency: { nvlink: over(name, 'nvlink'), pcie: over(name, 'pcie'), network: over(name, 'network') },
});

/** The protocols by name. */
export const protocols: Readonly<Record<ProtocolName, Protocol>> = {
  ll: protocol('ll'),
  ll128: protocol('ll128'),
  simple: protocol('simple'),
};

/** A way to run a collective. */
export interface Choice {
  readonly algorithm: AlgorithmName;
  readonly protocol: ProtocolName;
}

/** What an exchange goes over, for the choice. */
export interface ChoiceLink {
  /** Seconds of a step with `simple`, and bytes per second. */
  readonly latencySeconds: number;
  readonly bytesPerSecond: number;
  readonly link: LinkClass;
  /** Its switches can add up and copy. */
  readonly addsInSwitch: boolean;
}

const candidates: readonly CollectiveAlgorithm[] = [algorithms.ring, algorithms.tree, algorithms['in-switch']];

/** The fastest algorithm and protocol by steps x latency + bytes of the busiest link / rate, as libraries choose. `forced` narrows the choice;
 * what does not take the kind is not chosen. A library sends an all-to-all in pairs. */
export function chooseExchange(
  kind: CollectiveKind,
  bytes: number,
  ranks: number,
  on: ChoiceLink,
  forced: Partial<Choice> = {},
): Choice {
  const only = forced.algorithm && algorithms[forced.algorithm];
  const ways = only?.takes(kind, ranks) ? [only] : kind === 'all-to-all' ? [algorithms.pairwise] : candidates;
  let best: Choice = { algorithm: 'ring', protocol: forced.protocol ?? 'simple' };
  let least = Number.POSITIVE_INFINITY;
  for (const way of ways) {
    if (!way.takes(kind, ranks) || (way.name === 'in-switch' && !on.addsInSwitch && way !== only)) continue;
    for (const { name, share, latency } of Object.values(protocols)) {
      if (forced.protocol !== undefined && forced.protocol !== name) continue;
      const seconds =
        way.steps(kind, ranks) * on.latencySeconds * latency[on.link] +
        way.busiest(kind, bytes, ranks) / (on.bytesPerSecond * share);
      if (seconds < least) {
        best = { algorithm: way.name, protocol: name };
        least = seconds;
      }
    }
  }
  return best;
}
