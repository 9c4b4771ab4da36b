/** @file Two steps of one program over each other: where a measured step spends other time than a simulated one. */
import type { Operation } from '../program/index.ts';
import { busyByLane } from './exchanges.ts';
import { laneNames } from './lanes.ts';
import type { SimulatedStep } from './types.ts';

/** Seconds of one kind of operation, over one rank of each list. */
export interface OverlayRow {
  /** A kernel, or an exchange and what it goes over. */
  readonly what: string;
  readonly kind: 'kernel' | 'exchange';
  /** Of an exchange: axis or named group. */
  readonly over: string | undefined;
  readonly operations: number;
  readonly simulated: number;
  readonly measured: number;
}

/** Busy seconds of one lane of one list. */
export interface OverlayLane {
  readonly list: string;
  readonly lane: string;
  readonly simulated: number;
  readonly measured: number;
}

export interface Overlay {
  readonly simulatedSeconds: number;
  readonly measuredSeconds: number;
  /** Longest measured first. */
  readonly kinds: readonly OverlayRow[];
  readonly lanes: readonly OverlayLane[];
}

/** What differs between two steps on one graph. */
export function overlayOf(simulated: SimulatedStep, measured: SimulatedStep): Overlay {
  const rows = new Map<string, OverlayRow>();
  const { graph } = simulated;
  for (const [index, { expanded }] of simulated.lists.entries()) {
    const base = graph.base[index] ?? 0;
    for (const { operation, index: place } of expanded.operations) {
      const key = keyOf(operation);
      if (key === undefined) continue;
      const at = base + place;
      const row = rows.get(key.what) ?? { ...key, operations: 0, simulated: 0, measured: 0 };
      rows.set(key.what, {
        ...row,
        operations: row.operations + 1,
        simulated: row.simulated + durationAt(simulated, at),
        measured: row.measured + durationAt(measured, at),
      });
    }
  }
  return {
    simulatedSeconds: simulated.seconds,
    measuredSeconds: measured.seconds,
    kinds: [...rows.values()].sort((one, other) => other.measured - one.measured),
    lanes: simulated.lists.flatMap(({ expanded }, list) => lanesOf(simulated, measured, list, expanded.list.name)),
  };
}

const durationAt = ({ start, end }: SimulatedStep, at: number): number => (end[at] ?? 0) - (start[at] ?? 0);

function keyOf(operation: Operation): Pick<OverlayRow, 'what' | 'kind' | 'over'> | undefined {
  switch (operation.kind) {
    case 'compute':
      return { what: operation.kernel, kind: 'kernel', over: undefined };
    case 'collective':
      return { what: `${operation.collective} over ${operation.axis}`, kind: 'exchange', over: operation.axis };
    case 'send':
    case 'recv':
      return { what: `${operation.kind} over pipeline`, kind: 'exchange', over: 'pipeline' };
    default:
      return undefined;
  }
}

function lanesOf(
  simulated: SimulatedStep,
  measured: SimulatedStep,
  list: number,
  name: string,
): readonly OverlayLane[] {
  const [one, other] = [busyByLane(simulated, list), busyByLane(measured, list)];
  return laneNames.flatMap((lane) => {
    const row = { list: name, lane, simulated: one[lane] ?? 0, measured: other[lane] ?? 0 };
    return row.simulated === 0 && row.measured === 0 ? [] : [row];
  });
}
