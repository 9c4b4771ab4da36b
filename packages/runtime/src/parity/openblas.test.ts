import type { Layout } from '@meshwright/core/layout';
import { afterAll, describe, expect, test } from 'vitest';
import { createRankPool, findOpenBlas, type TrainOptions, trainProgram } from '../index.ts';
import { type ModelName, programOf, smallJob } from './layouts.fixture.ts';
import { compareBytes } from './moved-bytes.ts';
import { boundsOf, compareRuns } from './parity.ts';

const pool = createRankPool();
afterAll(() => pool.close());

const steps = 3;
const optionsOf = (kernels: 'openblas' | 'plain'): TrainOptions => ({
  kernels,
  steps,
  seed: 11,
  initialDeviation: 0.25,
  learningRate: 0.05,
  captureGradients: [1, 3],
  pool,
});

const cases: readonly (readonly [model: ModelName, name: string, changes: Partial<Layout>])[] = [
  ['gpt2', 'DDP', { data: 2 }],
  ['gpt2', '2 x 2 x 2 with ZeRO-1', { tensor: 2, pipeline: 2, data: 2, sharding: 1, sequenceParallel: true }],
  ['llama', 'tensor 2 with ZeRO-3', { tensor: 2, data: 2, sharding: 3, sequenceParallel: true }],
  ['llama', 'a ring of context ranks', { context: 2, contextKind: 'ring', data: 2 }],
  ['moe', '2 expert ranks', { data: 2, expert: 2, expertTensor: 1 }],
];

const there = findOpenBlas().kind === 'found';

describe.skipIf(!there)('with OpenBLAS, skipped where it is not there', () => {
  test.each(cases)('N ranks train as one rank does and as plain kernels do, %s: %s', async (model, _name, changes) => {
    const job = smallJob(model, { optimizer: 'sgd' });
    const program = programOf(job, changes);
    const run = await trainProgram(program, optionsOf('openblas'));
    const one = await trainProgram(programOf(job), optionsOf('openblas'));
    const plain = await trainProgram(programOf(job), optionsOf('plain'));
    expect(compareRuns(one, run, boundsOf('openblas')).broken).toEqual([]);
    expect(compareRuns(plain, run, boundsOf('openblas')).broken).toEqual([]);
    expect(compareBytes(program, run, steps)).toEqual([]);
    expect(run.memory.flatMap(({ differs }) => differs)).toEqual([]);
  });
});
