/** @file The memory of one rank: a cell for each live buffer. In the first periods of a run it is filled with NaN when it is
 * handed out and again when it is given back, so that a forgotten gather or a read too late shows at once.
 */
import { assertInvariant } from '@meshwright/core/errors';
import { bufferBytes, hostBytes, type Instance, type Operand, type Storages } from '@meshwright/core/program';
import { bytesOf, type Degrees, type Dim, type DType, localElements } from '@meshwright/core/tensor';
import type { Engine } from '../kernels/engine.ts';
import type { Elements, LocalDim } from '../kernels/tensor.ts';
import type { Add } from '../kernels/wasm/vector-add.ts';
import { roundToBf16 } from '../numbers/bf16.ts';
import { localDimsOf, pieceIndexOf, waysOf } from '../place/dims.ts';
import { emptyLike, segmentsOf } from '../place/pieces.ts';
import type { Seat } from '../place/seat.ts';
import { combineInto } from '../transport/wire.ts';

/** Something in flight that still reads or writes a cell. */
export interface Pending {
  readonly done: boolean;
}

/** The memory of one buffer instance. */
export interface Cell {
  readonly name: string;
  readonly dtype: DType;
  readonly data: Elements;
  readonly bytes: number;
  readonly place: 'device' | 'host';
  pending: Pending[];
}

/** Neighbouring elements of a cell. */
export interface Span {
  readonly at: number;
  readonly length: number;
}

/** The part of a cell that an operand names: one span, or several for a shard in place whose parts are cut apart. */
export interface Window {
  readonly cell: Cell;
  readonly spans: readonly Span[];
  readonly dims: readonly LocalDim[];
}

/** Where buffers come from and go back to. */
export type Memories = Readonly<Record<'device' | 'host', Pick<Engine, 'createElements' | 'release'>>>;

export interface Cells {
  /** On the device. */
  readonly liveBytes: () => number;
  /** In host memory. */
  readonly hostBytes: () => number;
  readonly allocate: (instance: Instance) => Cell;
  readonly release: (instance: Instance) => void;
  readonly window: (operand: Operand) => Window;
}

const POISON_INT = -0x80000000;

/** What an exchange in flight still reads or writes is given back when that has ended. `poisons` says whether memory is
 * filled with NaN now; `rowBytes` are the bytes of buffers whose rows have been counted.
 */
export function createCells(
  storages: Storages,
  seat: Seat,
  memories: Memories,
  poisons: () => boolean = () => true,
  rowBytes: (instance: Instance) => number | undefined = () => undefined,
): Cells {
  const cells: (Cell | undefined)[] = [];
  const placeOf = placesOf(seat);
  const held = { device: 0, host: 0 };
  let inFlight: Cell[] = [];
  const giveBack = (cell: Cell): boolean => {
    if (!cell.pending.every((each) => each.done)) return false;
    if (poisons()) poison(cell.data);
    memories[cell.place].release(cell.data);
    return true;
  };
  return {
    liveBytes: () => held.device,
    hostBytes: () => held.host,
    allocate: (instance) => {
      inFlight = inFlight.filter((each) => !giveBack(each));
      const cell = createCell(instance, seat.degrees, memories, rowBytes(instance));
      if (poisons()) poison(cell.data);
      cells[storages.numberOf(instance)] = cell;
      held[cell.place] += cell.bytes;
      return cell;
    },
    release: (instance) => {
      const number = storages.numberOf(instance);
      const cell = cells[number];
      assertInvariant(cell !== undefined, () => `${instance.name} is released and was not allocated`);
      cells[number] = undefined;
      held[cell.place] -= cell.bytes;
      if (!giveBack(cell)) inFlight.push(cell);
    },
    window: (operand) => {
      const cell = cells[storages.numberOf(operand.instance)];
      assertInvariant(cell !== undefined, () => `${operand.instance.name} is used and not allocated`);
      return { cell, ...(rowsPlace(cell, operand, seat) ?? placeOf(operand)) };
    },
  };
}

/** Where an operand lies in its cell, worked out once. */
function placesOf(seat: Seat): (operand: Operand) => Omit<Window, 'cell'> {
  const places = new WeakMap<Operand, Omit<Window, 'cell'>>();
  return (operand) => {
    const known = places.get(operand);
    if (known) return known;
    const place = { spans: spansOf(operand, seat), dims: localDimsOf(operand.dims, seat) };
    places.set(operand, place);
    return place;
  };
}

