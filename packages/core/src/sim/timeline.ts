/** @file A simulated step as a timeline: one rank for each class, in whole nanoseconds. */
import type { Timeline } from '../timeline/index.ts';
import { laneNames } from './lanes.ts';
import type { SimulatedStep } from './types.ts';

const NANOSECONDS = 1e9;

/** The timeline of the first rank of each class: all ranks of a class run alike. */
export function timelineOf(step: SimulatedStep): Timeline {
  const { graph } = step;
  const length = step.start.length;
  const rank = new Uint32Array(length);
  const operation = new Uint32Array(length);
  for (const [index, { first }] of graph.classes.entries()) {
    const from = graph.base[index] as number;
    const to = graph.base[index + 1] as number;
    rank.fill(first, from, to);
    for (let at = from; at < to; at++) operation[at] = at - from;
  }
  const start = step.start.map((seconds) => Math.round(seconds * NANOSECONDS));
  const end = step.end.map((seconds) => Math.round(seconds * NANOSECONDS));
  const order = Uint32Array.from({ length }, (_, at) => at).sort(
    (a, b) =>
      (start[a] as number) - (start[b] as number) ||
      (rank[a] as number) - (rank[b] as number) ||
      (operation[a] as number) - (operation[b] as number),
  );
  return Object.freeze({
    source: 'simulated',
    length,
    lanes: laneNames,
    rank: order.map((at) => rank[at] as number),
    lane: Uint8Array.from(order, (at) => graph.lane[at] as number),
    operation: order.map((at) => operation[at] as number),
    start: Float64Array.from(order, (at) => start[at] as number),
    end: Float64Array.from(order, (at) => end[at] as number),
  });
}
