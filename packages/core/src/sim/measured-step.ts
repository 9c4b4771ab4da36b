/** @file A measured step in the shape of a simulated one, so that whatever shows or compares one takes the other. */
import { membersOf, type Program } from '../program/index.ts';
import { sliceOf, type Timeline } from '../timeline/index.ts';
import { stepOf } from './simulate.ts';
import type { SimulatedStep } from './types.ts';

const NANOSECONDS = 1e9;

interface Times {
  readonly start: Map<number, number>;
  readonly end: Map<number, number>;
}

/** The step of `timeline`, one rank for each class of `simulated`, on its graph. A collective begins when the last of its
 * ranks has come, as it does in a simulation: what a rank waits before is idle time. What the timeline has not (marks, waits)
 * stands where the operation before it has ended. */
export function measuredStep({ program, graph }: SimulatedStep, timeline: Timeline): SimulatedStep {
  const ranks = new Map<number, Times>();
  for (let index = 0; index < timeline.length; index++) {
    const { rank, operation, start, end } = sliceOf(timeline, index);
    const times = ranks.get(rank) ?? { start: new Map(), end: new Map() };
    ranks.set(rank, times);
    times.start.set(operation, start / NANOSECONDS);
    times.end.set(operation, end / NANOSECONDS);
  }
  const length = graph.base.at(-1) ?? 0;
  const placed = { start: new Float64Array(length), end: new Float64Array(length) };
  for (const [index, { first, list }] of graph.classes.entries()) {
    let before = 0;
    for (const { index: operation } of graph.lists[index]?.operations ?? graph.lists[list]?.operations ?? []) {
      const at = (graph.base[index] ?? 0) + operation;
      const end = ranks.get(first)?.end.get(operation);
      const start = end === undefined ? before : Math.min(end, lastStart(program, graph, ranks, index, operation));
      placed.start[at] = start;
      placed.end[at] = end ?? before;
      before = end ?? before;
    }
  }
  return stepOf(program, graph, placed);
}

/** When the last member of an exchange has begun it. */
function lastStart(
  program: Program,
  { classes, lists }: SimulatedStep['graph'],
  ranks: ReadonlyMap<number, Times>,
  index: number,
  operation: number,
): number {
  const first = classes[index]?.first ?? 0;
  const own = ranks.get(first)?.start.get(operation) ?? 0;
  const found = lists[index]?.operations[operation]?.operation;
  // Lists differ from stage to stage, so that a number means the same operation on ranks of one stage only.
  if (found?.kind !== 'collective' || found.axis === 'pipeline') return own;
  const group = program.groups.find(({ name }) => name === found.axis);
  if (group?.along === 'pipeline') return own;
  return Math.max(
    own,
    ...membersOf(program, first, found.axis).map((rank) => ranks.get(rank)?.start.get(operation) ?? 0),
  );
}
