import type { Job } from '@meshwright/core/job';
import type { Layout } from '@meshwright/core/layout';
import { verifyProgram } from '@meshwright/core/program';
import { describe, expect, test } from 'vitest';
import { type RunResult, type TrainOptions, trainProgram } from '../index.ts';
import { type ModelName, programOf, smallJob } from './layouts.fixture.ts';
import { compareBytes, predictedByAxis, predictedOfRun } from './moved-bytes.ts';
import { boundsOf, compareRuns } from './parity.ts';

const steps = 3;
const options: TrainOptions = {
  steps,
  seed: 11,
  initialDeviation: 0.25,
  captureGradients: [1, 3],
  inline: true,
};
const rates = { sgd: 0.05, adamw: 0.002 } as const;
const optionsOf = (job: Job, kernels: 'plain' | 'wasm'): TrainOptions => ({
  ...options,
  learningRate: rates[job.optimizer],
  kernels,
});
const each = { gradientReduction: 'per-micro-batch' } as const;

type Case = readonly [name: string, changes: Partial<Layout>];

/** Every one of them with 2 to 8 ranks. */
const layouts: readonly Case[] = [
  ['2 expert ranks', { data: 2, expert: 2, expertTensor: 1 }],
  ['4 expert ranks', { data: 4, expert: 4, expertTensor: 1 }],
  ['2 expert ranks, 2 replicas of each', { data: 4, expert: 2, expertTensor: 1 }],
  ['with ZeRO-1', { data: 4, expert: 2, expertTensor: 1, sharding: 1 }],
  ['with ZeRO-2', { data: 4, expert: 2, expertTensor: 1, sharding: 2, ...each }],
  ['with ZeRO-3', { data: 4, expert: 2, expertTensor: 1, sharding: 3, ...each }],
  ['with ZeRO-3 and experts that have no replica', { data: 4, expert: 4, expertTensor: 1, sharding: 3, ...each }],
  ['out of tensor ranks', { tensor: 2, sequenceParallel: true, expert: 2, expertTensor: 1 }],
  ['out of tensor and data ranks', { tensor: 2, data: 2, sequenceParallel: true, expert: 4, expertTensor: 1 }],
  [
    'more replicas of experts than of the rest',
    { tensor: 2, data: 2, sequenceParallel: true, expert: 2, expertTensor: 1 },
  ],
  ['experts cut as well', { tensor: 2, data: 2, sequenceParallel: true, expert: 2, expertTensor: 2 }],
  ['experts cut without tensor', { data: 4, expert: 2, expertTensor: 2, sharding: 1 }],
  ['experts cut and not dealt out', { data: 2, expert: 1, expertTensor: 2 }],
  ['whole experts on every tensor rank', { tensor: 2, sequenceParallel: true, expert: 1, expertTensor: 1 }],
  ['in a pipeline', { pipeline: 2, data: 2, expert: 2, expertTensor: 1, sharding: 1 }],
  ['2 x 2 x 2', { tensor: 2, pipeline: 2, data: 2, sequenceParallel: true, expert: 4, expertTensor: 1, sharding: 1 }],
  ['run again in backward', { data: 2, expert: 2, expertTensor: 1, recompute: 'full' }],
  [
    'experts far apart',
    { data: 4, expert: 2, expertTensor: 1, order: ['tensor', 'context', 'data', 'expert', 'pipeline'] },
  ],
];

const families: readonly ModelName[] = [
  'norms on queries and keys, experts',
  'experts in every other layer',
  'a gated shared expert, parts of a softmax over all',
  'shared experts, corrected choice in groups by sigmoid',
  'biases of experts and router, sinks, clamped gates',
  'scaled branches of experts',
  'chunks, weighed inputs of one expert',
];

const references = new Map<string, Promise<RunResult>>();
const referenceOf = (job: Job, kernels: 'plain' | 'wasm'): Promise<RunResult> => {
  const key = `${job.name} ${job.optimizer} ${kernels}`;
  const known = references.get(key) ?? trainProgram(programOf(job), optionsOf(job, kernels));
  references.set(key, known);
  return known;
};

async function check(job: Job, changes: Partial<Layout>, kernels: 'plain' | 'wasm' = 'plain'): Promise<RunResult> {
  const program = programOf(job, changes);
  expect(verifyProgram(program)).toEqual([]);
  const run = await trainProgram(program, optionsOf(job, kernels));
  expect(run.stopped).toBe('done');
  expect(compareRuns(await referenceOf(job, kernels), run, boundsOf(kernels)).broken).toEqual([]);
  expect(compareBytes(program, run, steps)).toEqual([]);
  expect(run.memory.flatMap(({ differs }) => differs)).toEqual([]);
  return run;
}

describe('experts over a grid of their own: N ranks train as one, with the bytes and the memory of the rows that were counted', () => {
  test.each(layouts)('%s', async (_name, changes) => {
    await check(smallJob('moe', { optimizer: 'sgd' }), changes);
  });

  const both = { tensor: 2, data: 2, sequenceParallel: true } as const;
  test.each(families)('%s', async (name) => {
    await check(smallJob(name, { optimizer: 'sgd' }), { ...both, expert: 4, expertTensor: 1 });
    await check(smallJob(name, { optimizer: 'sgd' }), { ...both, expert: 2, expertTensor: 2 });
  });

  test('on the fast kernels, by AdamW', async () => {
    await check(smallJob('moe'), { ...both, expert: 2, expertTensor: 2 }, 'wasm');
  });
});

test('rows are uneven, their counts conserve tokens, and what moved is not what balance would have', async () => {
  const job = smallJob('moe', { optimizer: 'sgd' });
  const changes = { data: 4, expert: 4, expertTensor: 1 };
  const run = await check(job, changes);
  const program = programOf(job, changes);
  // 2 layers and 2 micro-batches of 8 tokens a rank, 2 copies of each.
  const tables = run.rows.map((periods) => periods.map((tables) => Object.values(tables)));
  for (const table of tables.flat(2)) {
    const sent = Array.from({ length: 4 }, (_, rank) =>
      Array.from(table.counts)
        .slice(rank * 4, rank * 4 + 4)
        .reduce((sum, each) => sum + each, 0),
    );
    expect(sent).toEqual([16, 16, 16, 16]);
  }
  const received = tables[0]?.[0]?.map((table) =>
    [0, 1, 2, 3].map((expert) => [0, 1, 2, 3].reduce((sum, rank) => sum + (table.counts[rank * 4 + expert] ?? 0), 0)),
  );
  expect(received?.some((counts) => new Set(counts).size > 1)).toBe(true);
  const balanced = (predictedByAxis(program)['expert'] ?? 0) * steps;
  expect(predictedOfRun(program, run)['expert']).not.toBe(balanced);
});
