/** @file What is alive when most is, from the numbers of a list: the lifetimes of `liveness.ts` without an object for each. */
import type { Degrees } from '../../tensor/index.ts';
import type { Operand } from '../names.ts';
import { bufferBytes } from '../shapes.ts';
import type { BufferDeclaration, Role } from '../types.ts';
import { readCount } from './index.ts';
import type { Replay } from './types.ts';

/** Bytes at the peak of one rank of a list. */
export interface Peak {
  readonly residentBytes: number;
  readonly peakBytes: number;
  /** The first operation at which the peak is reached. */
  readonly peakIndex: number;
  /** Of what is alive then. */
  readonly byRole: ReadonlyMap<Role, number>;
}

export function peakOf(replay: Replay, degrees: Degrees): Peak {
  const { slots, slotOf } = replay.owners();
  const bytes = Float64Array.from(slots, ({ owner }) => (owner.resident ? 0 : bytesOfBuffer(owner, degrees)));
  const { memory, first, last, count } = rangesOf(replay);
  const live = new Float64Array(replay.length + 1);
  for (let range = 0; range < count; range++) {
    const size = bytes[slotOf[memory[range] as number] as number] as number;
    const [from, to] = [first[range] as number, (last[range] as number) + 1];
    live[from] = (live[from] as number) + size;
    live[to] = (live[to] as number) - size;
  }
  const residents = residentsOf(replay);
  const residentBytes = residents.reduce((sum, each) => sum + bytesOfBuffer(each, degrees), 0);
  let peakIndex = 0;
  let peakBytes = residentBytes + (live[0] as number);
  let sum = residentBytes;
  for (let index = 0; index < replay.length; index++) {
    sum += live[index] as number;
    if (sum <= peakBytes) continue;
    peakBytes = sum;
    peakIndex = index;
  }
  const byRole = new Map<Role, number>();
  const add = (role: Role, size: number): void => void byRole.set(role, (byRole.get(role) ?? 0) + size);
  for (const each of residents) add(each.role, bytesOfBuffer(each, degrees));
  for (let range = 0; range < count; range++) {
    if ((first[range] as number) > peakIndex || (last[range] as number) < peakIndex) continue;
    const slot = slotOf[memory[range] as number] as number;
    const owner = slots[slot]?.owner;
    if (owner && !owner.resident) add(owner.role, bytes[slot] as number);
  }
  return { residentBytes, peakBytes, peakIndex, byRole };
}

const bytesOfBuffer = (declaration: BufferDeclaration, degrees: Degrees): number =>
  bufferBytes({ instance: { name: declaration.name, declaration }, dims: declaration.dims }, degrees);

/** Resident buffers that the list declares, touched or not, and resident ones of the program that it touches. */
function residentsOf(replay: Replay): readonly BufferDeclaration[] {
  const touched = replay.owners().slots.flatMap(({ owner }) => (owner.resident ? [owner] : []));
  const known = new Set(touched.map(({ name }) => name));
  const untouched = replay.list.buffers.filter(
    ({ name, resident, shardOf }) => resident && shardOf === undefined && !known.has(name),
  );
  return [...touched, ...untouched];
}

/** Lifetimes as columns. */
interface Ranges {
  readonly memory: Uint32Array;
  readonly first: Uint32Array;
  readonly last: Uint32Array;
  readonly count: number;
}

function rangesOf(replay: Replay): Ranges {
  const { samples, sampleOf, operands, operandFirst, length } = replay;
  const reads = Uint8Array.from(samples, readCount);
  const overwrites = samples.map(({ writes }) =>
    Uint8Array.from(writes, ({ operand, accumulate }) => (!accumulate && isWhole(operand) ? 1 : 0)),
  );
  const open = new Int32Array(replay.memories).fill(-1);
  const memory = new Uint32Array(operands.length);
  const first = new Uint32Array(operands.length);
  const last = new Uint32Array(operands.length);
  let count = 0;
  const start = (own: number, index: number): void => {
    open[own] = count;
    memory[count] = own;
    first[count] = index;
    last[count] = index;
    count += 1;
  };
  for (let index = 0; index < length; index++) {
    const sample = sampleOf[index] as number;
    const from = operandFirst[index] as number;
    const written = from + (reads[sample] as number);
    const to = operandFirst[index + 1] as number;
    const overwriting = overwrites[sample] as Uint8Array;
    for (let at = from; at < to; at++) {
      const own = operands[at] as number;
      const range = open[own] as number;
      const isNew = at >= written && overwriting[at - written] === 1 && !isAmong(operands, from, written, own);
      if (range < 0 || isNew) start(own, index);
      else last[range] = index;
    }
  }
  return { memory, first, last, count };
}

function isAmong(operands: Uint32Array, from: number, to: number, memory: number): boolean {
  for (let at = from; at < to; at++) if (operands[at] === memory) return true;
  return false;
}

const isWhole = ({ instance, view, slice }: Operand): boolean =>
  view === undefined && slice === undefined && instance.declaration.shardOf === undefined;
