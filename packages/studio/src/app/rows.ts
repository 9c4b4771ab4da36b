/** @file The rows of the ranking, from what is known so far: bounds, then a plan that grows part by part. */
import type { Layout } from '@meshwright/core/layout';
import type { Shown } from '@meshwright/core/plan';
import type { FoundRow, PlanPart } from '../engine/plan.ts';
import type { QuickPlan } from '../engine/quick.ts';

/** A row: a bound, then what was evaluated, then with all its parts. */
export interface Row {
  readonly layout: Layout;
  readonly short: string;
  readonly seconds: number;
  readonly deviceBytes: number;
  /** Share of the step in which the slowest rank waits for exchanges; undefined until the row is there in full. */
  readonly exposed: number | undefined;
  readonly state: 'bound' | 'evaluated' | 'simulated';
  /** Of the fullest stage, in bytes by part; undefined until the row is there in full. */
  readonly parts: Readonly<Record<string, number>> | undefined;
}

/** What is known of a plan that is being made. */
export interface Found {
  readonly rows: readonly FoundRow[];
  /** Simulated seconds by short form; undefined where the simulator could not look. */
  readonly settled: Readonly<Record<string, number | undefined>>;
  /** In the order of the answer. */
  readonly shown: readonly Shown[];
}

/** With one more part. */
export function withPart(found: Found | undefined, part: PlanPart): Found {
  const { rows, settled, shown } = found ?? { rows: [], settled: {}, shown: [] };
  switch (part.kind) {
    case 'found':
      return { rows: part.rows, settled: {}, shown: [] };
    case 'settled':
      return { rows, settled: { ...settled, [part.short]: part.seconds }, shown };
    case 'shown':
      return { rows, settled, shown: [...shown, part.shown] };
  }
}

/** Rows in the order in which they are known best: in full, then evaluated, or else the bounds. */
export function rowsOf(
  quick: QuickPlan | undefined,
  found: Found | undefined,
  plans: readonly Shown[],
): readonly Row[] {
  const whole = plans.map(wholeRow);
  if (!found) return whole.length > 0 ? whole : (quick?.rows ?? []).map((row) => partialRow(row, 'bound'));
  const known = new Set(whole.map(({ short }) => short));
  const rest = inOrder(found).filter(({ short }) => !known.has(short));
  return [
    ...whole,
    ...rest.map((row) => partialRow(row, Object.hasOwn(found.settled, row.short) ? 'simulated' : 'evaluated')),
  ];
}

/** As the search has them until all are simulated; then as the simulator has them, where it could look at all. */
function inOrder({ rows, settled }: Found): readonly FoundRow[] {
  if (rows.some(({ short }) => settled[short] === undefined)) return rows;
  return rows.toSorted((one, other) => (settled[one.short] ?? 0) - (settled[other.short] ?? 0));
}

const partialRow = ({ layout, short, seconds, deviceBytes }: FoundRow, state: Row['state']): Row => ({
  layout,
  short,
  seconds,
  deviceBytes,
  exposed: undefined,
  state,
  parts: undefined,
});

function wholeRow({ layout, step, memory }: Shown): Row {
  const { tensor, data, context, expert, pipelineSend } = step.partsSeconds;
  const fullest = memory.stages.toSorted((a, b) => b.deviceBytes - a.deviceBytes)[0];
  return {
    layout,
    short: layout.short,
    seconds: step.seconds,
    deviceBytes: fullest?.deviceBytes ?? 0,
    exposed: (tensor + data + context + expert + pipelineSend) / step.seconds,
    state: 'simulated',
    parts: fullest?.partsBytes,
  };
}
