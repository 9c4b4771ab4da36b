/** @file What an exchange puts on each link while all groups of a set run it: shares of the buffer, and flows.
 *
 * A group that spans tiers works in pieces: inside of a domain on the whole buffer, on the tier outside of k members each
 * on 1/k of it, as prices say (exchange.ts). An all-to-all is laid out as rotations: each member sends what leaves its
 * domain to the member at its own place in the next one, which loads every link as all its messages do together.
 */
import type { Topology } from '../../cluster/index.ts';
import { algorithms, type CollectiveAlgorithm, type CollectiveKind, SWITCH } from '../../collectives/index.ts';
import { allToAllShares, type Dispatch, type TierShares } from '../dispatch.ts';
import { type TieredGroup, tieredGroup } from './tiers.ts';

/** Groups that run the same exchange at the same time: each has a member at `base + offset` for every offset. */
export interface GroupSet {
  /** Names the set: equal keys are equal sets. */
  readonly key: string;
  readonly bases: Uint32Array;
  /** Ascending. */
  readonly offsets: Uint32Array;
  /** Where the set is of messages: from the base to the rank at this distance. */
  readonly peer?: number;
}

/** How the tiers run a collective. */
export interface TierAlgorithms {
  readonly inside: CollectiveAlgorithm;
  readonly between: CollectiveAlgorithm;
  /** One row over all members, whatever joins them. */
  readonly flat?: true;
  /** Of an all-to-all of tokens: how they travel. */
  readonly dispatch?: Dispatch;
}

/** Loads of one exchange on the links, as they are added up. */
export interface LinkLoads {
  /** Bytes on the link over bytes of the buffer. */
  readonly share: Float64Array;
  readonly flows: Uint32Array;
  /** Links that carry anything. */
  readonly touched: number[];
  /** The largest share of one flow. */
  largest: number;
}

export const createLoads = (links: number): LinkLoads => ({
  share: new Float64Array(links),
  flows: new Uint32Array(links),
  touched: [],
  largest: 0,
});

/** Adds the loads of an exchange over all groups of a set. */
export function addLoads(
  topology: Topology,
  set: GroupSet,
  kind: CollectiveKind,
  by: TierAlgorithms,
  to: LinkLoads,
): void {
  const flow = flowOn(topology, to);
  const members = new Uint32Array(set.offsets.length);
  for (const base of set.bases) {
    if (set.peer !== undefined) {
      flow(base, base + set.peer, 1);
      continue;
    }
    for (let index = 0; index < members.length; index++) members[index] = base + (set.offsets[index] as number);
    if (members.length <= 1) continue;
    if (kind === 'send') {
      // A shift: every member hands its buffer to the next one around the circle.
      for (let index = 0; index < members.length; index++) {
        flow(members[index] as number, members[(index + 1) % members.length] as number, 1);
      }
      continue;
    }
    const tiers: TieredGroup =
      by.flat === true ? { members, inDomain: 1, inNode: 1, islands: members.length } : tieredGroup(topology, members);
    if (kind === 'all-to-all') rotate(tiers, sharesOf(tiers, by.dispatch), flow);
    else if (by.inside.name === 'direct') {
      rotate(tiers, scaled(sharesOf(tiers), members.length * directShare(kind, members.length)), flow);
    } else addTiers(tiers, kind, by, flow);
  }
}

/** What a member sends to each other one in one step. */
const directShare = (kind: CollectiveKind, ranks: number): number =>
  algorithms.direct.bytesSent(kind, 1, ranks) / (ranks - 1);

type Flow = (from: number, to: number, share: number) => void;

/** Puts a flow on the links that it crosses; {@link SWITCH} is the switch of the other end's domain, or its leaf. */
function flowOn(topology: Topology, loads: LinkLoads): Flow {
  const { share: shares, flows, touched } = loads;
  let share = 0;
  const put = (link: number): void => {
    if (flows[link] === 0) touched.push(link);
    shares[link] = (shares[link] as number) + share;
    flows[link] = (flows[link] as number) + 1;
  };
  return (from, to, part) => {
    share = part;
    if (part > loads.largest) loads.largest = part;
    if (from !== SWITCH && to !== SWITCH) topology.route(from, to, put);
    else if (from === SWITCH) put((topology.switchPort(to) ?? topology.cardPort(to)).in);
    else put((topology.switchPort(from) ?? topology.cardPort(from)).out);
  };
}

function addTiers(
  { members, inDomain, inNode, islands }: TieredGroup,
  kind: CollectiveKind,
  { inside, between }: TierAlgorithms,
  flow: Flow,
): void {
  const rank = (index: number): number => (index === SWITCH ? SWITCH : (members[index] as number));
  const ring = algorithms.ring;
  const domains = inNode * islands;
  if (inDomain > 1) {
    for (let domain = 0; domain < domains; domain++) {
      const at = (place: number): number => (place === SWITCH ? SWITCH : domain * inDomain + place);
      inside.flows(kind, inDomain, (from, to, share) => flow(rank(at(from)), rank(at(to)), share));
    }
  }
  let piece = 1 / inDomain;
  if (inNode > 1) {
    for (let island = 0; island < islands; island++) {
      for (let place = 0; place < inDomain; place++) {
        const at = (node: number): number => (island * inNode + node) * inDomain + place;
        ring.flows(kind, inNode, (from, to, share) => flow(rank(at(from)), rank(at(to)), share * piece));
      }
    }
  }
  piece /= inNode;
  if (islands > 1) {
    const stride = inDomain * inNode;
    for (let place = 0; place < stride; place++) {
      const at = (island: number): number => (island === SWITCH ? SWITCH : island * stride + place);
      between.flows(kind, islands, (from, to, share) => flow(rank(at(from)), rank(at(to)), share * piece));
    }
  }
}

const sharesOf = ({ members, inDomain, inNode, islands }: TieredGroup, dispatch?: Dispatch): TierShares =>
  allToAllShares({ ranks: members.length, inDomain, inNode, islands }, dispatch);

const scaled = ({ inside, node, between }: TierShares, by: number): TierShares => ({
  inside: by * inside,
  node: by * node,
  between: by * between,
});

/** Every member to every other one: what it sends on each tier goes to the member at its own place further on. */
function rotate({ members, inDomain, inNode, islands }: TieredGroup, shares: TierShares, flow: Flow): void {
  const stride = inDomain * inNode;
  for (let index = 0; index < members.length; index++) {
    const place = index % inDomain;
    const node = Math.floor(index / inDomain) % inNode;
    const island = Math.floor(index / stride);
    const at = (i: number, n: number, p: number): number => members[i * stride + n * inDomain + p] as number;
    const from = members[index] as number;
    if (inDomain > 1) flow(from, at(island, node, (place + 1) % inDomain), shares.inside);
    if (inNode > 1) flow(from, at(island, (node + 1) % inNode, place), shares.node);
    if (islands > 1) flow(from, at((island + 1) % islands, node, place), shares.between);
  }
}
