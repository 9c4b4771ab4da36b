/** @file Exchanges of routed rows: every rank stages all its rows, and takes of each member those that are to be its own.
 * How many those are says the table of counts; sums are added in order of place.
 */
import { assertInvariant } from '@meshwright/core/errors';
import {
  type Collective,
  type ExpandedOperation,
  type RowPlace,
  rowStateOf,
  rowWidth,
  sharedRows,
} from '@meshwright/core/program';
import type { Elements } from '../kernels/tensor.ts';
import { announce, beginTogether, type Circle, until, type Waiting } from '../transport/circle.ts';
import { reduceInto } from '../transport/wire.ts';
import { settle, valuesOf, type Window } from './cells.ts';
import type { Machine } from './machine.ts';
import { tableIn } from './rows.ts';

/** Runs an exchange of routed rows; `windows` are those of the rows, of the table, and of what is written. */
export function* exchangeRows(
  { seat }: Machine,
  { reads, writes }: ExpandedOperation,
  { axis, collective }: Collective,
  circle: Circle,
  windows: { readonly read: Window; readonly table: Window; readonly write: Window },
): Waiting {
  const [from] = reads;
  const to = writes[0]?.operand;
  assertInvariant(from !== undefined && to !== undefined, () => 'an exchange of rows without rows');
  const table = tableIn(windows.table);
  const width = rowWidth(from.dims, seat.degrees);
  const target = rowStateOf(to.dims, seat.coordinate, seat.degrees);
  const result = valuesOf(windows.write);
  const base = yield* beginTogether(circle);
  const own = circle.channels[circle.place]!;
  circle.wire.write(own.memory, own.offset, valuesOf(windows.read));
  announce(circle);
  if (collective === 'reduce-scatter') result.fill(0);
  for (const [place, channel] of circle.channels.entries()) {
    yield* until(circle, place, base + 1);
    let taken = 0;
    sharedRows(
      table,
      rowStateOf(from.dims, memberAt(seat.coordinate, axis, place), seat.degrees),
      target,
      (at, into, rows) => {
        const values = readRows(circle, place, at * width, rows * width);
        const part = result.subarray(into * width, (into + rows) * width);
        if (collective === 'reduce-scatter') reduceInto(part, values, 'sum');
        else part.set(values);
        taken += rows * width;
      },
    );
    if (place !== circle.place) circle.port.count(channel.rank, circle.key, taken * circle.wire.counted);
  }
  announce(circle);
  settle(windows.write);
}

/** The place of a member of a group over one of the two axes. */
const memberAt = (own: RowPlace, axis: string, place: number): RowPlace =>
  axis === 'expert' ? { ...own, expert: place } : { ...own, expertTensor: place };

function readRows({ channels, wire, create }: Circle, place: number, from: number, length: number): Elements {
  const { memory, offset } = channels[place]!;
  const at = offset + from * wire.width;
  if (wire.view) return wire.view(memory, at, length);
  const values = create(length);
  wire.read(memory, at, values);
  return values;
}