function createCell(instance: Instance, degrees: Degrees, memories: Memories, rowBytes: number | undefined): Cell {
  const { declaration } = instance;
  const { place = 'device' } = declaration;
  const declared =
    rowBytes ??
    (place === 'host' ? hostBytes([declaration], degrees) : bufferBytes({ instance, dims: declaration.dims }, degrees));
  const length = declared / bytesOf(declaration.dtype);
  const data = memories[place].createElements(declaration.dtype, length);
  const bytes = data.length * bytesOf(declaration.dtype);
  assertInvariant(bytes === declared, () => `${instance.name} takes ${bytes} bytes, not ${declared}`);
  return { name: instance.name, dtype: declaration.dtype, data, bytes, place, pending: [] };
}

/** Routed rows as kernels see them: one dim of all rows, behind one place that stands for the experts. */
function rowsPlace(cell: Cell, { dims }: Operand, seat: Seat): Omit<Window, 'cell'> | undefined {
  const at = dims.findIndex((dim) => dim.routed !== undefined);
  if (at < 0) return undefined;
  const { length } = cell.data;
  const local = localDimsOf(dims, seat);
  const width = local.slice(at + 1).reduce((product, dim) => product * dim.size, 1);
  const counted = local.map((dim, place): LocalDim => {
    if (place > at) return dim;
    const size = place === at ? length / width : 1;
    return { ...dim, size, valid: size };
  });
  return { spans: [{ at: 0, length }], dims: counted };
}

/** Fills with NaN, or with a number that is no index. */
export const poison = (data: Elements): Elements =>
  data.fill(data instanceof Float32Array || data instanceof Float64Array ? Number.NaN : POISON_INT);

/** Spans of an operand: of its own memory, or, for a shard in place, of the buffer that it is a shard of. */
function spansOf({ instance, view, dims }: Operand, seat: Seat): readonly Span[] {
  const length = localElements(dims, seat.degrees);
  if (instance.declaration.shardOf === undefined) return [{ at: view?.offset ?? 0, length }];
  return shardSpans(instance.declaration.dims, seat)
    .filter(({ piece }) => piece < length)
    .map((segment) => ({ at: segment.whole, length: Math.min(segment.length, length - segment.piece) }));
}

const shardSpans = ([flat]: readonly Dim[], seat: Seat) =>
  flat ? segmentsOf(flat.parts ?? [flat.size], waysOf(flat, seat), pieceIndexOf(flat, seat)) : [];

/** The elements of a window: the memory itself where it is one span, else a copy in memory of `create`. */
export function valuesOf(
  { cell, spans }: Window,
  create: (length: number) => Elements = (length) => emptyLike(cell.data, length),
): Elements {
  const [span] = spans;
  if (span && spans.length === 1) return cell.data.subarray(span.at, span.at + span.length);
  const copy = create(lengthOf(spans));
  let at = 0;
  for (const each of spans) {
    copy.set(cell.data.subarray(each.at, each.at + each.length), at);
    at += each.length;
  }
  return copy;
}

export const lengthOf = (spans: readonly Span[]): number => spans.reduce((sum, { length }) => sum + length, 0);

/** Writes or adds values into a window and rounds to the type of its buffer. `add` gives the sums of long arrays faster. */
export function deposit(window: Window, values: Elements | readonly number[], adds: boolean, add?: Add): void {
  const { cell, spans } = window;
  let from = 0;
  for (const { at, length } of spans) {
    const part = ArrayBuffer.isView(values) ? (values as Elements).subarray(from, from + length) : values;
    const place = cell.data.subarray(at, at + length);
    if (!adds) place.set(part);
    else if (ArrayBuffer.isView(part)) combineInto(place, place, part as Elements, 'sum', add);
    else for (let index = 0; index < length; index++) place[index]! += part[index]!;
    from += length;
  }
  settle(window);
}

/** Rounds what was written to the type of the buffer. */
export function settle({ cell, spans }: Window): void {
  if (cell.dtype !== 'bf16') return;
  for (const { at, length } of spans) roundToBf16(cell.data, at, at + length);
}

/** Poisons what is left of a buffer beside the window: the parts that other ranks own. */
export function poisonAround(window: Window): void {
  const kept = valuesOf(window).slice();
  poison(window.cell.data);
  deposit(window, kept, false);
}
