/** @file The time of the operations of one call as a max-plus matrix. What waits for what is written down once, as numbers;
 * seconds are filled in as often as they differ.
 */
import type { ExpandedOperation } from '../program/index.ts';
import { type BlockMatrix, ENTRY, EXIT, emptyMatrix } from './maxplus.ts';

/** Names of the buffers at a call's borders, as instances. */
export interface Borders {
  readonly input: string | undefined;
  /** The input is there once the compute lane is free: nothing of another rank is waited for. */
  readonly inputOfLane?: true;
  readonly output: string | undefined;
}

/** The operations of a call as numbers: buffers and lanes are numbered as they come. */
export interface TimeShape {
  readonly operations: readonly ShapedOperation[];
  readonly buffers: number;
  readonly lanes: number;
  /** Buffers that are there before the call, and the entry clock that says when. */
  readonly outside: readonly { readonly buffer: number; readonly clock: number }[];
  /** The buffer at the border; -1 for none. */
  readonly output: number;
}

interface ShapedOperation {
  /** The host waits for a value here instead of launching anything. */
  readonly waits: boolean;
  readonly lane: number;
  readonly reads: readonly number[];
  readonly writes: readonly number[];
  /** Gradients that it writes. */
  readonly own: boolean;
  readonly tied: boolean;
}

const COMPUTE = 0;
const TENSOR = 1;

/** Who waits for whom among the operations of a call, in order of issue.
 *
 * Same rules as the operation-level simulation: the host issues in order; an operation starts when it is issued, its lane
 * is free, what it reads is written and what it overwrites is read. Buffers written before the call are ready, save for the border's input and
 * gathered weights: those are entry clocks.
 */
export function timeShape(operations: readonly ExpandedOperation[], borders: Borders): TimeShape {
  const buffers = new Map<string, number>();
  const lanes = new Map<string, number>([
    ['compute', COMPUTE],
    ['tensor', TENSOR],
  ]);
  const outside: { buffer: number; clock: number }[] = [];
  const bufferOf = (name: string): number => {
    const known = buffers.get(name);
    if (known !== undefined) return known;
    const buffer = buffers.size;
    buffers.set(name, buffer);
    const clock = outsideClock(name, borders);
    if (clock !== undefined) outside.push({ buffer, clock });
    return buffer;
  };
  const laneOf = (name: string): number => {
    const lane = lanes.get(name) ?? lanes.size;
    lanes.set(name, lane);
    return lane;
  };
  const shaped = operations.map(({ operation, reads, writes }): ShapedOperation => {
    const names = writes.map(({ operand }) => operand.instance.name);
    const gradients = names.filter((name) => name.startsWith('G.'));
    return {
      waits: operation.kind === 'wait',
      lane: operation.kind === 'wait' ? -1 : laneOf(operation.lane),
      reads: reads.flatMap((read) => (read ? [bufferOf(read.instance.name)] : [])),
      writes: names.map(bufferOf),
      own: gradients.some((name) => !isTied(name)),
      tied: gradients.some(isTied),
    };
  });
  const output = borders.output === undefined ? -1 : (buffers.get(borders.output) ?? -1);
  return { operations: shaped, buffers: buffers.size, lanes: lanes.size, outside, output };
}

function outsideClock(instance: string, borders: Borders): number | undefined {
  if (instance === borders.input) return borders.inputOfLane ? ENTRY.compute : ENTRY.input;
  if (instance.startsWith('W.')) return isTied(instance) ? ENTRY.tied : ENTRY.own;
  return undefined;
}

/** In the second bucket of a block: the tied matrix at the ends, experts over a grid of their own in layers, or what is frozen
 * beside adapters. */
export const isTied = (instance: string): boolean => /^[WG]\.(tied\b|[\w-]+\.(experts|frozen)\b)/.test(instance);

const COLUMNS = 6;

/** The later of both clocks, column by column, in the first one. A clock is a row of seconds from each entry clock. */
function raise(into: Float64Array, at: number, from: Float64Array, other: number): void {
  for (let column = 0; column < COLUMNS; column++) {
    const seconds = from[other + column] as number;
    if (seconds > (into[at + column] as number)) into[at + column] = seconds;
  }
}

function add(into: Float64Array, seconds: number): void {
  for (let column = 0; column < COLUMNS; column++) into[column] = (into[column] as number) + seconds;
}

const clocks = (count: number): Float64Array => new Float64Array(count * COLUMNS).fill(Number.NEGATIVE_INFINITY);

/** The matrix of a shape whose operations take the seconds from `first` on, each once its launch, of as many seconds of the
 * host as `launches` says, is through. */
export function matrixOf(
  { operations, buffers, lanes: laneCount, outside, output }: TimeShape,
  seconds: Float64Array,
  launches: Float64Array,
  first: number,
): BlockMatrix {
  // A reader waits for what was there before the call, a writer only for who wrote or read in it.
  const ready = clocks(buffers);
  const written = clocks(buffers);
  const read = clocks(buffers);
  for (const { buffer, clock } of outside) ready[buffer * COLUMNS + clock] = 0;
  const lanes = clocks(laneCount);
  lanes[COMPUTE * COLUMNS + ENTRY.compute] = 0;
  lanes[TENSOR * COLUMNS + ENTRY.tensor] = 0;
  const host = clocks(1);
  host[ENTRY.host] = 0;
  const own = clocks(1);
  const tied = clocks(1);
  const end = host.slice();
  for (let index = 0; index < operations.length; index++) {
    const operation = operations[index] as ShapedOperation;
    if (operation.waits) {
      // The host reads a value: what it issues next comes after the value is there.
      for (const buffer of operation.reads) raise(host, 0, ready, buffer * COLUMNS);
      continue;
    }
    add(host, launches[first + index] as number);
    end.set(host);
    raise(end, 0, lanes, operation.lane * COLUMNS);
    for (const buffer of operation.reads) raise(end, 0, ready, buffer * COLUMNS);
    for (const buffer of operation.writes) {
      raise(end, 0, written, buffer * COLUMNS);
      raise(end, 0, read, buffer * COLUMNS);
    }
    add(end, seconds[first + index] as number);
    for (const buffer of operation.reads) raise(read, buffer * COLUMNS, end, 0);
    lanes.set(end, operation.lane * COLUMNS);
    for (const buffer of operation.writes) {
      written.set(end, buffer * COLUMNS);
      ready.set(end, buffer * COLUMNS);
    }
    if (operation.own) raise(own, 0, end, 0);
    if (operation.tied) raise(tied, 0, end, 0);
  }
  const matrix = emptyMatrix();
  const put = (exit: number, clock: Float64Array): void => matrix.set(clock, exit * COLUMNS);
  put(EXIT.host, host);
  put(EXIT.compute, lanes.subarray(COMPUTE * COLUMNS, (COMPUTE + 1) * COLUMNS));
  put(EXIT.tensor, lanes.subarray(TENSOR * COLUMNS, (TENSOR + 1) * COLUMNS));
  if (output >= 0) put(EXIT.output, written.subarray(output * COLUMNS, (output + 1) * COLUMNS));
  put(EXIT.end, end);
  put(EXIT.own, own);
  put(EXIT.tied, tied);
  return matrix;
}
