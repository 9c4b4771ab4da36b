import type { Job } from '@meshwright/core/job';
import type { Layout } from '@meshwright/core/layout';
import { afterAll, describe, expect, test } from 'vitest';
import { createRankPool, type RunResult, type TrainOptions, trainProgram } from '../index.ts';
import { programOf, smallJob } from './layouts.fixture.ts';
import { compareBytes } from './moved-bytes.ts';
import { compareRuns } from './parity.ts';

const pool = createRankPool();
afterAll(() => pool.close());

const steps = 5;
const options: TrainOptions = { steps, seed: 11, initialDeviation: 0.25, captureGradients: [1, 3], pool };
const rates = { sgd: 0.05, adamw: 0.002 } as const;

const references = new Map<string, Promise<RunResult>>();

/** The unsharded run with gradient accumulation, once for each job. */
function referenceOf(job: Job): Promise<RunResult> {
  const key = `${job.name} ${job.optimizer}`;
  const known = references.get(key) ?? trainProgram(programOf(job), { ...options, learningRate: rates[job.optimizer] });
  references.set(key, known);
  return known;
}

type Case = readonly [name: string, changes: Partial<Layout>];

const dense: readonly Case[] = [
  ['DDP', { data: 2 }],
  ['DDP in small buckets, micro-batches of 2', { data: 4, bucketMB: 0.01, microBatch: 2 }],
  ['ZeRO-1', { data: 4, sharding: 1 }],
  ['ZeRO-2', { data: 2, sharding: 2 }],
  ['ZeRO-2 reduced once a step', { data: 4, sharding: 2, gradientReduction: 'per-step' }],
  ['ZeRO-3', { data: 2, sharding: 3 }],
  ['ZeRO-3 without prefetch', { data: 4, sharding: 3, prefetch: 0 }],
  ['tensor', { tensor: 2 }],
  ['tensor and sequence', { tensor: 2, sequenceParallel: true }],
  ['tensor and sequence, gathered inputs kept', { tensor: 2, sequenceParallel: true, keepGathered: true }],
  ['GPipe', { pipeline: 2, schedule: 'gpipe' }],
  ['1F1B over 4 stages', { pipeline: 4 }],
  ['interleaved 1F1B', { pipeline: 2, chunks: 2 }],
  ['uneven stages', { pipeline: 2, layersPerStage: [3, 1] }],
  ['one stage at a time', { pipeline: 2, schedule: 'naive' }],
  ['full recomputation', { data: 2, recompute: 'full' }],
  ['full recomputation with tensor and sequence', { tensor: 2, sequenceParallel: true, recompute: 'full' }],
  ['2 x 2 x 2 with ZeRO-1', { tensor: 2, pipeline: 2, data: 2, sharding: 1, sequenceParallel: true }],
  ['2 x 2 x 2 with DDP', { tensor: 2, pipeline: 2, data: 2 }],
  ['tensor 2 with ZeRO-3', { tensor: 2, data: 2, sharding: 3, sequenceParallel: true }],
  ['pipeline 2 with ZeRO-2', { pipeline: 2, data: 2, sharding: 2 }],
  ['interleaved with ZeRO-3', { pipeline: 2, chunks: 2, data: 2, sharding: 3 }],
  ['tensor 2 with ZeRO-2, pipeline 2', { tensor: 2, pipeline: 2, data: 2, sharding: 2, sequenceParallel: true }],
  ['pipeline fastest in rank', { tensor: 2, pipeline: 2, order: ['pipeline', 'data', 'tensor'] }],
];

async function check(job: Job, changes: Partial<Layout>): Promise<void> {
  const program = programOf(job, changes);
  const reference = await referenceOf(job);
  const run = await trainProgram(program, { ...options, learningRate: rates[job.optimizer] });
  const report = compareRuns(reference, run);
  expect(report.broken).toEqual([]);
  expect(Math.min(...run.gradientNorms.map((norm) => norm ?? 0))).toBeGreaterThan(1);
  expect(compareBytes(program, run, steps)).toEqual([]);
  expect(run.memory.flatMap(({ differs }) => differs)).toEqual([]);
}

describe.each(['gpt2', 'llama'] as const)(
  'N ranks train %s as one rank does, and move the bytes of the program',
  (model) => {
    test.each(dense)('%s', async (_name, changes) => {
      await check(smallJob(model, { optimizer: 'sgd' }), changes);
    });
  },
);
