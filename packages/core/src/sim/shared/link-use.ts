/** @file How much the links carry in a step, and which is the bottleneck. */
import type { NetworkBuilder } from '../../cost/index.ts';
import type { Contention, Demand } from '../contention.ts';

/** Links of one class: every exchange loads them alike. */
export interface LinkUse {
  /** `device`, `nic` and so on. */
  readonly family: string;
  /** One of them, from end to end: `device 0 > switch 0`. */
  readonly name: string;
  readonly links: number;
  /** Bytes per second of each. */
  readonly capacity: number;
  /** Bytes over each in a step. */
  readonly bytes: number;
  /** Seconds in which it carries anything. */
  readonly busySeconds: number;
  /** Share of the step that its bytes take at its full rate. */
  readonly load: number;
}

/** Use of all links that carry anything, by load. `times`: how often each demand comes in a step. */
export function linkUses(
  topology: NetworkBuilder['topology'],
  { links, demands }: Pick<Contention, 'links' | 'demands'>,
  times: ArrayLike<number>,
  busySeconds: Float64Array,
  stepSeconds: number,
): readonly LinkUse[] {
  const bytes = new Float64Array(links.length);
  demands.forEach(({ classes, bytes: moved }: Demand, demand) => {
    classes.forEach((link, index) => {
      bytes[link] = (bytes[link] as number) + (times[demand] as number) * (moved[index] as number);
    });
  });
  return links
    .map(({ capacity, links: count, first }, index): LinkUse => {
      const { family, from, to } = topology.nameOf(first);
      const sum = bytes[index] as number;
      return {
        family,
        name: `${from} > ${to}`,
        links: count,
        capacity,
        bytes: sum,
        busySeconds: busySeconds[index] as number,
        load: sum / capacity / stepSeconds,
      };
    })
    .filter((use) => use.bytes > 0)
    .sort((one, other) => other.load - one.load);
}
