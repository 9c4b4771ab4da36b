/** @file The program of program-example.md, compiled: operation by operation the one written by hand, with its numbers. */
import { describe, expect, it } from 'vitest';
import { toyProgram } from '../program/fixtures/toy.fixture.ts';
import {
  bytesSent,
  degreesOf,
  type ExpandedOperation,
  expandList,
  type Lifetimes,
  lifetimesOf,
  type Operand,
  type Program,
} from '../program/index.ts';
import { compileProgram } from './index.ts';
import { lineOf, toyJob, toyLayout } from './toy.fixture.ts';

const compiled = compileProgram(toyJob(), toyLayout());
const byHand = toyProgram();

const operationsOf = (program: Program, list: number): readonly ExpandedOperation[] => {
  const found = program.lists[list];
  return found ? expandList(program, found).operations : [];
};

const lifetimes = (program: Program): readonly Lifetimes[] =>
  program.lists.map((list) => lifetimesOf(expandList(program, list), degreesOf(program)));

/** An operation in words; the hand calls the bucket `body`, and the order of buckets is nobody's business. */
function wordsOf({ operation, reads, writes }: ExpandedOperation): string {
  const name = (operand: Operand | undefined): string => {
    if (operand === undefined) return 'none';
    const { instance, view, slice } = operand;
    return [instance.name.replace('.b0', '.body'), view?.name, slice].filter(Boolean).join(':');
  };
  const from = reads.map(name);
  const to = writes.map(({ operand, accumulate }) => name(operand) + (accumulate ? '+' : ''));
  const what =
    operation.kind === 'compute'
      ? operation.kernel
      : operation.kind === 'collective'
        ? `${operation.collective} ${operation.axis} ${operation.reduce ?? ''} ${operation.algorithm}`
        : operation.kind;
  const overBuckets = what === 'square-sum' || what === 'adamw';
  const listed = (names: readonly string[]) => (overBuckets ? [...names].sort() : names).join(' ');
  return `${operation.lane}: ${what} ${listed(from)} -> ${listed(to)}`;
}

describe('the worked example', () => {
  it.each([0, 1])('has the blocks of the program by hand, in the same order, on stage %i', (list) => {
    const inBlocks = (program: Program) =>
      operationsOf(program, list)
        .filter(({ block }) => block !== undefined)
        .map(wordsOf);
    expect(inBlocks(compiled)).toEqual(inBlocks(byHand));
  });

  it.each([0, 1])('has the same exchanges and the same tail on stage %i', (list) => {
    const sorted = (program: Program) => operationsOf(program, list).map(wordsOf).sort();
    expect(sorted(compiled)).toEqual(sorted(byHand));
  });

  it('writes the lists of section 4, the tied matrix last', () => {
    expect(compiled.lists.map(({ items }) => items.map(lineOf))).toEqual([firstStage, lastStage]);
  });

  it('sends 24,656 bytes a step: on tensor, pipeline and data 1,092 / 324 / 1,672 and 1,124 / 324 / 1,628', () => {
    const { lists, totalBytes } = bytesSent(compiled);
    const axes = lists.map(({ byAxis }) => ['tensor', 'pipeline', 'data'].map((axis) => byAxis[axis]?.bytes));
    expect(axes).toEqual([
      [1092, 324, 1672],
      [1124, 324, 1628],
    ]);
    expect(totalBytes).toBe(24_656);
  });

  it('holds 6,672 and 6,480 bytes of state: (6 + 12 / N) bytes a parameter with fp32 gradients', () => {
    const state = lifetimes(compiled).map(({ residents }) =>
      residents
        .filter(({ instance }) => instance.declaration.bucket !== undefined)
        .reduce((sum, { bytes }) => sum + bytes, 0),
    );
    expect(state).toEqual([556 * 12, 540 * 12]);
  });

  it('keeps 512 bytes of a layer, and 48 of statistics', () => {
    const kept = ['x', 'n1', 'r', 'n2', 'qkv', 'o', 'f', 'ge'];
    const statistics = ['st1', 'st2', 'lse'];
    const at = lifetimes(compiled).map(({ ranges }, stage) => {
      const own = ranges.filter(({ instance: { name } }) => name.endsWith(`[${stage},0]`) || name === `x${stage}[0]`);
      const sum = (names: readonly string[]) =>
        own
          .filter(({ instance }) => names.includes(instance.declaration.name))
          .reduce((all, { bytes }) => all + bytes, 0);
      return [sum(kept), sum(statistics)];
    });
    expect(at).toEqual([
      [512, 48],
      [512, 48],
    ]);
  });

  it('peaks where the program by hand does, but for three scalars that it holds throughout', () => {
    const peaks = (program: Program) => lifetimes(program).map(({ peakBytes }) => peakBytes);
    expect(peaks(compiled)).toEqual(peaks(byHand).map((bytes) => bytes + 12));
  });
});

const firstStage = `
1 data.gather all-gather W.tied -> W.tied
2 data.gather all-gather W.b0 -> W.b0
3 F.embed[-1,0]
4 F.layer[0,0]
5 act.out send x1[0] ->
6 grad.in recv -> dx1[0] needs 4
7 F.embed[-1,1]
8 F.layer[0,1]
9 act.out send x1[1] ->
10 grad.in recv -> dx1[1] needs 8
11 B.layer[0,0]
12 B.embed[-1,0]
13 B.layer[0,1]
14 B.embed[-1,1]
15 tensor all-reduce G.b0.summed -> G.b0.summed
16 data.reduce reduce-scatter G.b0 -> S.b0
17 ends all-reduce G.tied -> G.tied
18 data.reduce reduce-scatter G.tied -> S.tied
19 compute square-sum S.tied S.b0 -> q
20 control all-reduce q -> q
21 control all-reduce q -> q
22 control all-reduce q -> q
23 compute clip q -> k
24 compute adamw S.tied S.b0 k lr -> W.tied W.b0 O.tied.master O.tied.m O.tied.v O.b0.master O.b0.m O.b0.v`
  .trim()
  .split('\n');

const lastStage = `
1 data.gather all-gather W.b0 -> W.b0
2 data.gather all-gather W.tied -> W.tied
3 act.in recv -> x1[0]
4 F.layer[1,0]
5 F.head[2,0]
6 act.in recv -> x1[1] needs 5
7 B.head[2,0]
8 B.layer[1,0]
9 grad.out send dx1[0] ->
10 F.layer[1,1]
11 F.head[2,1]
12 B.head[2,1]
13 B.layer[1,1]
14 grad.out send dx1[1] ->`
  .trim()
  .split('\n')
  .concat(firstStage.slice(14), '25 control all-reduce loss -> loss');
