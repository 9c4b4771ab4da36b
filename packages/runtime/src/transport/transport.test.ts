import { describe, expect, test } from 'vitest';
import type { Elements } from '../kernels/tensor.ts';
import { vectorAdd } from '../kernels/wasm/vector-add.ts';
import {
  type Circle,
  directAllReduce,
  ringAllGather,
  ringAllReduce,
  ringReduceScatter,
  type Waiting,
} from './collectives.ts';
import { createFabricMemory, type FabricPlan } from './fabric.ts';
import { receive, send } from './peers.ts';
import { openPort } from './port.ts';
import { combineInto, wireOf } from './wire.ts';

/** `ranks` ranks with one channel of `elements` float32 each. */
function fabricOf(ranks: number, elements: number) {
  const plan: FabricPlan = {
    ranks,
    channels: Array.from({ length: ranks }, (_, rank) => ({ c: { control: 1 + 2 * ranks + 4 * rank, staging: 0 } })),
    stagingBytes: Array.from({ length: ranks }, () => 8 * elements),
    controlWords: 1 + 6 * ranks,
    ledger: [{ kind: 'test', over: 'data', axis: 'data', rule: 'test' }],
  };
  const memory = createFabricMemory(plan);
  const ports = Array.from({ length: ranks }, (_, rank) => openPort(plan, memory, rank));
  const sent = (): readonly number[] => Array.from(new BigInt64Array(memory.ledger), Number);
  return { ports, sent };
}

type Fabric = ReturnType<typeof fabricOf>;

