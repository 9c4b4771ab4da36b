/** @file What an all-to-all of tokens puts on each tier of links, by the way that copies of a token travel.
 *
 * A token goes to the `topK` experts that the router chose, and some of those share a rank or a node. A dispatcher either
 * sends a copy for each expert, one to each rank that has any of them, or one to each node, whose member at the sender's
 * own place hands it on over the fast links (returns are summed up the same way back). How many ranks or nodes that are is the
 * expected number under uniform routing without replacement.
 */

/** How copies of a token travel to its experts. */
export type DispatchWay = 'per-expert' | 'per-rank' | 'per-node';

/** Tokens that are sent to experts: the buffer holds `topK` copies of each. */
export interface Dispatch {
  readonly way: DispatchWay;
  readonly topK: number;
  readonly experts: number;
}

/** Where the members of a group sit. */
interface GroupTiers {
  readonly ranks: number;
  readonly inDomain: number;
  readonly inNode: number;
  readonly islands: number;
}

/** Bytes that a rank sends on each tier over bytes of its buffer. */
export interface TierShares {
  readonly inside: number;
  readonly node: number;
  readonly between: number;
}

/** Groups of experts, of `groups` equal ones, in which a token has any of its experts: the expected number. */
export function expectedGroups({ experts, topK }: Pick<Dispatch, 'experts' | 'topK'>, groups: number): number {
  const others = experts - experts / groups;
  let none = 1;
  for (let chosen = 0; chosen < topK; chosen++) none *= Math.max(0, (others - chosen) / (experts - chosen));
  return groups * (1 - none);
}

/** What each rank sends in an all-to-all; without `dispatch` every peer gets an equal piece of its own. */
export function allToAllShares({ ranks, inDomain, inNode, islands }: GroupTiers, dispatch?: Dispatch): TierShares {
  const inIsland = inDomain * inNode;
  const isCounted = dispatch !== undefined && dispatch.way !== 'per-expert';
  const toPeer = isCounted ? expectedGroups(dispatch, ranks) / dispatch.topK / ranks : 1 / ranks;
  const node = toPeer * inDomain * (inNode - 1);
  if (dispatch?.way !== 'per-node' || islands === 1) {
    return { inside: toPeer * (inDomain - 1), node, between: toPeer * (ranks - inIsland) };
  }
  // What comes from other islands is handed on inside: as much as all members send to all ranks of this one.
  const toIsland = expectedGroups(dispatch, islands) / dispatch.topK / islands;
  return {
    inside: toPeer * (inDomain - 1) * islands,
    node: node * islands,
    between: toIsland * (islands - 1),
  };
}

/** Rows of the busiest of `ranks` ranks over their mean, where rows fall on ranks by chance: the expected maximum of so many
 * normal deviations, from above, times `spread` (1: every row goes to any rank alike; 0: all ranks get the same). */
export function busiestOf(rows: number, ranks: number, spread: number): number {
  if (ranks <= 1 || rows <= 0) return 1;
  const most = 1 + spread * Math.sqrt((2 * Math.log(ranks) * (1 - 1 / ranks)) / rows);
  return Math.min(ranks, most);
}
