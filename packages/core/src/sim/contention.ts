/** @file What each exchange of a graph asks of the links, by classes of links. */
import type { ExchangeRequest, GroupSet, LinkClass, NetworkBuilder, Prices } from '../cost/index.ts';
import { strideOf } from '../mesh/index.ts';
import {
  degreesOf,
  type ExpandedOperation,
  membersOf,
  type Operation,
  type Program,
  replayOf,
} from '../program/index.ts';
import { exchangeRequest } from './prices.ts';
import { listsOf, type RankClasses } from './ranks.ts';
import { remembered } from './remembered.ts';
import { listOf, type StepGraph, visitMembers } from './step-graph.ts';

/** What one exchange moves. */
export interface Demand {
  /** Classes of links that it crosses. */
  readonly classes: Uint32Array;
  /** Bytes over each link of the class. */
  readonly bytes: Float64Array;
  /** Bytes of its largest flow: what fairness is measured in. */
  readonly largest: number;
}

/** Exchanges and the links that they share. */
export interface Contention {
  /** By leader: the number of its demand; -1 for what crosses no link. */
  readonly demandOf: Int32Array;
  readonly demands: readonly Demand[];
  readonly links: readonly LinkClass[];
}

/** What crosses no link, and what is not known yet. */
export const NOTHING = -1;
const UNASKED = -2;

/** The demands of all exchanges of a graph on the links of `network`. */
export function contentionOf(
  program: Program,
  graph: StepGraph,
  ranks: RankClasses,
  prices: Prices,
  network: NetworkBuilder,
): Contention {
  const demandOf = new Int32Array(graph.leader.length).fill(NOTHING);
  const demands = createDemands(program, graph, ranks, prices, network);
  graph.lists.forEach((list, index) => {
    const base = graph.base[index] as number;
    const { samples, sampleOf } = replayOf(list);
    const bySample = new Int32Array(samples.length).fill(UNASKED);
    for (let place = 0; place < sampleOf.length; place++) {
      const at = base + place;
      if (graph.leader[at] !== at) continue;
      const sample = sampleOf[place] as number;
      let demand = bySample[sample] as number;
      if (demand === UNASKED) {
        const expanded = samples[sample] as ExpandedOperation;
        demand = demands.at(index, at, expanded);
        // Whom an exchange joins follows from its sample where it meets nobody.
        if (demand === NOTHING || graph.next[at] === at || expanded.operation.kind === 'send')
          bySample[sample] = demand;
      }
      demandOf[at] = demand;
    }
  });
  return { demandOf, ...demands.all() };
}

/** Who meets whom, in numbers of operations or of turns. */
export type Joins = Pick<StepGraph, 'lists' | 'classes' | 'base' | 'next'>;

/** Demands as they are asked for; equal ones have one number. */
export interface Demands {
  /** Of an exchange, the first of its members, in the list of a class; -1 for what crosses no link. */
  at(index: number, at: number, expanded: ExpandedOperation): number;
  /** Those that were asked for, and the links that they cross. */
  all(): Pick<Contention, 'demands' | 'links'>;
}

export function createDemands(
  program: Program,
  graph: Joins,
  ranks: RankClasses,
  prices: Prices,
  network: NetworkBuilder,
): Demands {
  const sets = groupSets(program, graph, ranks);
  const degrees = degreesOf(program);
  const asked: { readonly pattern: number; readonly bytes: number }[] = [];
  const numbers = new Map<string, number>();
  const demandFor = (set: GroupSet, request: ExchangeRequest): number => {
    const pattern = network.add(set, request.kind, prices.tiersOf(request));
    const key = `${pattern} ${request.bytes}`;
    const known = numbers.get(key) ?? asked.push({ pattern, bytes: request.bytes }) - 1;
    numbers.set(key, known);
    return known;
  };
  const requestOf = remembered((expanded) => exchangeRequest(program, expanded, degrees));
  const known = graph.lists.map(() => new Map<ExchangeRequest, Map<string, number>>());
  return {
    at: (index, at, expanded) => {
      if (!isExchange(expanded.operation)) return NOTHING;
      const request = requestOf(expanded);
      if (request === undefined || request.bytes === 0) return NOTHING;
      const set = sets(index, at, expanded);
      if (set === undefined) return NOTHING;
      const bySet = known[index]?.get(request) ?? new Map<string, number>();
      known[index]?.set(request, bySet);
      const demand = bySet.get(set.key) ?? demandFor(set, request);
      bySet.set(set.key, demand);
      return demand;
    },
    all: () => {
      const { classes, patterns } = network.build();
      const demands = asked.map(({ pattern, bytes }): Demand => {
        const row = patterns[pattern];
        if (row === undefined) throw new Error('internal: an exchange without a pattern.');
        return { classes: row.classes, bytes: row.share.map((share) => share * bytes), largest: row.largest * bytes };
      });
      return { demands, links: classes };
    },
  };
}

