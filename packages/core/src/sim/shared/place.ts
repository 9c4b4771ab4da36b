/** @file Places the operations of a graph in time while they share links and slow each other down.
 *
 * Rates change only when something begins or ends, and hold between: each change works out anew when the operations that
 * it reaches will end. An operation that nothing can slow down ends a known time after its start, so it is placed as soon as what
 * it waits for is, ahead of the clock, as in `../place.ts` and to the same bit; only the others are events.
 */
import type { Contention } from '../contention.ts';
import { throwDeadlock } from '../deadlock.ts';
import { durationsOf, type Placed, type Successors, successorsOf } from '../place.ts';
import type { StepGraph } from '../step-graph.ts';
import type { OperationPrices } from '../types.ts';
import { createEvents, type EventQueue } from './events.ts';
import { type SlowDown, SlowingLanes } from './lanes.ts';
import { SharedLinks } from './links.ts';
import { type Settled, settledOf } from './settled.ts';

/** What happened beside start and end. */
export interface SharedPlaced extends Placed {
  /** Seconds in which each class of links carried anything. */
  readonly busySeconds: Float64Array;
  /** Begins and ends of exchanges that cross links. */
  readonly flowEvents: number;
}

/** Throws an InputError that says what waits for what when operations wait in a circle. */
export function placeShared(
  graph: StepGraph,
  pricing: OperationPrices,
  contention: Contention,
  slowDown: SlowDown,
): SharedPlaced {
  const run = new SharedRun(graph, durationsOf(graph, pricing), contention, slowDown);
  run.toTheEnd();
  return { start: run.start, end: run.end, busySeconds: run.busySeconds(), flowEvents: run.flowEvents };
}

/** One step under way. Slots hold the events that run now; those of ended operations are used again. */
class SharedRun {
  readonly start: Float64Array;
  readonly end: Float64Array;
  flowEvents = 0;
  readonly #graph: StepGraph;
  readonly #settled: Settled;
  readonly #demandOf: Int32Array;
  readonly #successors: Successors;
  readonly #links: SharedLinks;
  readonly #lanes: SlowingLanes;
  readonly #events: EventQueue = createEvents();
  readonly #count: number;
  /** Leaders whose needs are all placed, a stack: what follows on is placed while its neighbours are at hand. */
  readonly #ready: number[] = [];
  readonly #node: number[] = [];
  /** Seconds alone that are left at `since`, and the share of the speed alone. */
  readonly #left: number[] = [];
  readonly #since: number[] = [];
  readonly #rate: number[] = [];
  /** Of the end that is foreseen now: others in the queue are out of date. */
  readonly #round: number[] = [];
  readonly #free: number[] = [];
  #now = 0;
  #ended = 0;

