/** @file Rates of the exchanges that run at a moment: max-min fair on the classes of links that they share.
 *
 * An exchange runs as one: its rate is a share of the rate that it has alone, so all its flows slow down together. What
 * its largest flow gets in bytes per second is raised for all exchanges alike until a link is full, or an exchange is as
 * fast as it can be; those stop there, the others go on: progressive filling ([bertsekas1992] in docs/sources.md).
 */
import type { Contention, Demand } from '../contention.ts';
import { fillRates, type Sharing } from './fill.ts';

/** The exchanges that run, in slots, and their rates. */
export interface SharedLinks {
  /** Tells the time before slots are added and removed. */
  readonly at: (now: number) => void;
  /** An exchange begins in a slot; alone it takes `seconds`. */
  readonly add: (slot: number, demand: number, seconds: number) => void;
  readonly remove: (slot: number) => void;
  /** The most that an exchange can be of its rate alone: less than 1 while kernels slow it down. */
  readonly limit: (slot: number, most: number) => void;
  /** Works out the rates of all that may have changed, and tells each. */
  readonly settle: (tell: (slot: number, rate: number) => void) => void;
  /** Seconds in which each class carried anything, up to `until`. */
  readonly busy: (until: number) => Float64Array;
}

const nobody = (): Sharing => ({
  slot: 0,
  links: new Uint32Array(0),
  rates: new Float64Array(0),
  largest: 0,
  most: 1,
  seen: 0,
});

/** No exchange runs. */
export function createLinks({ links, demands }: Contention): SharedLinks {
  const capacity = Float64Array.from(links, (link) => link.capacity);
  const healthy = Float64Array.from(links, (link) => link.healthy);
  const running: Sharing[][] = links.map(() => []);
  const slots: Sharing[] = [];
  const dirty: Sharing[] = [];
  const dirtyLinks: number[] = [];
  const linkSeen = new Uint32Array(links.length);
  const busySeconds = new Float64Array(links.length);
  const busySince = new Float64Array(links.length);
  const filling = { capacity, residual: new Float64Array(links.length), weight: new Float64Array(links.length) };
  let now = 0;
  let round = 0;

  /** Exchanges and links that the change reaches: over shared links from one exchange to the next. */
  const reach = (): { readonly members: Sharing[]; readonly touched: number[] } => {
    round += 1;
    const members: Sharing[] = [];
    const touched: number[] = [];
    const take = (each: Sharing): void => {
      if (each.links.length === 0 || each.seen === round) return;
      each.seen = round;
      members.push(each);
    };
    const takeLink = (link: number): void => {
      if (linkSeen[link] === round) return;
      linkSeen[link] = round;
      touched.push(link);
      for (const each of running[link] as Sharing[]) take(each);
    };
    for (const each of dirty) take(each);
    for (const link of dirtyLinks) takeLink(link);
    for (let at = 0; at < members.length; at++) for (const link of (members[at] as Sharing).links) takeLink(link);
    dirty.length = 0;
    dirtyLinks.length = 0;
    return { members, touched };
  };
  return {
    at: (time) => {
      now = time;
    },
    add: (slot, demand, seconds) => {
      slots[slot] ??= nobody();
      const each = slots[slot];
      const { classes, bytes, largest } = demands[demand] as Demand;
      each.slot = slot;
      each.links = classes;
      each.most = 1;
      each.largest = largest / seconds;
      // Alone no exchange is faster than its links: prices were measured, capacities are stated.
      each.rates = bytes.map((sum, index) => Math.min(sum / seconds, healthy[classes[index] as number] as number));
      for (const link of classes) {
        const row = running[link] as Sharing[];
        if (row.length === 0) busySince[link] = now;
        row.push(each);
      }
      dirty.push(each);
    },
    remove: (slot) => {
      const each = slots[slot] as Sharing;
      for (const link of each.links) {
        const row = running[link] as Sharing[];
        row.splice(row.indexOf(each), 1);
        if (row.length === 0) busySeconds[link] = (busySeconds[link] as number) + now - (busySince[link] as number);
        else dirtyLinks.push(link);
      }
      slots[slot] = nobody();
      each.links = new Uint32Array(0);
    },
    limit: (slot, most) => {
      const each = slots[slot] as Sharing;
      if (each.most === most) return;
      each.most = most;
      dirty.push(each);
    },
    settle: (tell) => {
      if (dirty.length === 0 && dirtyLinks.length === 0) return;
      const { members, touched } = reach();
      if (members.length > 0) fillRates(filling, members, touched, tell);
    },
    busy: (until) =>
      busySeconds.map((seconds, link) =>
        (running[link] as Sharing[]).length > 0 ? seconds + until - (busySince[link] as number) : seconds,
      ),
  };
}
