/** Ranks of one thread that are stepped by hand, each with one channel. */
import type { Circle, Waiting } from './circle.ts';
import { createFabricMemory, type FabricPlan } from './fabric.ts';
import { openPort } from './port.ts';
import { wireOf } from './wire.ts';

/** `ranks` ranks with one channel of `elements` float32 each. */
export function fabricOf(ranks: number, elements: number) {
  const plan: FabricPlan = {
    ranks,
    channels: Array.from({ length: ranks }, (_, rank) => ({ c: { control: 1 + 2 * ranks + 4 * rank, staging: 0 } })),
    stagingBytes: Array.from({ length: ranks }, () => 16 * elements),
    controlWords: 1 + 6 * ranks,
    ledger: [{ kind: 'test', over: 'data', axis: 'data', rule: 'test' }],
  };
  const memory = createFabricMemory(plan);
  const ports = Array.from({ length: ranks }, (_, rank) => openPort(plan, memory, rank));
  const sent = (): readonly number[] => Array.from(new BigInt64Array(memory.ledger), Number);
  return { ports, sent };
}

type Fabric = ReturnType<typeof fabricOf>;

export function circles({ ports }: Fabric, pieceElements: number, dtype: 'fp32' | 'bf16' = 'fp32'): readonly Circle[] {
  return ports.map((port, place) => ({
    port,
    channels: ports.map((_, rank) => port.channel(rank, 'c')),
    place,
    pieceElements,
    wire: wireOf(dtype, 'float32'),
    key: 0,
    create: (length) => new Float32Array(length),
  }));
}

/** Steps all ranks in the given order until all are done. */
export function drive(runs: readonly Waiting[], order: readonly number[]): void {
  const open = new Set(order);
  for (let turn = 0; open.size > 0; turn++) {
    if (turn >= 1000) throw new Error('nobody can move');
    for (const rank of order) if (open.has(rank) && runs[rank]!.next().done) open.delete(rank);
  }
}

export const orders = (ranks: number): readonly (readonly number[])[] => {
  const forward = Array.from({ length: ranks }, (_, rank) => rank);
  return [forward, [...forward].reverse(), [...forward.filter((r) => r % 2), ...forward.filter((r) => r % 2 === 0)]];
};

export const valueOf = (rank: number, index: number): number => Math.fround(Math.sin(rank * 37 + index * 11));
export const pieceOf = (rank: number, piece: number, size: number): Float32Array =>
  Float32Array.from({ length: size }, (_, index) => valueOf(rank, piece * size + index));
