import type { Layout } from '@meshwright/core/layout';
import { expandList } from '@meshwright/core/program';
import { laneOf, sliceOf } from '@meshwright/core/timeline';
import { expect, test } from 'vitest';
import { trainProgram } from '../index.ts';
import { programOf, smallJob } from '../parity/layouts.fixture.ts';

const cases: readonly (readonly [name: string, lane: string, changes: Partial<Layout>])[] = [
  ['gathers of ZeRO-3 ahead of their unit', 'data.gather', { data: 2, sharding: 3, prefetch: 1 }],
  ['sums of gradients in small buckets', 'data.reduce', { data: 2, bucketMB: 0.001 }],
];

test.each(cases)('what is issued early moves while its rank computes: %s', async (_name, lane, changes) => {
  const program = programOf(smallJob('gpt2', { optimizer: 'sgd' }), changes);
  const run = await trainProgram(program, { steps: 2, inline: true });
  const { timeline } = run;
  const slicesOf = (rank: number, name: string) => laneOf(timeline, rank, name).map((at) => sliceOf(timeline, at));
  const behind = [0, 1].flatMap((rank) => {
    const kernels = slicesOf(rank, 'compute');
    return slicesOf(rank, lane).filter(({ start, end }) =>
      kernels.some((kernel) => kernel.start >= start && kernel.end <= end),
    );
  });
  expect(behind.length).toBeGreaterThan(1);
  const [list] = program.lists;
  const operations = list && expandList(program, list).operations;
  expect(timeline.length).toBe(2 * (operations ?? []).filter(({ operation: { kind } }) => timed(kind)).length);
});

/** What a timeline holds a slice of: a wait is the end of something else. */
const timed = (kind: string): boolean => !['wait', 'alloc', 'free'].includes(kind);
