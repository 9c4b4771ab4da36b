/** @file Places turns in time while their exchanges share links: turns whose exchanges have their links to themselves are placed in
 * one go, ahead of the clock; sends, and what else shares links, are events.
 */
import type { ExpandedList } from '../../program/index.ts';
import type { Meetings } from '../match.ts';
import { listOf } from '../step-graph.ts';
import { type ListWalk, leave, secondsOf, startOf } from '../turns/walk.ts';
import { placeWhole, type Times, timesOf } from '../turns/walk-on.ts';
import { walksOf } from '../turns/walks.ts';
import type { OperationPrices } from '../types.ts';
import { FlowClock } from './clock.ts';
import type { TurnDemands } from './turn-demands.ts';
import { type TurnGraph, turnGraph } from './turn-graph.ts';

/** What happened beside the times. */
export interface SharedTurns {
  /** The last end of each list. */
  readonly ends: Float64Array;
  /** Seconds in which each class of links carried anything. */
  readonly busySeconds: Float64Array;
  readonly flowEvents: number;
}

/** Undefined where some wait in a circle, and where links were not left to whom they were thought to be. */
export function placeSharedTurns(
  lists: readonly ExpandedList[],
  meetings: Meetings,
  pricing: OperationPrices,
  demands: TurnDemands,
): SharedTurns | undefined {
  const walks = walksOf(lists, meetings, pricing, (index) => demands.seconds[index] as Float64Array);
  const graph = turnGraph(walks, meetings);
  if (graph === undefined) return undefined;
  const run = new TurnRun(walks, meetings, graph, demands);
  if (!run.toTheEnd()) return undefined;
  const { links, flowEvents } = run.clock;
  demands.carried.forEach((seconds, demand) => {
    links.carried(demand, seconds);
  });
  return {
    ends: Float64Array.from(walks, ({ latest }) => latest),
    busySeconds: links.busySeconds(),
    flowEvents: flowEvents + demands.flowEvents,
  };
}

/** Turns that are events are not placed as a whole. */
const noEvent = (): boolean => false;

/** One step under way. */
class TurnRun {
  readonly clock: FlowClock;
  readonly #walks: readonly ListWalk[];
  readonly #meetings: Meetings;
  readonly #graph: TurnGraph;
  readonly #demands: TurnDemands;
  readonly #times: Times;
  readonly #seconds: Float64Array;
  /** Leaders whose needs are all placed, a stack: what follows on is placed while its neighbours are at hand. */
  readonly #ready: number[] = [];
  #placed = 0;

  constructor(walks: readonly ListWalk[], meetings: Meetings, graph: TurnGraph, demands: TurnDemands) {
    this.clock = new FlowClock(demands, meetings.next.length);
    this.#walks = walks;
    this.#meetings = meetings;
    this.#graph = graph;
    this.#demands = demands;
    this.#times = timesOf(walks, undefined);
    this.#seconds = new Float64Array(meetings.next.length);
  }

  /** Whether all turns have come to their end, and those thought to be alone on their links were. */
  toTheEnd(): boolean {
    const { leader } = this.#meetings;
    const { waiting } = this.#graph;
    for (let node = leader.length - 1; node >= 0; node--) {
      if (leader[node] === node && waiting[node] === 0) this.#ready.push(node);
    }
    const { clock } = this;
    const settle = (): void => clock.links.settle(clock.setRate);
    this.#placeReady();
    settle();
    clock.toTheEnd({
      begin: (node) => this.#begin(node),
      ended: (_, node) => {
        this.#finish(node, clock.now);
        this.#placeReady();
      },
      settle,
    });
    return this.#placed === leader.length && this.#demands.hosts.guards.every(({ over, since }) => since >= over);
  }

  #placeReady(): void {
    const { next } = this.#meetings;
    const { demandOf } = this.#demands;
    for (let node = this.#ready.pop(); node !== undefined; node = this.#ready.pop()) {
      const isEvent = (demandOf[node] as number) >= 0;
      if (next[node] === node && !isEvent) {
        this.#placeTurn(node);
        this.#release(node);
        continue;
      }
      const from = this.#startOf(node);
      const seconds = this.#seconds[node] as number;
      if (seconds === 0 || !isEvent) this.#finish(node, from + seconds);
      else if (from > this.clock.now) this.clock.foresee(node, from);
      else this.#begin(node);
    }
  }

  #begin(node: number): void {
    this.clock.begin(node, this.#demands.demandOf[node] as number, this.#seconds[node] as number);
  }

  #walkOf(node: number): ListWalk {
    return this.#walks[listOf(this.#meetings, node)] as ListWalk;
  }

  /** The host as it comes to a turn. */
  #issue(walk: ListWalk, node: number): void {
    const anchor = this.#graph.anchor[node] as number;
    walk.anchor = anchor < 0 ? 0 : (walk.end[anchor - walk.base] as number);
    walk.offset = this.#graph.offset[node] as number;
  }

  #placeTurn(node: number): void {
    const walk = this.#walkOf(node);
    this.#issue(walk, node);
    placeWhole(walk, node - walk.base, this.#times, noEvent);
    this.#placed += 1;
    this.#watch(walk, node);
  }

  /** When all members of an exchange could begin; how long it takes is the longest of theirs. */
  #startOf(node: number): number {
    const { next } = this.#meetings;
    let from = 0;
    let seconds = 0;
    let member = node;
    do {
      const walk = this.#walkOf(member);
      this.#issue(walk, member);
      const turn = member - walk.base;
      const at = walk.turns.rowOf[turn] as number;
      const sample = walk.turns.rows.sampleOf[at] as number;
      const issued = walk.anchor + (walk.offset + (walk.shape.launch[sample] as number));
      from = Math.max(from, startOf(walk, turn, at, sample, issued));
      seconds = Math.max(seconds, secondsOf(walk, walk.turns.first[turn] as number, sample));
      member = next[member] as number;
    } while (member !== node);
    this.#seconds[node] = seconds;
    this.#meetGuards(node, from);
    return from;
  }

  #finish(node: number, until: number): void {
    const { next } = this.#meetings;
    let member = node;
    do {
      const walk = this.#walkOf(member);
      const turn = member - walk.base;
      const at = walk.turns.rowOf[turn] as number;
      leave(walk, turn, at, walk.turns.rows.sampleOf[at] as number, until);
      walk.end[turn] = until;
      if (until > walk.latest) walk.latest = until;
      this.#placed += 1;
      this.#watch(walk, member);
      member = next[member] as number;
    } while (member !== node);
    this.#release(node);
  }

  #release(node: number): void {
    const { waiting, first, successors } = this.#graph;
    const to = first[node + 1] as number;
    for (let each = first[node] as number; each < to; each++) {
      const successor = successors[each] as number;
      const left = (waiting[successor] as number) - 1;
      waiting[successor] = left;
      if (left === 0) this.#ready.push(successor);
    }
  }

  /** Notes until when lanes ran that have to be over before guests of their links begin. */
  #watch(walk: ListWalk, node: number): void {
    for (const guard of this.#demands.hosts.guardsOf(listOf(this.#meetings, node))) {
      if (node < guard.limit) guard.over = Math.max(guard.over, walk.free[guard.lane] as number);
    }
  }

  #meetGuards(node: number, from: number): void {
    for (const guard of this.#demands.hosts.guestOf(node)) guard.since = Math.min(guard.since, from);
  }
}
