import type { Job } from '@meshwright/core/job';
import type { Layout } from '@meshwright/core/layout';
import { verifyProgram } from '@meshwright/core/program';
import { afterAll, describe, expect, test } from 'vitest';
import { createRankPool, type RunResult, type TrainOptions, trainProgram } from '../index.ts';
import { type ModelName, programOf, smallJob } from './layouts.fixture.ts';
import { compareBytes } from './moved-bytes.ts';
import { boundsOf, compareRuns } from './parity.ts';

const pool = createRankPool();
afterAll(() => pool.close());

const LONG = process.env['MESHWRIGHT_LONG'] !== undefined;
const steps = 3;
const rates = { sgd: 0.05, adamw: 0.002 } as const;
type Engine = 'plain' | 'wasm';
const optionsOf = (job: Job, kernels: Engine): TrainOptions => ({
  kernels,
  steps,
  seed: 11,
  initialDeviation: 0.25,
  learningRate: rates[job.optimizer],
  captureGradients: [1, 3],
  pool,
});

const references = new Map<string, Promise<RunResult>>();

function referenceOf(job: Job, kernels: Engine): Promise<RunResult> {
  const key = JSON.stringify([job.name, job.optimizer, job.kernels, kernels]);
  const known = references.get(key) ?? trainProgram(programOf(job), optionsOf(job, kernels));
  references.set(key, known);
  return known;
}

/** Same result as one rank; bytes of every axis and memory of every operation are the program's, which is sound. */
async function check(job: Job, changes: Partial<Layout>, kernels: Engine = 'plain'): Promise<void> {
  const program = programOf(job, changes);
  expect(verifyProgram(program).filter(({ severity }) => severity === 'error')).toEqual([]);
  const reference = await referenceOf(job, kernels);
  const run = await trainProgram(program, optionsOf(job, kernels));
  expect(compareRuns(reference, run, boundsOf(kernels)).broken).toEqual([]);
  expect(compareBytes(program, run, steps)).toEqual([]);
  expect(run.memory.flatMap(({ differs }) => differs)).toEqual([]);
}

const kinds = ['ring', 'all-to-all', 'all-gather'] as const;

describe.each(kinds)('context ranks train as one rank does: %s', (contextKind) => {
  const on = (changes: Partial<Layout>): Partial<Layout> => ({ context: 2, contextKind, ...changes });
  const cases: readonly (readonly [name: string, changes: Partial<Layout>])[] = [
    ['2 ranks', {}],
    ['beside data, gradients reduced over both', { data: 2 }],
    ['ZeRO-1 over data x context', { data: 2, sharding: 1 }],
    ['ZeRO-3 over data x context', { data: 2, sharding: 3 }],
    ['ZeRO-2 over context alone', { sharding: 2 }],
    ['tensor', { tensor: 2 }],
    ['tensor and sequence', { tensor: 2, sequenceParallel: true }],
    ['tensor and sequence, gathered inputs kept', { tensor: 2, sequenceParallel: true, keepGathered: true }],
    ['pipeline, full recomputation', { pipeline: 2, recompute: 'full' }],
    ['2 x 2 x 2 x 2', { tensor: 2, data: 2, pipeline: 2, sharding: 1, sequenceParallel: true }],
    ['context slower than data in rank', { data: 2, sharding: 2, order: ['data', 'context', 'tensor', 'pipeline'] }],
  ];
  test.each(cases)('GPT-2 kind by SGD: %s', (_name, changes) =>
    check(smallJob('gpt2', { optimizer: 'sgd' }), on(changes)),
  );
  // Two key heads: a tensor rank of two has one, which no two ranks can take turns with.
  const [few] = contextKind === 'all-to-all' ? [cases.filter(([, { tensor }]) => tensor === undefined)] : [cases];
  const turned = few.filter((_, index) => index % 3 === kinds.indexOf(contextKind));
  test.each(turned)('grouped queries by AdamW: %s', (_name, changes) => check(smallJob('llama'), on(changes)));
  test('experts by SGD', () => check(smallJob('moe', { optimizer: 'sgd' }), on({ data: 2, sharding: 3 })));
  test('dropout draws the same elements', () =>
    check(smallJob('gpt2', { optimizer: 'sgd', kernels: { attention: 'flash', dropout: 0.2 } }), on({ tensor: 2 })));
  test('fast kernels', () => check(smallJob('llama'), on({ data: 2, sharding: 3 }), 'wasm'));
});

describe('more context ranks', () => {
  test.each(['ring', 'all-gather'] as const)('4 ranks with fewer keys than ranks: %s', (contextKind) =>
    check(smallJob('llama'), { context: 4, contextKind }),
  );
  test('4 ranks swap the heads of a GPT-2 kind', () =>
    check(smallJob('gpt2', { optimizer: 'sgd' }), { context: 4, contextKind: 'all-to-all', sharding: 1 }));
  test.each(['gpt2', 'llama'] as const)('heads inside, a ring outside: %s', (model) =>
    check(smallJob(model), { context: 4, contextKind: 'hybrid', data: 2, sharding: 3 }),
  );
  test('heads inside, a ring outside, beside tensor', () =>
    check(smallJob('gpt2'), { tensor: 2, context: 4, contextKind: 'hybrid', sequenceParallel: false }));
  const shapes: readonly ModelName[] = [
    'norms on queries and keys',
    'side by side with one norm, biases',
    'capped scores and logits',
    'a window',
  ];
  const pairs = shapes.flatMap((shape, row) => kinds.map((kind, column) => [shape, kind, row + column] as const));
  test.each(pairs.filter(([, , turn]) => LONG || turn % 2 === 0))('%s: %s', (shape, contextKind) =>
    check(smallJob(shape, { optimizer: 'sgd' }), { context: 2, contextKind, data: 2 }),
  );
});
