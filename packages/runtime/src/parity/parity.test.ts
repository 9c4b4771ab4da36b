import type { Job } from '@meshwright/core/job';
import type { Layout } from '@meshwright/core/layout';
import { afterAll, describe, expect, test } from 'vitest';
import { createRankPool, type RunResult, type TrainOptions, trainProgram } from '../index.ts';
import { programOf, smallJob } from './layouts.fixture.ts';
import { compareBytes } from './moved-bytes.ts';
import { boundsOf, compareRuns } from './parity.ts';

const pool = createRankPool();
afterAll(() => pool.close());

const LONG = process.env['MESHWRIGHT_LONG'] !== undefined;
const steps = 5;
const rates = { sgd: 0.05, adamw: 0.002 } as const;
const engines = ['plain', 'wasm'] as const;
type Engine = (typeof engines)[number];
const optionsOf = (job: Job, kernels: Engine = 'plain'): TrainOptions => ({
  kernels,
  steps,
  seed: 11,
  initialDeviation: 0.25,
  learningRate: rates[job.optimizer],
  captureGradients: [1, 3],
  pool,
});

const references = new Map<string, Promise<RunResult>>();

/** The unsharded run with gradient accumulation, once for each job. */
function referenceOf(job: Job, kernels: Engine): Promise<RunResult> {
  const key = JSON.stringify([job.name, job.optimizer, job.kernels, kernels]);
  const known = references.get(key) ?? trainProgram(programOf(job), optionsOf(job, kernels));
  references.set(key, known);
  return known;
}

/** Same result as one rank, under a clip that binds; bytes and memory are the program's. */
async function check(job: Job, changes: Partial<Layout>, kernels: Engine): Promise<void> {
  const program = programOf(job, changes);
  const reference = await referenceOf(job, kernels);
  const run = await trainProgram(program, optionsOf(job, kernels));
  expect(compareRuns(reference, run, boundsOf(kernels)).broken).toEqual([]);
  expect(Math.min(...run.gradientNorms.map((norm) => norm ?? 0))).toBeGreaterThan(1);
  expect(compareBytes(program, run, steps)).toEqual([]);
  expect(run.memory.flatMap(({ differs }) => differs)).toEqual([]);
}

type Case = readonly [name: string, changes: Partial<Layout>];

const zeroBubble = { pipeline: 2, schedule: 'zero-bubble-h1' } as const;
const folded = { pipeline: 2, chunks: 2 } as const;
const sequence = { tensor: 2, sequenceParallel: true } as const;
const firsts: Layout['layers'] = [
  { from: 0, to: 0, recompute: 'full' },
  { from: 2, to: 2, recompute: 'full' },
];

const dense: readonly Case[] = [
  ['DDP', { data: 2 }],
  ['DDP in small buckets, micro-batches of 2', { data: 4, bucketMB: 0.01, microBatch: 2 }],
  ['ZeRO-1', { data: 4, sharding: 1 }],
  ['ZeRO-2', { data: 2, sharding: 2 }],
  ['ZeRO-2 reduced once a step', { data: 4, sharding: 2, gradientReduction: 'per-step' }],
  ['ZeRO-3', { data: 2, sharding: 3 }],
  ['ZeRO-3 without prefetch', { data: 4, sharding: 3, prefetch: 0 }],
  ['ZeRO-3 with kept weights', { data: 4, sharding: 3, reshard: false }],
  ['a loss in pieces', { tensor: 2, data: 2, lossChunks: 4, sequenceParallel: true }],
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
  ['two of four layers recomputed', { data: 2, layers: [{ from: 1, to: 2, recompute: 'full' }] }],
  [
    '2 x 2 x 2, the first layer of each stage recomputed',
    { ...sequence, pipeline: 2, data: 2, sharding: 3, layers: firsts },
  ],
  ['ZB-H1, the first layer of each stage recomputed', { ...zeroBubble, layers: firsts }],
  ['2 x 2 x 2 with ZeRO-1', { tensor: 2, pipeline: 2, data: 2, sharding: 1, sequenceParallel: true }],
  ['2 x 2 x 2 with DDP', { tensor: 2, pipeline: 2, data: 2 }],
  ['tensor 2 with ZeRO-3', { tensor: 2, data: 2, sharding: 3, sequenceParallel: true }],
  ['pipeline 2 with ZeRO-2', { pipeline: 2, data: 2, sharding: 2 }],
  ['interleaved with ZeRO-3', { pipeline: 2, chunks: 2, data: 2, sharding: 3 }],
  ['2 x 2 x 2 with ZeRO-2', { tensor: 2, pipeline: 2, data: 2, sharding: 2, sequenceParallel: true }],
  ['ZB-H1 over 4 stages', { pipeline: 4, schedule: 'zero-bubble-h1' }],
  ['ZB-H1 with a loss in pieces, recomputed', { ...zeroBubble, lossChunks: 2, recompute: 'full' }],
  ['ZB-H2 with sequence and ZeRO-2', { ...zeroBubble, schedule: 'zero-bubble-h2', ...sequence, data: 2, sharding: 2 }],
  ['ZB-V', { ...folded, schedule: 'zero-bubble-v' }],
  ['ZB-V with sequence', { ...folded, schedule: 'zero-bubble-v', ...sequence }],
  ['ZB-V with ZeRO-3', { ...folded, schedule: 'zero-bubble-v', data: 2, sharding: 3 }],
  ['DualPipeV', { ...folded, schedule: 'dualpipe-v' }],
  ['DualPipeV with ZeRO-1', { ...folded, schedule: 'dualpipe-v', data: 2, sharding: 1 }],
  ['DualPipe', { pipeline: 2, schedule: 'dualpipe' }],
  ['DualPipe over 4 stages', { pipeline: 4, schedule: 'dualpipe' }],
  ['DualPipe with tensor and sequence', { pipeline: 2, schedule: 'dualpipe', ...sequence }],
  ['DualPipe with ZeRO-2', { pipeline: 2, schedule: 'dualpipe', data: 2, sharding: 2 }],
  [
    'DualPipe with ZeRO-3 and kept weights',
    { pipeline: 2, schedule: 'dualpipe', data: 2, sharding: 3, reshard: false },
  ],
  ['2 x 2 x 2 with ZB-H1', { ...zeroBubble, ...sequence, data: 2, sharding: 1 }],
  ['pipeline fastest in rank', { tensor: 2, pipeline: 2, order: ['pipeline', 'data', 'tensor'] }],
];

