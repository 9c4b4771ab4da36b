/** @file Routed rows of one rank under the counts that were told: which it holds in a buffer, where they lie, how many it
 * sends. Rows lie by expert, and within an expert by the rank that their tokens are on.
 */
import type { Coordinate } from '../mesh/index.ts';
import { bytesOf, type Degrees, type Dim, localSize } from '../tensor/index.ts';
import type { ExpandedOperation, Instance } from './expand.ts';
import type { Collective } from './types.ts';

/** Rows by rank and expert: [ranks, experts]. The ranks are those whose rows may meet here: the places on expertTensor,
 * outer, and expert, inner, of one expert data coordinate.
 */
export interface RowTable {
  readonly experts: number;
  readonly counts: ArrayLike<number>;
}

/** A place in the expert grid. */
export type RowPlace = Pick<Coordinate, 'expert' | 'expertTensor'>;

/** Half-open ranges of experts and of ranks of tokens. */
export interface RowState {
  readonly experts: readonly [from: number, to: number];
  readonly ranks: readonly [from: number, to: number];
}

/** The dim of routed rows among the dims of a buffer. */
export const routedDim = (dims: readonly Dim[]): Dim | undefined => dims.find((dim) => dim.routed !== undefined);

/** Which rows a rank at `place` holds in a buffer of routed rows. */
export function rowStateOf(dims: readonly Dim[], place: RowPlace, degrees: Degrees): RowState {
  const rows = routedDim(dims);
  const experts = rows?.routed?.experts ?? 0;
  const ways = degrees('expert');
  const slots = degrees('expertTensor');
  const cutBy = (dim: Dim | undefined, axis: string): boolean => degrees(axis) > 1 && dim?.cut?.includes(axis) === true;
  const mine = experts / ways;
  const away = dims.some((dim) => dim.routed === undefined && cutBy(dim, 'expert'));
  const first = place.expertTensor * ways;
  const slot: readonly [number, number] = cutBy(rows, 'expertTensor') ? [first, first + ways] : [0, slots * ways];
  const own = cutBy(rows, 'expert');
  return {
    experts: away ? [place.expert * mine, (place.expert + 1) * mine] : [0, experts],
    ranks: own ? [slot[0] + place.expert, slot[0] + place.expert + 1] : slot,
  };
}

/** Rows of a state; with `other`, those that are in both. */
export function rowsOfState(table: RowTable, state: RowState, other: RowState = state): number {
  let rows = 0;
  for (
    let expert = Math.max(state.experts[0], other.experts[0]);
    expert < Math.min(state.experts[1], other.experts[1]);
    expert++
  ) {
    for (let rank = Math.max(state.ranks[0], other.ranks[0]); rank < Math.min(state.ranks[1], other.ranks[1]); rank++) {
      rows += table.counts[rank * table.experts + expert] ?? 0;
    }
  }
  return rows;
}

/** Rows that two states share, as stretches: first row in the one, first row in the other, and how many. */
export function sharedRows(
  table: RowTable,
  from: RowState,
  to: RowState,
  visit: (from: number, to: number, rows: number) => void,
): void {
  const [fromAt, toAt] = [startsOf(table, from), startsOf(table, to)];
  const at = (starts: Int32Array, { experts, ranks }: RowState, expert: number, rank: number): number =>
    starts[(expert - experts[0]) * (ranks[1] - ranks[0]) + rank - ranks[0]] ?? 0;
  for (
    let expert = Math.max(from.experts[0], to.experts[0]);
    expert < Math.min(from.experts[1], to.experts[1]);
    expert++
  ) {
    for (let rank = Math.max(from.ranks[0], to.ranks[0]); rank < Math.min(from.ranks[1], to.ranks[1]); rank++) {
      const rows = table.counts[rank * table.experts + expert] ?? 0;
      if (rows > 0) visit(at(fromAt, from, expert, rank), at(toAt, to, expert, rank), rows);
    }
  }
}

/** The first row of each expert and rank of a state. */
function startsOf(table: RowTable, { experts, ranks }: RowState): Int32Array {
  const starts = new Int32Array((experts[1] - experts[0]) * (ranks[1] - ranks[0]));
  let row = 0;
  let index = 0;
  for (let expert = experts[0]; expert < experts[1]; expert++) {
    for (let rank = ranks[0]; rank < ranks[1]; rank++) {
      starts[index++] = row;
      row += table.counts[rank * table.experts + expert] ?? 0;
    }
  }
  return starts;
}

/** Values of one row: the dims behind the routed one. */
export function rowWidth(dims: readonly Dim[], degrees: Degrees): number {
  const place = dims.findIndex((dim) => dim.routed !== undefined);
  return dims.slice(place + 1).reduce((product, dim) => product * localSize(dim, degrees), 1);
}

/** Bytes of a buffer of routed rows on a rank under its counts; undefined for any other buffer. */
export function boundBytes(
  { declaration }: Instance,
  table: RowTable,
  place: RowPlace,
  degrees: Degrees,
): number | undefined {
  const { dims, dtype } = declaration;
  if (routedDim(dims) === undefined) return undefined;
  return rowsOfState(table, rowStateOf(dims, place, degrees)) * rowWidth(dims, degrees) * bytesOf(dtype);
}

/** Bytes that a rank sends in an exchange of routed rows under its counts; undefined for any other exchange. */
export function boundSentBytes(
  { reads, writes }: ExpandedOperation,
  { axis }: Collective,
  table: RowTable,
  place: RowPlace,
  degrees: Degrees,
): number | undefined {
  const read = reads[0];
  const write = writes[0]?.operand;
  if (read === undefined || write === undefined || routedDim(read.dims) === undefined) return undefined;
  const own = rowStateOf(read.dims, place, degrees);
  const along = axis === 'expert' ? 'expert' : 'expertTensor';
  let rows = 0;
  for (let other = 0; other < degrees(axis); other++) {
    if (other === place[along]) continue;
    rows += rowsOfState(table, own, rowStateOf(write.dims, { ...place, [along]: other }, degrees));
  }
  return rows * rowWidth(read.dims, degrees) * bytesOf(read.instance.declaration.dtype);
}

/** What the counts of a layer and micro-batch are filed under: the indices of its instances, `[2,0]`. */
export const rowKey = (instance: string): string => instance.slice(instance.indexOf('['));
