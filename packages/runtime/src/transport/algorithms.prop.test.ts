import { algorithms } from '@meshwright/core/collectives';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Elements } from '../kernels/tensor.ts';
import type { Circle, TakePiece, Waiting } from './circle.ts';
import { allToAll, ringAllGather, ringAllReduce, ringReduceScatter } from './collectives.ts';
import { circles, drive, fabricOf, valueOf } from './fabric.fixture.ts';
import { halvingAllReduce } from './halves.ts';
import { tieredAllGather, tieredAllReduce, tieredAllToAll, tieredReduceScatter } from './tiers.ts';
import { treeAllReduce } from './trees.ts';

const SIZES = { numRuns: 60 } as const;

/** Ranks in nodes of `inner`, elements of a piece, and an order in which ranks move. */
const cases = fc
  .record({
    inner: fc.integer({ min: 1, max: 4 }),
    nodes: fc.integer({ min: 1, max: 5 }),
    size: fc.integer({ min: 1, max: 9 }),
    type: fc.constantFrom('fp32' as const, 'bf16' as const),
    reduce: fc.constantFrom('sum' as const, 'max' as const),
  })
  .chain((each) => {
    const ranks = each.inner * each.nodes;
    const forward = Array.from({ length: ranks }, (_, rank) => rank);
    return fc.record({
      ...{ case: fc.constant({ ...each, ranks }), order: fc.shuffledSubarray(forward, { minLength: ranks }) },
      second: fc.shuffledSubarray(forward, { minLength: ranks }),
    });
  });

type Run = (circle: Circle, pieces: readonly Elements[], take: TakePiece) => Waiting;

interface Asked {
  readonly ranks: number;
  readonly pieces: number;
  readonly size: number;
  readonly type: 'fp32' | 'bf16';
  readonly order: readonly number[];
}

/** What each rank is given by a collective, run twice in a row over the same staging, and the bytes that it sends in one. */
function outcome({ ranks, pieces, size, type, order }: Asked, run: Run) {
  const fabric = fabricOf(ranks, pieces * size);
  const given: Record<number, number[]>[] = [];
  for (let round = 0; round < 2; round++) {
    drive(
      circles(fabric, size, type).map((circle, rank) => {
        given[rank] = {};
        const parts = Array.from({ length: pieces }, (_, piece) =>
          Float32Array.from({ length: size }, (_, at) => bf16ish(valueOf(rank, piece * size + at))),
        );
        return run(circle, parts, (index, piece) => void (given[rank]![index] = Array.from(piece)));
      }),
      order,
    );
  }
  const width = type === 'fp32' ? 4 : 2;
  return { given, elementsSent: fabric.sent().map((bytes) => bytes / width / 2) };
}

/** Values that bf16 holds exactly, so that only sums are rounded. */
const bf16ish = (value: number): number => Math.round(value * 64) / 64;

const tolerance = (type: 'fp32' | 'bf16', ranks: number): number => (type === 'fp32' ? 1e-5 : 0.02 * ranks);

/** All ranks are given one sum, close to the exact one, in either order. */
function expectOneSum(asked: Asked, second: readonly number[], run: Run, reduce: 'sum' | 'max'): void {
  const { ranks, pieces, size, type } = asked;
  const { given, elementsSent } = outcome(asked, run);
  expect(outcome({ ...asked, order: second }, run)).toEqual({ given, elementsSent });
  for (const each of given) expect(each).toEqual(given[0]);
  for (let index = 0; index < pieces * size; index++) {
    const values = Array.from({ length: ranks }, (_, rank) => bf16ish(valueOf(rank, index)));
    const exact = reduce === 'max' ? Math.max(...values) : values.reduce((sum, value) => sum + value, 0);
    const found = given[0]![Math.floor(index / size)]![index % size]!;
    expect(Math.abs(found - exact)).toBeLessThanOrEqual(tolerance(type, ranks));
  }
}