function circles({ ports }: Fabric, pieceElements: number, dtype: 'fp32' | 'bf16' = 'fp32'): readonly Circle[] {
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
function drive(runs: readonly Waiting[], order: readonly number[]): void {
  const open = new Set(order);
  for (let turn = 0; open.size > 0; turn++) {
    expect(turn).toBeLessThan(1000);
    for (const rank of order) if (open.has(rank) && runs[rank]!.next().done) open.delete(rank);
  }
}

const orders = (ranks: number): readonly (readonly number[])[] => {
  const forward = Array.from({ length: ranks }, (_, rank) => rank);
  return [forward, [...forward].reverse(), [...forward.filter((r) => r % 2), ...forward.filter((r) => r % 2 === 0)]];
};

const valueOf = (rank: number, index: number): number => Math.fround(Math.sin(rank * 37 + index * 11));
const pieceOf = (rank: number, piece: number, size: number): Float32Array =>
  Float32Array.from({ length: size }, (_, index) => valueOf(rank, piece * size + index));

describe.each([1, 2, 3, 5, 8])('collectives of %i ranks', (ranks) => {
  const size = 3;
  const pieces = (rank: number): readonly Float32Array[] =>
    Array.from({ length: ranks }, (_, piece) => pieceOf(rank, piece, size));
  const sumOf = (index: number): number =>
    Array.from({ length: ranks }, (_, rank) => valueOf(rank, index)).reduce((sum, each) => sum + each, 0);

  test('sum and gather what all ranks have, in any order of arrival, and move what the ring moves', () => {
    const results = orders(ranks).map((order) => {
      const fabric = fabricOf(ranks, ranks * size);
      const members = circles(fabric, size);
      const reduced: Elements[][] = members.map(() => []);
      for (let round = 0; round < 2; round++) {
        const take = (rank: number) => (index: number, piece: Elements) => void (reduced[rank]![index] = piece);
        drive(
          members.map((circle, rank) => ringAllReduce(circle, pieces(rank), 'sum', take(rank))),
          order,
        );
      }
      expect(fabric.sent()).toEqual(members.map(() => 2 * 2 * (ranks - 1) * size * 4));
      return reduced;
    });
    const [first] = results;
    for (const reduced of results) expect(reduced).toEqual(first);
    for (const own of first!) {
      expect(own).toEqual(first![0]);
      own.forEach((piece, at) => {
        piece.forEach((value, index) => {
          expect(value).toBeCloseTo(sumOf(at * size + index), 5);
        });
      });
    }
  });

  test('a reduce-scatter then an all-gather is an all-reduce, bit for bit', () => {
    const fabric = fabricOf(ranks, ranks * size);
    const members = circles(fabric, size);
    const own: Elements[] = [];
    const whole: Elements[][] = members.map(() => []);
    const together: Elements[][] = members.map(() => []);
    const [order] = orders(ranks) as [readonly number[]];
    drive(
      members.map((circle, rank) =>
        ringReduceScatter(circle, pieces(rank), 'sum', (index, piece) => (own[index] = piece)),
      ),
      order,
    );
    drive(
      members.map((circle, rank) => ringAllGather(circle, own[rank]!, (index, piece) => (whole[rank]![index] = piece))),
      order,
    );
    drive(
      members.map((circle, rank) =>
        ringAllReduce(circle, pieces(rank), 'sum', (index, piece) => (together[rank]![index] = piece)),
      ),
      order,
    );
    expect(whole).toEqual(together);
  });

  test('the direct way takes the maximum over all and sends everything to each of the others', () => {
    const fabric = fabricOf(ranks, 4);
    const results: Elements[] = [];
    drive(
      circles(fabric, 2).map((circle, rank) =>
        directAllReduce(circle, pieceOf(rank, 0, 2), 'max', (values) => void (results[rank] = values)),
      ),
      orders(ranks)[1]!,
    );
    const most = [0, 1].map((index) => Math.max(...Array.from({ length: ranks }, (_, rank) => valueOf(rank, index))));
    for (const result of results) expect([...result]).toEqual(most);
    expect(fabric.sent()).toEqual(results.map(() => (ranks - 1) * 8));
  });
});

test('bf16 travels in two bytes an element, rounded', () => {
  const fabric = fabricOf(2, 4);
  const results: Elements[] = [];
  drive(
    circles(fabric, 1, 'bf16').map((circle, rank) =>
      ringAllGather(circle, Float32Array.of(rank + 1 + 2 ** -9), (index, piece) => void (results[index] = piece)),
    ),
    [0, 1],
  );
  expect(results.map((piece) => piece[0])).toEqual([1, 2]);
  expect(fabric.sent()).toEqual([2, 2]);
});

describe('messages', () => {
  const { ports, sent } = fabricOf(2, 4);
  const channel = ports[0]!.channel(0, 'c');
  const wire = wireOf('fp32', 'float32');
  const message = (rank: 0 | 1, tag: string) => ({ port: ports[rank]!, channel, wire, tag, peer: 1 - rank });

  test('arrive in order, and a send ends when it is taken', () => {
    const first = send(message(0, 'x1[0]'), Float32Array.of(1, 2), 0);
    expect(first.next().done).toBe(false);
    expect(first.next().done).toBe(false);
    const into = new Float32Array(2);
    expect(receive(message(1, 'x1[0]'), into).next().done).toBe(true);
    expect(first.next().done).toBe(true);
    expect([...into]).toEqual([1, 2]);
    expect(sent()).toEqual([8, 0]);
  });

  test('with another name are refused', () => {
    send(message(0, 'x1[1]'), Float32Array.of(1), 0).next();
    expect(() => receive(message(1, 'x2[1]'), new Float32Array(1)).next()).toThrow('waits for x2[1] from rank 0');
  });
});

test('vectors sum as a loop does, bit for bit', () => {
  const length = 3 * 2 ** 14 + 5;
  const [left, right] = [1, 2].map((rank) => Float32Array.from({ length }, (_, index) => valueOf(rank, index))) as [
    Float32Array,
    Float32Array,
  ];
  const [loop, vectors] = [new Float32Array(length), new Float32Array(new SharedArrayBuffer(4 * length))];
  combineInto(loop, left, right, 'sum');
  combineInto(vectors, left, right, 'sum', vectorAdd());
  expect([...vectors]).toEqual([...loop]);
});
