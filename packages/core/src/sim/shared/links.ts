/** @file Rates of the exchanges that run at a moment: max-min fair on the classes of links that they share.
 *
 * An exchange runs as one: its rate is a share of the rate that it has alone, so all its flows slow down together. What
 * its largest flow gets in bytes per second is raised for all exchanges alike until a link is full, or an exchange is as
 * fast as it can be; those stop there, the others go on: progressive filling ([bertsekas1992] in docs/sources.md).
 */
import type { Contention, Demand } from '../contention.ts';
import { type Filling, fillRates, ratesOf, type Sharing } from './fill.ts';

const nothing = new Uint32Array(0);
const nobody = (slot: number): Sharing => ({
  slot,
  links: nothing,
  rates: new Float64Array(0),
  largest: 0,
  most: 1,
  seen: 0,
});

/** Rates of a demand for the seconds that it was priced at last: most exchanges of a step are many times the same one. */
interface PricedDemand {
  seconds: number;
  rates: Float64Array;
}

/** The links of a step and the exchanges that run on them, by slot. */
export class SharedLinks {
  /** The time at which slots are added and removed. */
  now = 0;
  readonly #links: Contention['links'];
  readonly #demands: readonly Demand[];
  readonly #priced: (PricedDemand | undefined)[];
  readonly #filling: Filling;
  /** By class of links. */
  readonly #running: Sharing[][];
  readonly #seen: Uint32Array;
  readonly #busySeconds: Float64Array;
  readonly #busySince: Float64Array;
  readonly #slots: Sharing[] = [];
  readonly #dirty: Sharing[] = [];
  readonly #dirtyLinks: number[] = [];
  readonly #members: Sharing[] = [];
  readonly #touched: number[] = [];
  #round = 0;

  constructor({ links, demands }: Pick<Contention, 'demands' | 'links'>) {
    this.#links = links;
    this.#demands = demands;
    this.#priced = new Array(demands.length);
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
    this.#slots[slot] ??= nobody(slot);
    const each = this.#slots[slot];
    const { classes, largest } = this.#demands[demand] as Demand;
    each.links = classes;
    each.most = 1;
    each.largest = largest / seconds;
    each.rates = this.#ratesOf(demand, seconds);
    for (let index = 0; index < classes.length; index++) {
      const link = classes[index] as number;
      const row = this.#running[link] as Sharing[];
      if (row.length === 0) this.#busySince[link] = this.now;
      row.push(each);
    }
    this.#dirty.push(each);
  }

  remove(slot: number): void {
    const each = this.#slots[slot] as Sharing;
    const { links } = each;
    for (let index = 0; index < links.length; index++) {
      const link = links[index] as number;
      const row = this.#running[link] as Sharing[];
      const last = row.pop() as Sharing;
      if (last !== each) row[row.indexOf(each)] = last;
      if (row.length === 0) {
        this.#busySeconds[link] = (this.#busySeconds[link] as number) + this.now - (this.#busySince[link] as number);
      } else this.#dirtyLinks.push(link);
    }
    each.links = nothing;
  }

  /** An exchange whose links are its own carried bytes for so long. */
  carried(demand: number, seconds: number): void {
    for (const link of (this.#demands[demand] as Demand).classes) {
      this.#busySeconds[link] = (this.#busySeconds[link] as number) + seconds;
    }
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
    this.#reach();
    if (this.#members.length > 0) fillRates(this.#filling, this.#members, this.#touched, tell);
  }

  /** Seconds in which each class carried anything, up to now. */
  busySeconds(): Float64Array {
    return this.#busySeconds.map((seconds, link) =>
      (this.#running[link] as Sharing[]).length > 0 ? seconds + this.now - (this.#busySince[link] as number) : seconds,
    );
  }

  #ratesOf(demand: number, seconds: number): Float64Array {
    const known = this.#priced[demand];
    if (known?.seconds === seconds) return known.rates;
    const rates = ratesOf(this.#links, this.#demands[demand] as Demand, seconds);
    this.#priced[demand] = { seconds, rates };
    return rates;
  }

  /** Exchanges and links that the change reaches: over shared links from one exchange to the next. */
  #reach(): void {
    this.#round += 1;
    this.#members.length = 0;
    this.#touched.length = 0;
    for (const each of this.#dirty) this.#take(each);
    for (const link of this.#dirtyLinks) this.#takeLink(link);
    for (let at = 0; at < this.#members.length; at++) {
      const { links } = this.#members[at] as Sharing;
      for (let index = 0; index < links.length; index++) this.#takeLink(links[index] as number);
    }
    this.#dirty.length = 0;
    this.#dirtyLinks.length = 0;
  }

  #take(each: Sharing): void {
    if (each.links.length === 0 || each.seen === this.#round) return;
    each.seen = this.#round;
    this.#members.push(each);
  }

  #takeLink(link: number): void {
    if (this.#seen[link] === this.#round) return;
    this.#seen[link] = this.#round;
    this.#touched.push(link);
    const row = this.#running[link] as Sharing[];
    for (let index = 0; index < row.length; index++) this.#take(row[index] as Sharing);
  }
}
