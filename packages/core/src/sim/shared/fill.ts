/** @file Progressive filling: the rates of exchanges that share links, max-min fair. */
import type { Contention, Demand } from '../contention.ts';

/** One exchange that runs. */
export interface Sharing {
  slot: number;
  /** Classes of links that it crosses; empty when it has ended. */
  links: Uint32Array;
  /** Bytes per second on each of them, and of its largest flow, at the rate alone. */
  rates: Float64Array;
  largest: number;
  /** The most that it can be of the rate alone. */
  most: number;
  /** Round in which it was looked at last. */
  seen: number;
}

/** Bytes per second of the links; the other two are room to work in, by link. */
export interface Filling {
  readonly capacity: Float64Array;
  readonly residual: Float64Array;
  readonly weight: Float64Array;
}

/** Numbers that differ by less are equal: a full link is full for all that cross it. */
const CLOSE = 1 + 1e-12;

/** Tells the rate of each member, as a share of its rate alone; `touched` are all links that they cross. */
export function fillRates(
  filling: Filling,
  members: readonly Sharing[],
  touched: readonly number[],
  tell: (slot: number, rate: number) => void,
): void {
  if (members.length === 1) {
    const [only] = members;
    if (only) tell(only.slot, fastest(filling, only));
    return;
  }
  const { capacity, residual, weight } = filling;
  for (const link of touched) {
    residual[link] = capacity[link] as number;
    weight[link] = 0;
  }
  for (const { links, rates, largest } of members) {
    links.forEach((link, index) => {
      weight[link] = (weight[link] as number) + (rates[index] as number) / largest;
    });
  }
  let open = [...members];
  while (open.length > 0) {
    const level = levelOf(filling, open, touched);
    const rest: Sharing[] = [];
    const closed: Sharing[] = [];
    for (const each of open) (isStopped(filling, each, level) ? closed : rest).push(each);
    for (const each of closed) close(filling, each, level, tell);
    open = rest;
  }
}

/** Bytes per second on each of its links of an exchange that takes `seconds` alone. No exchange is faster than its links
 * without faults: prices were measured, capacities are stated. */
export const ratesOf = (
  links: readonly { readonly healthy: number }[],
  { classes, bytes }: Demand,
  seconds: number,
): Float64Array =>
  bytes.map((sum, index) => Math.min(sum / seconds, links[classes[index] as number]?.healthy ?? Infinity));

/** Share of the rate alone that an exchange has with all of its links to itself. */
export function rateAlone({ links }: Pick<Contention, 'links'>, demand: Demand, seconds: number): number {
  let rate = 1;
  ratesOf(links, demand, seconds).forEach((own, index) => {
    rate = Math.min(rate, (links[demand.classes[index] as number]?.capacity ?? Infinity) / own);
  });
  return rate;
}

function fastest({ capacity }: Filling, { links, rates, most }: Sharing): number {
  let rate = most;
  for (let index = 0; index < links.length; index++) {
    rate = Math.min(rate, (capacity[links[index] as number] as number) / (rates[index] as number));
  }
  return rate;
}

/** Bytes per second of the largest flows at which the next exchange stops. */
function levelOf({ residual, weight }: Filling, open: readonly Sharing[], touched: readonly number[]): number {
  let level = Number.POSITIVE_INFINITY;
  for (const { largest, most } of open) level = Math.min(level, largest * most);
  for (const link of touched) {
    if ((weight[link] as number) > 0) level = Math.min(level, (residual[link] as number) / (weight[link] as number));
  }
  return level;
}

function isStopped({ residual, weight }: Filling, { links, largest, most }: Sharing, level: number): boolean {
  if (largest * most <= level * CLOSE) return true;
  for (const link of links) {
    if ((residual[link] as number) <= level * (weight[link] as number) * CLOSE) return true;
  }
  return false;
}

/** Takes an exchange off the links that others still fill. */
function close(
  { residual, weight }: Filling,
  { slot, links, rates, largest, most }: Sharing,
  level: number,
  tell: (slot: number, rate: number) => void,
): void {
  const rate = Math.min(most, level / largest);
  for (let index = 0; index < links.length; index++) {
    const link = links[index] as number;
    const own = (rates[index] as number) / largest;
    residual[link] = Math.max(0, (residual[link] as number) - rate * (rates[index] as number));
    const left = (weight[link] as number) - own;
    // What rounding leaves is no exchange.
    weight[link] = left < own * 1e-9 ? 0 : left;
  }
  tell(slot, rate);
}
