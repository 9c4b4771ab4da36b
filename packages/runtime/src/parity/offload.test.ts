import type { Job } from '@meshwright/core/job';
import type { Layout } from '@meshwright/core/layout';
import { verifyProgram } from '@meshwright/core/program';
import { expect, test } from 'vitest';
import { type TrainOptions, trainProgram } from '../index.ts';
import { type ModelName, programOf, smallJob } from './layouts.fixture.ts';
import { compareBytes } from './moved-bytes.ts';
import { boundsOf, compareRuns } from './parity.ts';

const steps = 3;
const optionsOf = (job: Job, kernels: NonNullable<TrainOptions['kernels']>): TrainOptions => ({
  steps,
  seed: 11,
  initialDeviation: 0.25,
  captureGradients: [1, 3],
  inline: true,
  learningRate: job.optimizer === 'sgd' ? 0.05 : 0.002,
  kernels,
});

type Case = readonly [name: string, model: ModelName, optimizer: Job['optimizer'], changes: Partial<Layout>];

const cases: readonly Case[] = [
  ['alone', 'gpt2', 'adamw', {}],
  ['DDP', 'llama', 'sgd', { data: 2 }],
  ['ZeRO-1 beside tensor', 'llama', 'sgd', { tensor: 2, sequenceParallel: true, data: 2, sharding: 1 }],
  ['ZeRO-2 in a pipeline, tied ends', 'gpt2', 'adamw', { pipeline: 2, data: 2, sharding: 2 }],
  ['ZeRO-3', 'gpt2', 'adamw', { data: 2, sharding: 3, gradientReduction: 'per-micro-batch' }],
  ['ZeRO-3 in sets of shards', 'llama', 'sgd', { data: 4, replicate: 2, sharding: 3 }],
  ['experts', 'moe', 'sgd', { data: 4, sharding: 1, expert: 2, expertTensor: 1 }],
];

test.each(cases)(
  'state that the host updates trains as on one device, in the bytes of the program: %s',
  async (_, model, optimizer, changes) => {
    const job = smallJob(model, { optimizer });
    const program = programOf(job, { ...changes, offload: 'optimizer' });
    expect(verifyProgram(program)).toEqual([]);
    const run = await trainProgram(program, optionsOf(job, 'plain'));
    expect(run.stopped).toBe('done');
    const reference = await trainProgram(programOf(job), optionsOf(job, 'plain'));
    expect(compareRuns(reference, run, boundsOf('plain')).broken).toEqual([]);
    expect(compareBytes(program, run, steps)).toEqual([]);
    expect(run.memory.flatMap(({ differs }) => differs)).toEqual([]);
    expect(run.memory.map(({ hostBytes }) => hostBytes)).toEqual(
      run.memory.map(({ predictedHostBytes }) => predictedHostBytes),
    );
    expect(Math.min(...run.memory.map(({ hostBytes }) => hostBytes))).toBeGreaterThan(0);
  },
);

test('the fast kernels leave the host its own memory', async () => {
  const job = smallJob('llama', { optimizer: 'adamw' });
  const layout = { data: 2, sharding: 1 } as const;
  const [here, there] = await Promise.all(
    (['none', 'optimizer'] as const).map((offload) =>
      trainProgram(programOf(job, { ...layout, offload }), optionsOf(job, 'wasm')),
    ),
  );
  expect(here && there && compareRuns(here, there, boundsOf('wasm')).broken).toEqual([]);
  const most = (run: typeof here): number =>
    Math.max(...(run?.memory.map(({ highWaterBytes }) => highWaterBytes) ?? []));
  expect(most(there)).toBeLessThan(most(here));
});

/** Weights in bf16, masters and moments in float32 in host memory. */
const mixedCases: readonly Case[] = [
  ['alone', 'gpt2', 'adamw', {}],
  ['DDP, gradients in bf16', 'llama', 'adamw', { data: 2, gradientType: 'bf16' }],
  ['ZeRO-1 in a pipeline, tied ends', 'gpt2', 'adamw', { pipeline: 2, data: 2, sharding: 1 }],
  [
    'ZeRO-3 beside tensor, gradients in bf16',
    'llama',
    'sgd',
    { tensor: 2, data: 2, sharding: 3, gradientType: 'bf16' },
  ],
  ['experts', 'moe', 'adamw', { data: 4, sharding: 1, expert: 2, expertTensor: 1 }],
];

test.each(mixedCases)(
  'masters that the host updates give bf16 weights the bits that the device gives them: %s',
  async (_, model, optimizer, changes) => {
    const job = smallJob(model, { optimizer, precision: 'bf16' });
    const program = programOf(job, { ...changes, offload: 'optimizer' });
    expect(verifyProgram(program)).toEqual([]);
    const options = optionsOf(job, 'plain');
    const [there, here] = [await trainProgram(program, options), await trainProgram(programOf(job, changes), options)];
    expect(there.stopped).toBe('done');
    for (const of of ['losses', 'gradientNorms', 'gradients', 'parameters'] as const)
      expect(there[of]).toEqual(here[of]);
    expect(compareBytes(program, there, steps)).toEqual([]);
    expect(there.memory.flatMap(({ differs }) => differs)).toEqual([]);
    expect(there.memory.map(({ hostBytes }) => hostBytes)).toEqual(
      there.memory.map(({ predictedHostBytes }) => predictedHostBytes),
    );
    const one = await trainProgram(programOf(job), options);
    for (const [step, loss] of there.losses.entries()) {
      // The precision of bf16.
      expect(Math.abs(loss / one.losses[step]! - 1)).toBeLessThan(0.01);
    }
  },
);
