/** @file Which bytes of an exchange go over which link. A ring over several tiers of links works inside each domain first, and
 * each tier outside carries what is left: of S bytes and k ranks in a domain, d domains in a node, n islands, the shares are
 * (k-1)/k, (d-1)/(d k) and (n-1)/(n d k). They add up to (N-1)/N, what one ring over all N sends.
 */
import type { ClusterSpec } from '../cluster/index.ts';
import type { LinkDescription } from '../cost/index.ts';

/** Bytes that one rank sends over one link in a step. */
export interface TierBytes {
  readonly link: string;
  readonly bytesPerRank: number;
}

/** The bytes of an exchange by link, fastest first; links that carry none are left out. */
export function tiersOf(
  cluster: ClusterSpec,
  link: LinkDescription,
  collective: string,
  bytesPerRank: number,
): readonly TierBytes[] {
  const { ranks, ranksInDomain: k, domainsInNode: d, islands: n } = link;
  if (collective === 'send' || collective === 'recv' || ranks <= 1) return [{ link: link.name, bytesPerRank }];
  // All-to-all sends each peer its own: of N-1 peers, k-1 are in the domain, the others of the node and beyond follow.
  const shares =
    collective === 'all-to-all'
      ? [k - 1, k * d - k, ranks - k * d]
      : [(k - 1) / k, (d - 1) / (d * k), (n - 1) / (n * d * k)];
  const total = shares.reduce((sum, share) => sum + share, 0);
  const names = [cluster.intra.name, cluster.pcie.name, cluster.inter.name];
  return shares.flatMap((share, tier) =>
    share > 0 ? [{ link: names[tier] ?? '', bytesPerRank: (bytesPerRank * share) / total }] : [],
  );
}
