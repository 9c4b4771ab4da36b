/** @file How much each lane of a list runs and moves, and how many operations a program has. */
import { blocksOf, degreesOf, type Lane, type Program, replayOf, sentBytes } from '../program/index.ts';
import { busyByLane } from './exchanges.ts';
import { laneNames } from './lanes.ts';
import type { SimulatedStep } from './types.ts';

/** One lane of one rank of a list. */
export interface LaneUse {
  readonly lane: Lane;
  readonly operations: number;
  readonly busySeconds: number;
  /** Bytes that the rank sends on it. */
  readonly bytes: number;
}

/** The lanes that a list uses, in the order of lanes. */
export function laneUseOf(step: SimulatedStep, list: number): readonly LaneUse[] {
  const { graph, program } = step;
  const degrees = degreesOf(program);
  const operations = new Array<number>(laneNames.length).fill(0);
  const bytes = new Array<number>(laneNames.length).fill(0);
  const base = graph.base[list] ?? 0;
  const simulated = step.lists[list];
  const replay = simulated && replayOf(simulated.expanded);
  const sent = Float64Array.from(replay?.samples ?? [], (each) => sentBytes(each, degrees));
  replay?.sampleOf.forEach((sample, index) => {
    const lane = graph.lane[base + index] as number;
    operations[lane] = (operations[lane] as number) + 1;
    bytes[lane] = (bytes[lane] as number) + (sent[sample] as number);
  });
  const busy = busyByLane(step, list);
  return laneNames.flatMap((lane, code) =>
    operations[code] === 0
      ? []
      : [{ lane, operations: operations[code] as number, busySeconds: busy[lane] ?? 0, bytes: bytes[code] as number }],
  );
}

/** Operations of all lists of a program, without writing them out. */
export function operationCount(program: Program): number {
  const sizes = new Map(program.templates.map((template) => [template.name, template.operations.length]));
  let count = 0;
  for (const { items } of program.lists) {
    for (const item of items)
      count += item.kind === 'call' ? blocksOf(item).length * (sizes.get(item.template) ?? 0) : 1;
  }
  return count;
}
