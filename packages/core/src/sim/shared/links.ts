/** @file Rates of the exchanges that run at a moment: max-min fair on the classes of links that they share.
 *
 * An exchange runs as one: its rate is a share of the rate that it has alone, so all its flows slow down together. What
 * its largest flow gets in bytes per second is raised for all exchanges alike until a link is full, or an exchange is as
 * fast as it can be; those stop there, the others go on: progressive filling ([bertsekas1992] in docs/sources.md).
 */
import type { Contention, Demand } from '../contention.ts';
import { type Filling, fillRates, type Sharing } from './fill.ts';

const nothing = new Uint32Array(0);
const nobody = (): Sharing => ({ slot: 0, links: nothing, rates: new Float64Array(0), largest: 0, most: 1, seen: 0 });

/** The links of a step and the exchanges that run on them, by slot. */
export class SharedLinks {
  /** The time at which slots are added and removed. */
  now = 0;
  readonly #demands: readonly Demand[];
  readonly #healthy: Float64Array;
  readonly #filling: Filling;
  /** By class of links. */
  readonly #running: Sharing[][];
  readonly #seen: Uint32Array;
  readonly #busySeconds: Float64Array;
  readonly #busySince: Float64Array;
  readonly #slots: Sharing[] = [];
  readonly #dirty: Sharing[] = [];
  readonly #dirtyLinks: number[] = [];
  #round = 0;

  constructor({ links, demands }: Contention) {
    this.#demands = demands;
    this.#healthy = Float64Array.from(links, (link) => link.healthy);
    this.#filling = {
      capacity: Float64Array.from(links, (link) => link.capacity),
      residual: new Float64Array(links.length),
      weight: new Float64Array(links.length),
    };
    this.#running = links.map(() => []);
    this.#seen = new Uint32Array(links.length);
    this.#busySeconds = new Float64Array(links.length);
    this.#busySince = new Float64Array(links.length);
  }

  /** An exchange begins in a slot; alone it takes `seconds`. */
  add(slot: number, demand: number, seconds: number): void {
    this.#slots[slot] ??= nobody();
    const each = this.#slots[slot];
    const { classes, bytes, largest } = this.#demands[demand] as Demand;
    each.slot = slot;
    each.links = classes;
    each.most = 1;
    each.largest = largest / seconds;
    // Alone no exchange is faster than its links: prices were measured, capacities are stated.
    each.rates = bytes.map((sum, index) => Math.min(sum / seconds, this.#healthy[classes[index] as number] as number));
    for (const link of classes) {
      const row = this.#running[link] as Sharing[];
      if (row.length === 0) this.#busySince[link] = this.now;
      row.push(each);
    }
    this.#dirty.push(each);
  }

  remove(slot: number): void {
    const each = this.#slots[slot] as Sharing;
    for (const link of each.links) {
      const row = this.#running[link] as Sharing[];
      row.splice(row.indexOf(each), 1);
      if (row.length === 0) {
        this.#busySeconds[link] = (this.#busySeconds[link] as number) + this.now - (this.#busySince[link] as number);
      } else this.#dirtyLinks.push(link);
    }
    this.#slots[slot] = nobody();
    each.links = nothing;
  }

  /** The most that an exchange can be of its rate alone: less than 1 while kernels slow it down. */
  readonly limit = (slot: number, most: number): void => {
    const each = this.#slots[slot] as Sharing;
    if (each.most === most) return;
    each.most = most;
    this.#dirty.push(each);
  };

  /** Works out the rates of all that may have changed, and tells each. */
  settle(tell: (slot: number, rate: number) => void): void {
    if (this.#dirty.length === 0 && this.#dirtyLinks.length === 0) return;
    const members: Sharing[] = [];
    const touched: number[] = [];
    this.#reach(members, touched);
    if (members.length > 0) fillRates(this.#filling, members, touched, tell);
  }

  /** Seconds in which each class carried anything, up to now. */
  busySeconds(): Float64Array {
    return this.#busySeconds.map((seconds, link) =>
      (this.#running[link] as Sharing[]).length > 0 ? seconds + this.now - (this.#busySince[link] as number) : seconds,
    );
  }

  /** Exchanges and links that the change reaches: over shared links from one exchange to the next. */
  #reach(members: Sharing[], touched: number[]): void {
    this.#round += 1;
    const take = (each: Sharing): void => {
      if (each.links.length === 0 || each.seen === this.#round) return;
      each.seen = this.#round;
      members.push(each);
    };
    const takeLink = (link: number): void => {
      if (this.#seen[link] === this.#round) return;
      this.#seen[link] = this.#round;
      touched.push(link);
      for (const each of this.#running[link] as Sharing[]) take(each);
    };
    for (const each of this.#dirty) take(each);
    for (const link of this.#dirtyLinks) takeLink(link);
    for (let at = 0; at < members.length; at++) for (const link of (members[at] as Sharing).links) takeLink(link);
    this.#dirty.length = 0;
    this.#dirtyLinks.length = 0;
  }
}
