/** @file Places the operations of a graph in time while they share links and slow each other down.
 *
 * An operation that nothing can slow down ends a known time after its start, so it is placed as soon as what it waits for is,
 * ahead of the clock, as in `../place.ts` and to the same bit; only the others are events.
 */
import type { Contention } from '../contention.ts';
import { throwDeadlock } from '../deadlock.ts';
import { durationsOf, type Placed, type Successors, successorsOf } from '../place.ts';
import type { StepGraph } from '../step-graph.ts';
import type { OperationPrices } from '../types.ts';
import { FlowClock } from './clock.ts';
import { type SlowDown, SlowingLanes } from './lanes.ts';
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
  const { clock } = run;
  return { start: run.start, end: run.end, busySeconds: clock.links.busySeconds(), flowEvents: clock.flowEvents };
}

/** One step under way. */
class SharedRun {
  readonly start: Float64Array;
  readonly end: Float64Array;
  readonly clock: FlowClock;
  readonly #graph: StepGraph;
  readonly #settled: Settled;
  readonly #demandOf: Int32Array;
  readonly #successors: Successors;
  readonly #lanes: SlowingLanes;
  readonly #count: number;
  /** Leaders whose needs are all placed, a stack: what follows on is placed while its neighbours are at hand. */
  readonly #ready: number[] = [];
  #ended = 0;

  constructor(graph: StepGraph, duration: Float64Array, contention: Contention, slowDown: SlowDown) {
    this.#graph = graph;
    this.#settled = settledOf(graph, duration, contention, slowDown);
    this.#demandOf = contention.demandOf;
    this.#count = graph.leader.length;
    this.#successors = successorsOf(graph);
    this.clock = new FlowClock(contention, this.#count);
    this.#lanes = new SlowingLanes(graph, slowDown);
    this.start = new Float64Array(this.#count);
    this.end = new Float64Array(this.#count);
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
    this.clock.toTheEnd({
      begin: (node) => {
        this.#begin(node);
        this.#placeReady();
      },
      ended: (slot, node) => {
        this.#lanes.end(slot, node);
        this.#finish(node, this.clock.now);
        this.#placeReady();
      },
      settle: () => this.#settle(),
    });
    if (this.#ended < nodes) throwDeadlock(this.#graph, waiting);
  }

  #settle(): void {
    const { links, setRate } = this.clock;
    this.#lanes.settle(setRate, links.limit);
    links.settle(setRate);
  }

  /** Places what is ready and settled, and all that follows; the rest becomes events. */
  #placeReady(): void {
    const { isSettled, seconds } = this.#settled;
    for (let node = this.#ready.pop(); node !== undefined; node = this.#ready.pop()) {
      const from = this.#startOf(node);
      if (isSettled[node] === 0) {
        if (from > this.clock.now) this.clock.foresee(node, from);
        else this.#begin(node);
        continue;
      }
      const demand = this.#demandOf[node] as number;
      const taken = seconds[node] as number;
      if (demand >= 0 && taken > 0) {
        this.clock.flowEvents += 2;
        this.clock.links.carried(demand, taken);
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
    const demand = this.#demandOf[node] as number;
    const slot = this.clock.begin(node, demand, this.#settled.seconds[node] as number);
    this.#lanes.begin(slot, node, demand >= 0);
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
