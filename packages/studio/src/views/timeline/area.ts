/** @file What runs in an area of the timeline: seconds of each kind on each lane, and how much of it computing hides. Pure. */
import { firstEndingAfter, type LaneRow, type Window } from './lanes.ts';

/** An area: a time and some neighbouring rows. */
export interface Area extends Window {
  readonly firstRow: number;
  readonly lastRow: number;
}

/** What one kind of slice does on the lanes of one name. Nanoseconds, summed over ranks. */
export interface AreaLine {
  readonly lane: string;
  /** Index of the kind. */
  readonly kind: number;
  readonly slices: number;
  readonly busy: number;
  /** While the compute lane of the same rank computes as well; 0 for computing itself. */
  readonly hidden: number;
}

/** What runs in the area, the longest first. Slices that reach out of it count with the part inside. */
export function linesOf(rows: readonly LaneRow[], area: Area): readonly AreaLine[] {
  const lines = new Map<string, { lane: string; kind: number; slices: number; busy: number; hidden: number }>();
  for (const row of rows.slice(area.firstRow, area.lastRow + 1)) {
    const compute =
      row.lane === 'compute' ? undefined : rows.find(({ rank, lane }) => rank === row.rank && lane === 'compute');
    for (let at = firstEndingAfter(row, area.from); at < row.end.length; at++) {
      if ((row.start[at] as number) >= area.to) break;
      const from = Math.max(area.from, row.start[at] as number);
      const to = Math.min(area.to, row.end[at] as number);
      const kind = row.kind[at] as number;
      const key = `${row.lane} ${kind}`;
      const line = lines.get(key) ?? { lane: row.lane, kind, slices: 0, busy: 0, hidden: 0 };
      lines.set(key, line);
      line.slices += 1;
      line.busy += to - from;
      if (compute) line.hidden += overlapOf(compute, from, to);
    }
  }
  return [...lines.values()].sort((a, b) => b.busy - a.busy);
}

/** Nanoseconds of a row's slices between two times. */
function overlapOf(row: LaneRow, from: number, to: number): number {
  let sum = 0;
  for (let at = firstEndingAfter(row, from); at < row.end.length; at++) {
    if ((row.start[at] as number) >= to) break;
    sum += Math.min(to, row.end[at] as number) - Math.max(from, row.start[at] as number);
  }
  return sum;
}

/** The area between two corners, times and rows in any order, inside of the step. */
export const areaBetween = (
  one: { readonly time: number; readonly row: number },
  other: { readonly time: number; readonly row: number },
  rows: number,
  whole: number,
): Area => {
  const inside = (row: number): number => Math.max(0, Math.min(rows - 1, row));
  return {
    from: Math.max(0, Math.min(one.time, other.time)),
    to: Math.min(whole, Math.max(one.time, other.time)),
    firstRow: inside(Math.min(one.row, other.row)),
    lastRow: inside(Math.max(one.row, other.row)),
  };
};