describe.each(engines)('N ranks train as one rank does and move the bytes of the program, %s kernels', (kernels) => {
  /** Every layout by both engines and for both kinds of model: the engines take turns, or both do all in a long run. */
  const turn = (first: Engine) => dense.filter((_, index) => LONG || (index % 2 === 0) === (kernels === first));
  test.each(turn('plain'))('GPT-2 kind by SGD: %s', (_name, changes) =>
    check(smallJob('gpt2', { optimizer: 'sgd' }), changes, kernels),
  );
  test.each(turn('wasm'))('Llama kind by AdamW: %s', (_name, changes) => check(smallJob('llama'), changes, kernels));

  const mixed = dense.filter(([name]) => name.startsWith('2 x 2 x 2'));
  test.each(mixed)('GPT-2 kind by AdamW: %s', (_name, changes) => check(smallJob('gpt2'), changes, kernels));
  test.each(mixed)('experts by SGD: %s', (_name, changes) =>
    check(smallJob('moe', { optimizer: 'sgd' }), changes, kernels),
  );

  test('experts by SGD: ZeRO-3', () => check(smallJob('moe', { optimizer: 'sgd' }), { data: 4, sharding: 3 }, kernels));

  test('a vocabulary that tensor does not divide is padded and the padding takes no part', () =>
    check(smallJob('gpt2', { optimizer: 'sgd' }), { tensor: 4, sequenceParallel: true }, kernels));

  test.each(mixed)('unfused attention with dropout: %s', (_name, changes) => {
    const job = smallJob('gpt2', { optimizer: 'sgd', kernels: { attention: 'unfused', dropout: 0.2 } });
    return check(job, { ...changes, recompute: 'selective' }, kernels);
  });
});

describe('bit for bit', () => {
  const job = smallJob('llama');
  const gradientsOf = async (changes: Partial<Layout>) =>
    (await trainProgram(programOf(job, changes), { ...optionsOf(job), steps: 1, captureGradients: [1] })).gradients[1];

  test('a layout repeats itself', async () => {
    const program = programOf(job, { tensor: 2, pipeline: 2, data: 2, sharding: 1, sequenceParallel: true });
    const [first, second] = [await trainProgram(program, optionsOf(job)), await trainProgram(program, optionsOf(job))];
    expect(second.losses).toEqual(first.losses);
    expect(second.gradientNorms).toEqual(first.gradientNorms);
    expect(second.parameters).toEqual(first.parameters);
  });

  test('all ranks in one thread give what threads give', async () => {
    const program = programOf(job, { tensor: 2, data: 2, sharding: 3 });
    const inline = await trainProgram(program, { ...optionsOf(job), inline: true });
    expect(inline.parameters).toEqual((await trainProgram(program, optionsOf(job))).parameters);
  });

  test('ZeRO-1 sums gradients as DDP does', async () => {
    expect(await gradientsOf({ data: 4, sharding: 1 })).toEqual(await gradientsOf({ data: 4 }));
  });

  test('a pipeline without tied weights has the gradients of one rank', async () => {
    expect(await gradientsOf({ pipeline: 4 })).toEqual(await gradientsOf({}));
  });

  test('a backward in two parts has the gradients of one in one', async () => {
    const whole = await gradientsOf({});
    expect(await gradientsOf({ pipeline: 4, schedule: 'zero-bubble-h1' })).toEqual(whole);
    expect(await gradientsOf({ pipeline: 2, chunks: 2, schedule: 'zero-bubble-v' })).toEqual(whole);
  });
});

describe('the two engines', () => {
  test.each(['gpt2', 'llama'] as const)('train a model of kind %s alike', async (model) => {
    const job = smallJob(model, { optimizer: 'sgd' });
    const report = compareRuns(await referenceOf(job, 'plain'), await referenceOf(job, 'wasm'));
    expect(report.broken).toEqual([]);
  });

  test('the fast one holds little more than the program says', async () => {
    const program = programOf(smallJob('llama'), {
      tensor: 2,
      pipeline: 2,
      data: 2,
      sharding: 3,
      sequenceParallel: true,
    });
    const run = await trainProgram(program, optionsOf(smallJob('llama'), 'wasm'));
    for (const { highWaterBytes, predictedPeakBytes } of run.memory) {
      expect(highWaterBytes).toBeGreaterThan(0.9 * predictedPeakBytes);
      expect(highWaterBytes).toBeLessThan(1.1 * predictedPeakBytes + 2 ** 14);
    }
  });
});