  constructor(graph: StepGraph, duration: Float64Array, contention: Contention, slowDown: SlowDown) {
    this.#graph = graph;
    this.#settled = settledOf(graph, duration, contention, slowDown);
    this.#demandOf = contention.demandOf;
    this.#count = graph.leader.length;
    this.#successors = successorsOf(graph);
    this.#links = new SharedLinks(contention);
    this.#lanes = new SlowingLanes(graph, slowDown);
    this.start = new Float64Array(this.#count);
    this.end = new Float64Array(this.#count);
  }

  busySeconds(): Float64Array {
    return this.#links.busySeconds();
  }

  toTheEnd(): void {
    const { leader } = this.#graph;
    const { waiting } = this.#successors;
    let nodes = 0;
    for (let at = 0; at < this.#count; at++) {
      if (leader[at] !== at) continue;
      nodes += 1;
      if (waiting[at] === 0) this.#ready.push(at);
    }
    this.#placeReady();
    this.#settle();
    const events = this.#events;
    while (events.size() > 0) {
      this.#now = events.time();
      this.#links.now = this.#now;
      while (events.time() === this.#now) {
        events.pop();
        const slot = events.number - this.#count;
        if (slot < 0) this.#begin(events.number);
        else if (events.round === this.#round[slot]) this.#endSlot(slot);
        this.#placeReady();
      }
      this.#settle();
    }
    if (this.#ended < nodes) throwDeadlock(this.#graph, waiting);
  }

  readonly #setRate = (slot: number, rate: number): void => {
    const before = this.#rate[slot] as number;
    if (rate === before) return;
    const passed = (this.#now - (this.#since[slot] as number)) * before;
    this.#left[slot] = Math.max(0, (this.#left[slot] as number) - passed);
    this.#since[slot] = this.#now;
    this.#rate[slot] = rate;
    this.#foresee(slot);
  };

  #settle(): void {
    this.#lanes.settle(this.#setRate, this.#links.limit);
    this.#links.settle(this.#setRate);
  }

  #foresee(slot: number): void {
    const round = (this.#round[slot] as number) + 1;
    this.#round[slot] = round;
    const rate = this.#rate[slot] as number;
    const end = (this.#since[slot] as number) + (this.#left[slot] as number) / rate;
    if (rate > 0) this.#events.push(end, this.#count + slot, round);
  }

  /** Places what is ready and settled, and all that follows; the rest becomes events. */
  #placeReady(): void {
    const { isSettled, seconds } = this.#settled;
    for (let node = this.#ready.pop(); node !== undefined; node = this.#ready.pop()) {
      const from = this.#startOf(node);
      if (isSettled[node] === 0) {
        if (from > this.#now) this.#events.push(from, node, 0);
        else this.#begin(node);
        continue;
      }
      const demand = this.#demandOf[node] as number;
      const taken = seconds[node] as number;
      if (demand >= 0 && taken > 0) {
        this.flowEvents += 2;
        this.#links.carried(demand, taken);
      }
      this.#finish(node, from + taken);
    }
  }

  /** When all needs of a node are done and the hosts of all members have issued it; its members then start. */
  #startOf(node: number): number {
    const { hostAnchor, hostOffset, next } = this.#graph;
    const { start, end } = this;
    let from = start[node] as number;
    let member = node;
    do {
      const anchor = hostAnchor[member] as number;
      const issued = (anchor < 0 ? 0 : (end[anchor] as number)) + (hostOffset[member] as number);
      if (issued > from) from = issued;
      member = next[member] as number;
    } while (member !== node);
    do {
      start[member] = from;
      member = next[member] as number;
    } while (member !== node);
    return from;
  }

  #begin(node: number): void {
    const seconds = this.#settled.seconds[node] as number;
    const slot = this.#free.pop() ?? this.#node.length;
    this.#node[slot] = node;
    this.#left[slot] = seconds;
    this.#since[slot] = this.#now;
    this.#rate[slot] = 1;
    this.#round[slot] ??= 0;
    const demand = this.#demandOf[node] as number;
    if (demand >= 0) {
      this.flowEvents += 1;
      this.#links.add(slot, demand, seconds);
    }
    this.#lanes.begin(slot, node, demand >= 0);
    this.#foresee(slot);
  }

  #endSlot(slot: number): void {
    const node = this.#node[slot] as number;
    if ((this.#demandOf[node] as number) >= 0) {
      this.flowEvents += 1;
      this.#links.remove(slot);
    }
    this.#lanes.end(slot, node);
    this.#free.push(slot);
    this.#round[slot] = (this.#round[slot] as number) + 1;
    this.#finish(node, this.#now);
  }

  #finish(node: number, until: number): void {
    const { next } = this.#graph;
    const { start, end } = this;
    let member = node;
    do {
      end[member] = until;
      member = next[member] as number;
    } while (member !== node);
    this.#ended += 1;
    const { waiting, first, successors } = this.#successors;
    const to = first[node + 1] as number;
    for (let each = first[node] as number; each < to; each++) {
      const successor = successors[each] as number;
      if (until > (start[successor] as number)) start[successor] = until;
      const left = (waiting[successor] as number) - 1;
      waiting[successor] = left;
      if (left === 0) this.#ready.push(successor);
    }
  }
}
