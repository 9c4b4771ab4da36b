/** @file Tables of a measured step over a simulated one. */
import type { Overlay, OverlayLane, OverlayRow } from '@meshwright/core/sim';
import { fixed, percent, whole } from './numbers.ts';
import { numbers, type Table, tableOf, words } from './table.ts';

/** Rows that a table shows; the others are in the JSON. */
const MOST_ROWS = 16;

const milliseconds = (seconds: number): string => fixed(seconds * 1e3, 2);
const off = ({ simulated, measured }: Pick<OverlayRow, 'simulated' | 'measured'>): string =>
  measured > 0 ? percent(simulated / measured - 1, 0) : '-';

const columns = [
  numbers<Pick<OverlayRow, 'simulated' | 'measured'>>('predicted ms', ({ simulated }) => milliseconds(simulated)),
  numbers<Pick<OverlayRow, 'simulated' | 'measured'>>('measured ms', ({ measured }) => milliseconds(measured)),
  numbers<Pick<OverlayRow, 'simulated' | 'measured'>>('off %', off),
];

/** Kinds of operations, longest measured first. */
export const overlayKindTable = ({ kinds }: Overlay): Table =>
  tableOf(
    kinds.slice(0, MOST_ROWS),
    [words('operation', ({ what }) => what), numbers('times', ({ operations }) => whole(operations)), ...columns],
    kinds.length > MOST_ROWS
      ? `operations on one rank of each stage, the longest ${MOST_ROWS} of ${kinds.length}`
      : 'operations on one rank of each stage',
  );

/** Exchanges put together by what they go over. */
export function overlayAxisTable({ kinds }: Overlay): Table | undefined {
  const axes = [...new Set(kinds.flatMap(({ over }) => over ?? []))];
  if (axes.length === 0) return undefined;
  const rows = axes.map((over) => {
    const own = kinds.filter((each) => each.over === over);
    const sum = (of: 'operations' | 'simulated' | 'measured'): number => own.reduce((all, each) => all + each[of], 0);
    return { over, operations: sum('operations'), simulated: sum('simulated'), measured: sum('measured') };
  });
  return tableOf(
    rows,
    [words('exchanges over', ({ over }) => over), numbers('times', ({ operations }) => whole(operations)), ...columns],
    'exchanges, from the arrival of the last rank',
  );
}

/** Busy time of the lanes of each stage. */
export const overlayLaneTable = ({ lanes }: Overlay): Table =>
  tableOf<OverlayLane>(
    lanes,
    [words('stage', ({ list }) => list), words('lane', ({ lane }) => lane), ...columns],
    'busy time of lanes',
  );