test('trees give all ranks one sum, close to that of a ring, whoever moves first, and send what their flows say', () => {
  fc.assert(
    fc.property(cases, ({ case: { ranks, size, type, reduce }, order, second }) => {
      const asked = { ranks, pieces: 2, size, type, order };
      const run: Run = (circle, halves, take) => treeAllReduce(circle, halves, reduce, take);
      expectOneSum(asked, second, run, reduce);
      const shares = Array.from({ length: ranks }, () => 0);
      algorithms.tree.flows('all-reduce', ranks, (from, _, share) => void (shares[from]! += share * 2 * size));
      expect(outcome(asked, run).elementsSent).toEqual(shares);
    }),
    SIZES,
  );
});

test('halves give all ranks one sum, close to the exact one, whoever moves first, and send what their flows say', () => {
  fc.assert(
    fc.property(cases, ({ case: { ranks, size, type, reduce }, order, second }) => {
      const whole = 2 ** Math.floor(Math.log2(ranks));
      const asked = { ranks, pieces: whole, size, type, order };
      const run: Run = (circle, pieces, take) => halvingAllReduce(circle, pieces, reduce, take);
      expectOneSum(asked, second, run, reduce);
      const shares = Array.from({ length: ranks }, () => 0);
      algorithms['halving-doubling'].flows(
        'all-reduce',
        ranks,
        (from, _, share) => void (shares[from]! += share * whole * size),
      );
      expect(outcome(asked, run).elementsSent).toEqual(shares);
    }),
    SIZES,
  );
});

test('two tiers reduce, scatter and gather as a ring does, whoever moves first, and send what a ring sends', () => {
  fc.assert(
    fc.property(cases, ({ case: { ranks, inner, size, type, reduce }, order, second }) => {
      const asked = { ranks, pieces: ranks, size, type, order };
      const pairs: readonly (readonly [ring: Run, tiers: Run])[] = [
        [
          (circle, pieces, take) => ringAllReduce(circle, pieces, reduce, take),
          (circle, pieces, take) => tieredAllReduce({ ...circle, inner }, pieces, reduce, take),
        ],
        [
          (circle, pieces, take) => ringReduceScatter(circle, pieces, reduce, take),
          (circle, pieces, take) => tieredReduceScatter({ ...circle, inner }, pieces, reduce, take),
        ],
      ];
      for (const [ring, tiers] of pairs) {
        const one = outcome(asked, ring);
        const other = outcome(asked, tiers);
        expect(outcome({ ...asked, order: second }, tiers)).toEqual(other);
        expect(other.elementsSent).toEqual(one.elementsSent);
        for (const [rank, pieces] of other.given.entries()) {
          expect(Object.keys(pieces)).toEqual(Object.keys(one.given[rank]!));
          for (const [index, piece] of Object.entries(pieces)) {
            const expected = one.given[rank]![Number(index)]!;
            for (const [at, value] of piece.entries()) {
              expect(Math.abs(value - expected[at]!)).toBeLessThanOrEqual(tolerance(type, ranks));
            }
          }
        }
      }
      const [whole, scattered] = [pairs[0]![1], pairs[1]![1]].map((run) => outcome(asked, run).given);
      for (const rank of order) expect(scattered![rank]).toEqual({ [rank]: whole![0]![rank] });
      const gather =
        (run: typeof ringAllGather): Run =>
        (circle, pieces, take) =>
          run(circle, pieces[0]!, take);
      const gathered = outcome(
        asked,
        gather((circle, own, take) => tieredAllGather({ ...circle, inner }, own, take)),
      );
      expect(gathered).toEqual(outcome(asked, gather(ringAllGather)));
    }),
    SIZES,
  );
});

test('two tiers bring each piece to whom it is for, and send all once in each tier', () => {
  fc.assert(
    fc.property(cases, ({ case: { ranks, inner, size, type }, order }) => {
      const asked = { ranks, pieces: ranks, size, type, order };
      const straight = outcome(asked, allToAll);
      const tiers = outcome(asked, (circle, pieces, take) => tieredAllToAll({ ...circle, inner }, pieces, take));
      expect(tiers.given).toEqual(straight.given);
      const sent = algorithms.hierarchical.bytesSent('all-to-all', ranks * size, ranks, inner);
      for (const elements of tiers.elementsSent) expect(elements).toBeCloseTo(sent, 9);
    }),
    SIZES,
  );
});
