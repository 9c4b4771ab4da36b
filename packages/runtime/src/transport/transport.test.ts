import { describe, expect, test } from 'vitest';
import type { Elements } from '../kernels/tensor.ts';
import { vectorAdd } from '../kernels/wasm/vector-add.ts';
import { directAllReduce, ringAllGather, ringAllReduce, ringReduceScatter } from './collectives.ts';
import { circles, drive, fabricOf, orders, pieceOf, valueOf } from './fabric.fixture.ts';
import { receive, send } from './peers.ts';
import { combineInto, wireOf } from './wire.ts';

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
        directAllReduce(circle, [pieceOf(rank, 0, 2)], 'max', (_, values) => void (results[rank] = values)),
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
