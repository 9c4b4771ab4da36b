/** @file What runs at a moment and when it will end. Rates change only when something begins or ends, and hold between: each
 * change works out anew when the operations that it reaches will end.
 */
import type { Contention } from '../contention.ts';
import { createEvents, type EventQueue } from './events.ts';
import { SharedLinks } from './links.ts';

/** What is done as time goes on. */
export interface ClockWork {
  /** The time has come at which `node` begins, as was foreseen. */
  begin(node: number): void;
  /** Another has ended; its slot is free. */
  ended(slot: number, node: number): void;
  /** All that happens at one time has happened: rates are worked out. */
  settle(): void;
}

/** A clock with slots for what runs now; those of ended operations are used again. */
export class FlowClock {
  now = 0;
  /** Begins and ends of exchanges that cross links. */
  flowEvents = 0;
  readonly links: SharedLinks;
  readonly #count: number;
  readonly #events: EventQueue = createEvents();
  readonly #node: number[] = [];
  readonly #crosses: boolean[] = [];
  /** Seconds alone that are left at `since`, and the share of the speed alone. */
  readonly #left: number[] = [];
  readonly #since: number[] = [];
  readonly #rate: number[] = [];
  /** Of the end that is foreseen now: others in the queue are out of date. */
  readonly #round: number[] = [];
  readonly #free: number[] = [];

  /** `count`: numbers of nodes are below it. */
  constructor(contention: Pick<Contention, 'demands' | 'links'>, count: number) {
    this.links = new SharedLinks(contention);
    this.#count = count;
  }

  /** A node begins at a later time. */
  foresee(node: number, from: number): void {
    this.#events.push(from, node, 0);
  }

  /** A node begins now and takes so long alone; returns its slot. `demand`: below 0 where it crosses no link. */
  begin(node: number, demand: number, seconds: number): number {
    const slot = this.#free.pop() ?? this.#node.length;
    this.#node[slot] = node;
    this.#crosses[slot] = demand >= 0;
    this.#left[slot] = seconds;
    this.#since[slot] = this.now;
    this.#rate[slot] = 1;
    this.#round[slot] ??= 0;
    if (demand >= 0) {
      this.flowEvents += 1;
      this.links.add(slot, demand, seconds);
    }
    this.#foreseeEnd(slot);
    return slot;
  }

  readonly setRate = (slot: number, rate: number): void => {
    const before = this.#rate[slot] as number;
    if (rate === before) return;
    const passed = (this.now - (this.#since[slot] as number)) * before;
    this.#left[slot] = Math.max(0, (this.#left[slot] as number) - passed);
    this.#since[slot] = this.now;
    this.#rate[slot] = rate;
    this.#foreseeEnd(slot);
  };

  toTheEnd({ begin, ended, settle }: ClockWork): void {
    const events = this.#events;
    while (events.size() > 0) {
      this.now = events.time();
      this.links.now = this.now;
      while (events.time() === this.now) {
        events.pop();
        const slot = events.number - this.#count;
        if (slot < 0) begin(events.number);
        else if (events.round === this.#round[slot]) ended(slot, this.#end(slot));
      }
      settle();
    }
  }

  #foreseeEnd(slot: number): void {
    const round = (this.#round[slot] as number) + 1;
    this.#round[slot] = round;
    const rate = this.#rate[slot] as number;
    const end = (this.#since[slot] as number) + (this.#left[slot] as number) / rate;
    if (rate > 0) this.#events.push(end, this.#count + slot, round);
  }

  #end(slot: number): number {
    if (this.#crosses[slot] === true) {
      this.flowEvents += 1;
      this.links.remove(slot);
    }
    this.#free.push(slot);
    this.#round[slot] = (this.#round[slot] as number) + 1;
    return this.#node[slot] as number;
  }
}
