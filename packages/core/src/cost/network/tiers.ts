/** @file Members of a group by the links that join them: domains, nodes, and the network, as far as they tile each other. */
import type { Topology } from '../../cluster/index.ts';

/** Members of a group by tiers: `members[(island * nodes + node) * domain + place]` stands at a place of a domain. */
export interface TieredGroup {
  readonly members: Uint32Array;
  /** Members in one link domain, domains in one node, and nodes (or domains larger than a node). */
  readonly inDomain: number;
  readonly inNode: number;
  readonly islands: number;
}

/** Tiers of members in order of rank; where domains hold unequal numbers of them, every member is an island. */
export function tieredGroup(topology: Topology, members: Uint32Array): TieredGroup {
  const { domain, devicesPerNode } = topology;
  const inDomain = evenRow(members, domain);
  if (inDomain === 0) return { members, inDomain: 1, inNode: 1, islands: members.length };
  const island = Math.max(domain, devicesPerNode);
  const inIsland = evenRow(members, island);
  if (inIsland === 0 || inIsland % inDomain !== 0) {
    return { members, inDomain, inNode: 1, islands: members.length / inDomain };
  }
  return { members, inDomain, inNode: inIsland / inDomain, islands: members.length / inIsland };
}

/** Members in each block of `size` ranks that holds any; 0 where these differ. */
function evenRow(members: Uint32Array, size: number): number {
  let row = 0;
  let first = -1;
  let block = -1;
  for (const member of members) {
    const at = Math.floor(member / size);
    if (at === block) {
      row += 1;
      continue;
    }
    if (first < 0 && block >= 0) first = row;
    else if (block >= 0 && row !== first) return 0;
    block = at;
    row = 1;
  }
  return first < 0 || row === first ? row : 0;
}
