/** @file How much of its card's rate a rank keeps where blocks of nodes are oversubscribed.
 *
 * A block of nodes sends out at most the sum of its card rates over the oversubscription. What a group asks of that way
 * out depends on how it lies: a ring leaves a block once however many of its nodes are in it; in an all-to-all every rank
 * sends out the share of its peers that are outside; of neighbours on an axis only those at the border leave.
 */
import type { ClusterSpec } from '../cluster/index.ts';
import { type GroupAxes, sendLeaves, spreadOver } from './group-shape.ts';

/** Factors on the time of a card's bytes, 1 or more, the worst of all levels. */
export interface FabricShare {
  readonly ring: number;
  readonly out: number;
  readonly send: number;
}

/** The factors of all groups like `group`, which run at once; `inIsland` members share a node or a larger link domain. */
export function fabricShare(cluster: ClusterSpec, group: GroupAxes, world: number, inIsland: number): FabricShare {
  const { gpusPerNode, inter, intra } = cluster;
  const stride = group.strides[0] ?? 1;
  const degree = group.degrees[0] ?? 1;
  // Cards of different rails meet above the leaves, unless the fast links inside the node carry bytes to the right card.
  const crossesRails = inter.rails && intra.gpus < gpusPerNode && stride % gpusPerNode !== 0;
  let ring = 1;
  let out = 1;
  let send = 1;
  for (const { nodes, oversubscription } of inter.tiers) {
    const factor = oversubscription.value;
    if (factor === 1) continue;
    const size = nodes * gpusPerNode;
    const { members, blocks } = spreadOver(group, size, world);
    if (blocks > 1) {
      ring = Math.max(ring, factor / Math.max(1, members / inIsland));
      const outside = (group.ranks - members) / Math.max(1, group.ranks - inIsland);
      out = Math.max(out, factor * Math.min(1, outside));
    }
    if (crossesRails && nodes > 1) send = Math.max(send, factor);
    else if (sendLeaves(stride, degree, size)) send = Math.max(send, factor * Math.min(1, stride / size));
  }
  return { ring, out, send };
}
