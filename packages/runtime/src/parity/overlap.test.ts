import type { Layout } from '@meshwright/core/layout';
import { verifyProgram } from '@meshwright/core/program';
import { expect, test } from 'vitest';
import { type TrainOptions, trainProgram } from '../index.ts';
import { type ModelName, programOf, smallJob } from './layouts.fixture.ts';
import { compareBytes } from './moved-bytes.ts';

const options: TrainOptions = {
  steps: 3,
  seed: 11,
  initialDeviation: 0.25,
  captureGradients: [1, 3],
  inline: true,
  learningRate: 0.002,
  kernels: 'plain',
};
const each = { gradientReduction: 'per-micro-batch' } as const;
const stages = { pipeline: 2 } as const;

const cases: readonly (readonly [name: string, model: ModelName, changes: Partial<Layout>])[] = [
  ['DDP in buckets', 'gpt2', { data: 4, sharding: 0, bucketMB: 0.01 }],
  ['ZeRO-1', 'llama', { data: 4, sharding: 1 }],
  ['ZeRO-2', 'gpt2', { data: 2, sharding: 2, ...each }],
  ['ZeRO-3', 'llama', { data: 4, sharding: 3, ...each }],
  ['ZeRO-1 in a pipeline, tied ends', 'gpt2', { ...stages, data: 2, sharding: 1 }],
  [
    'ZeRO-2 with backward in two parts',
    'gpt2',
    { ...stages, schedule: 'zero-bubble-h1', data: 2, sharding: 2, ...each },
  ],
  ['sets of shards', 'llama', { data: 4, replicate: 2, sharding: 2, ...each }],
  ['experts over a grid of their own', 'moe', { data: 4, sharding: 1, expert: 2, expertTensor: 1 }],
];

test.each(cases)(
  'exchanges that hold up compute train to the same bits as beside it: %s',
  async (_, model, changes) => {
    const job = smallJob(model);
    const beside = programOf(job, changes);
    const held = programOf(job, { ...changes, overlap: ['pipeline'] });
    expect(held).not.toEqual(beside);
    expect(verifyProgram(held)).toEqual([]);
    const [one, other] = [await trainProgram(beside, options), await trainProgram(held, options)];
    expect([one.stopped, other.stopped]).toEqual(['done', 'done']);
    expect([other.losses, other.gradientNorms]).toEqual([one.losses, one.gradientNorms]);
    expect(compareBytes(held, other, options.steps)).toEqual([]);
    expect(other.memory.flatMap(({ differs }) => differs)).toEqual([]);
  },
);