const isExchange = ({ kind }: Operation): boolean => kind === 'collective' || kind === 'send' || kind === 'recv';

/** The groups that run an exchange together: those of the classes that it joins. */
function groupSets(
  program: Program,
  graph: Joins,
  ranks: RankClasses,
): (index: number, at: number, expanded: ExpandedOperation) => GroupSet | undefined {
  const { mesh } = program;
  const ranksOf = ranksByClass(program, graph, ranks);
  const known = new Map<string, GroupSet>();
  const remember = (key: string, make: () => GroupSet): GroupSet => {
    const found = known.get(key) ?? make();
    known.set(key, found);
    return found;
  };
  const stagesTo = strideOf(mesh, 'pipeline');
  return (index, at, { operation }) => {
    if (operation.kind === 'collective') {
      const joined = joinedClasses(graph, at);
      const key = `${operation.axis} ${joined.join(' ')}`;
      return remember(key, () => {
        const ranks = sortedRanks(joined.map(ranksOf));
        return groupsOf(program, operation.axis, ranks, key);
      });
    }
    if (operation.kind !== 'send' && operation.kind !== 'recv') return undefined;
    const own = graph.lists[index]?.list.pipeline ?? 0;
    const [from, to] = operation.kind === 'send' ? [own, operation.peer] : [operation.peer, own];
    const sender = operation.kind === 'send' ? index : senderOf(graph, at);
    if (sender === undefined || from === to) return undefined;
    const key = `send ${sender} to ${to}`;
    return remember(key, () => ({
      key,
      bases: ranksOf(sender),
      offsets: new Uint32Array(0),
      peer: (to - from) * stagesTo,
    }));
  };
}

function sortedRanks(ofClasses: readonly Uint32Array[]): Uint32Array {
  const ranks = new Uint32Array(ofClasses.reduce((sum, { length }) => sum + length, 0));
  let filled = 0;
  for (const each of ofClasses) {
    ranks.set(each, filled);
    filled += each.length;
  }
  return ofClasses.length === 1 ? ranks : ranks.sort();
}

/** The class of the other member of a pair whose leader receives. */
function senderOf(graph: Joins, at: number): number | undefined {
  const other = graph.next[at] as number;
  return other === at ? undefined : listOf(graph, other);
}

function joinedClasses(graph: Joins, at: number): readonly number[] {
  const joined: number[] = [];
  visitMembers(graph, at, (member) => joined.push(listOf(graph, member)));
  return joined.sort((one, other) => one - other);
}

/** Ranks of each class. */
function ranksByClass(program: Program, graph: Joins, { of }: RankClasses): (index: number) => Uint32Array {
  const listOf = listsOf(program);
  const ranks = graph.classes.map(({ ranks: size }) => new Uint32Array(size));
  const filled = new Uint32Array(ranks.length);
  const total = graph.classes.reduce((sum, { ranks: size }) => sum + size, 0);
  for (let rank = 0; rank < total; rank++) {
    const at = of.length === 0 ? listOf(rank) : (of[rank] as number);
    (ranks[at] as Uint32Array)[filled[at] as number] = rank;
    filled[at] = (filled[at] as number) + 1;
  }
  return (index) => ranks[index] as Uint32Array;
}

/** Groups over an axis or named group that `ranks` are made of; all are shifted copies of the first one. */
function groupsOf(program: Program, over: string, ranks: Uint32Array, key: string): GroupSet {
  const [first = 0] = ranks;
  const offsets = Uint32Array.from(membersOf(program, first, over), (member) => member - first);
  const taken = new Uint8Array((ranks.at(-1) ?? 0) + 1);
  const bases: number[] = [];
  for (const rank of ranks) {
    if (taken[rank] === 1) continue;
    bases.push(rank);
    for (let index = 0; index < offsets.length; index++) taken[rank + (offsets[index] as number)] = 1;
  }
  return { key, bases: Uint32Array.from(bases), offsets };
}
