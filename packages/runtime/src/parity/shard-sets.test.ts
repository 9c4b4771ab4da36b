import type { Job } from '@meshwright/core/job';
import type { Layout } from '@meshwright/core/layout';
import { verifyProgram } from '@meshwright/core/program';
import { expect, test } from 'vitest';
import { type RunResult, type TrainOptions, trainProgram } from '../index.ts';
import { type ModelName, programOf, smallJob } from './layouts.fixture.ts';
import { compareBytes } from './moved-bytes.ts';
import { boundsOf, compareRuns } from './parity.ts';

const steps = 3;
const optionsOf = (job: Job): TrainOptions => ({
  steps,
  seed: 11,
  initialDeviation: 0.25,
  captureGradients: [1, 3],
  inline: true,
  learningRate: job.optimizer === 'sgd' ? 0.05 : 0.002,
  kernels: 'plain',
});
const each = { gradientReduction: 'per-micro-batch' } as const;
const stages = { pipeline: 2 } as const;
const sequence = { tensor: 2, sequenceParallel: true } as const;

type Case = readonly [name: string, model: ModelName, changes: Partial<Layout>];

/** 4 to 8 ranks; sets of two ranks unless said otherwise. */
const cases: readonly Case[] = [
  ['ZeRO-1, 2 x 2', 'llama', { data: 4, replicate: 2, sharding: 1 }],
  ['ZeRO-2, 2 x 2', 'gpt2', { data: 4, replicate: 2, sharding: 2, ...each }],
  ['ZeRO-3, 2 x 2', 'llama', { data: 4, replicate: 2, sharding: 3, ...each }],
  ['ZeRO-3 that reduces once a step', 'llama', { data: 4, replicate: 2, sharding: 3 }],
  ['ZeRO-3 that keeps its units', 'gpt2', { data: 4, replicate: 2, sharding: 3, ...each, reshard: false }],
  ['sets of four', 'llama', { data: 8, replicate: 2, sharding: 3, ...each }],
  ['four sets', 'gpt2', { data: 8, replicate: 4, sharding: 2, ...each }],
  ['beside tensor', 'llama', { ...sequence, data: 4, replicate: 2, sharding: 3, ...each }],
  ['in a pipeline, tied ends', 'gpt2', { ...stages, data: 4, replicate: 2, sharding: 3, ...each }],
  ['in a pipeline, tied ends, ZeRO-1', 'gpt2', { ...stages, data: 4, replicate: 2, sharding: 1 }],
  [
    'backward in two parts',
    'gpt2',
    { ...stages, schedule: 'zero-bubble-h1', data: 4, replicate: 2, sharding: 2, ...each },
  ],
  [
    'backward in two parts, stages that fold',
    'llama',
    { ...stages, chunks: 2, schedule: 'zero-bubble-v', data: 4, replicate: 2, sharding: 3, ...each },
  ],
  ['beside context', 'llama', { context: 2, data: 4, replicate: 2, sharding: 3, ...each }],
  ['over context alone', 'llama', { context: 2, data: 2, replicate: 2, sharding: 3, ...each }],
  [
    'data outermost last',
    'llama',
    { ...stages, data: 4, replicate: 2, sharding: 2, ...each, order: ['data', 'pipeline'] },
  ],
  ['experts in every set', 'moe', { data: 4, replicate: 2, sharding: 3, ...each, expert: 2, expertTensor: 1 }],
  ['experts cut in every set', 'moe', { data: 8, replicate: 2, sharding: 1, expert: 2, expertTensor: 1 }],
  ['experts whole on every rank', 'moe', { ...sequence, data: 4, replicate: 2, sharding: 1, expertTensor: 1 }],
  [
    'experts and tensor',
    'moe',
    { ...sequence, data: 4, replicate: 2, sharding: 2, ...each, expert: 2, expertTensor: 1 },
  ],
];

const references = new Map<string, Promise<RunResult>>();
const referenceOf = (job: Job): Promise<RunResult> => {
  const known = references.get(job.name) ?? trainProgram(programOf(job), optionsOf(job));
  references.set(job.name, known);
  return known;
};

test.each(cases)(
  'sets of shards train as one rank does, with the bytes and memory of the program: %s',
  async (_, model, changes) => {
    const job = smallJob(model, { optimizer: model === 'gpt2' ? 'adamw' : 'sgd' });
    const program = programOf(job, changes);
    expect(verifyProgram(program)).toEqual([]);
    const run = await trainProgram(program, optionsOf(job));
    expect(run.stopped).toBe('done');
    expect(compareRuns(await referenceOf(job), run, boundsOf('plain')).broken).toEqual([]);
    expect(compareBytes(program, run, steps)).toEqual([]);
    expect(run.memory.flatMap(({ differs }) => differs)).toEqual([]);
  },
);

test('a set that is left out of the sum over sets is seen', async () => {
  const job = smallJob('llama', { optimizer: 'sgd' });
  const program = programOf(job, { data: 4, replicate: 2, sharding: 3, ...each });
  const lists = program.lists.map((list) => ({
    ...list,
    items: list.items
      .filter((item) => item.kind === 'call' || item.operation.why.rule !== 'sum-sets')
      .map((item, index) => ({ ...item, id: index + 1, needs: [] })),
  }));
  const broken = { ...program, lists };
  expect(verifyProgram(broken).map(({ code }) => code)).toContain('GRADIENT_NOT_SUMMED');
  const run = await trainProgram(broken, optionsOf(job));
  expect(compareRuns(await referenceOf(job), run, boundsOf('plain')).broken).not.toEqual([]);
});
