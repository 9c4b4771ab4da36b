/** @file How long exchanges run, and how much of that the compute lane waits for: the rest is hidden. */
import {
  bookedAxis,
  type CollectiveKind,
  type ExpandedOperation,
  type Lane,
  type Program,
  replayOf,
} from '../program/index.ts';
import { visitIdle } from './idle.ts';
import { laneNames } from './lanes.ts';
import type { SimulatedStep } from './types.ts';

/** All exchanges of one kind over one axis or group, of one rank of a list. */
export interface ExchangeTime {
  /** The axis that it is booked on. */
  readonly axis: string;
  /** The axis or named group that it runs over. */
  readonly over: string;
  readonly kind: CollectiveKind | 'send' | 'recv';
  readonly count: number;
  /** Seconds that they run. */
  readonly seconds: number;
  /** Seconds of it during which the compute lane is idle because of them; waiting for a partner is bubble, not this. */
  readonly exposedSeconds: number;
}

/** Exchanges of a list in order of first issue. */
export function exchangesOf(step: SimulatedStep, list: number): readonly ExchangeTime[] {
  const simulated = step.lists[list];
  if (simulated === undefined) return [];
  const rows = new Map<string, { -readonly [Key in keyof ExchangeTime]: ExchangeTime[Key] }>();
  const { samples, sampleOf } = replayOf(simulated.expanded);
  type Row = { -readonly [Key in keyof ExchangeTime]: ExchangeTime[Key] };
  const rowOf = (sample: number): Row | undefined => {
    const { operation } = samples[sample] as ExpandedOperation;
    if (operation.kind !== 'collective' && operation.kind !== 'send' && operation.kind !== 'recv') return undefined;
    const kind = operation.kind === 'collective' ? operation.collective : operation.kind;
    const over = operation.kind === 'collective' ? operation.axis : 'pipeline';
    const key = `${kind} ${over}`;
    const row = rows.get(key) ?? newRow(step.program, kind, over);
    rows.set(key, row);
    return row;
  };
  const bySample: (Row | null | undefined)[] = [];
  for (let index = 0; index < sampleOf.length; index++) {
    const sample = sampleOf[index] as number;
    let row = bySample[sample];
    if (row === undefined) {
      row = rowOf(sample) ?? null;
      bySample[sample] = row;
    }
    if (row === null) continue;
    row.count += 1;
    row.seconds += (simulated.end[index] as number) - (simulated.start[index] as number);
  }
  visitIdle(step, list, step.seconds, ({ part, operation, seconds }) => {
    const row = part === 'bubble' || operation === undefined ? undefined : bySample[sampleOf[operation] as number];
    if (row) row.exposedSeconds += seconds;
  });
  return [...rows.values()];
}

const newRow = (program: Program, kind: ExchangeTime['kind'], over: string) => ({
  axis: bookedAxis(program, over),
  over,
  kind,
  count: 0,
  seconds: 0,
  exposedSeconds: 0,
});

/** Exchange seconds of a list that hide behind its compute, over all axes. */
export const hiddenSeconds = (step: SimulatedStep, list: number): number =>
  exchangesOf(step, list).reduce((sum, row) => sum + row.seconds - row.exposedSeconds, 0);

/** Seconds that each lane of a list runs. Lanes that the list does not use are left out. */
export function busyByLane(step: SimulatedStep, list: number): Readonly<Partial<Record<Lane, number>>> {
  const { graph, start, end } = step;
  const busy: Partial<Record<Lane, number>> = {};
  for (let at = graph.base[list] ?? 0; at < (graph.base[list + 1] ?? 0); at++) {
    const lane = laneNames[graph.lane[at] as number] as Lane;
    busy[lane] = (busy[lane] ?? 0) + (end[at] as number) - (start[at] as number);
  }
  return busy;
}
