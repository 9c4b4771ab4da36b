import type { Layout } from '@meshwright/core/layout';
import { describe, expect, test } from 'vitest';
import { type TrainOptions, trainProgram } from '../index.ts';
import { families } from './families.fixture.ts';
import { type ModelName, programOf, smallJob } from './layouts.fixture.ts';
import { compareBytes } from './moved-bytes.ts';

const steps = 3;
const options: TrainOptions = { steps, seed: 11, initialDeviation: 0.25, learningRate: 0.05, inline: true };

const layouts: readonly Partial<Layout>[] = [
  { tensor: 2, pipeline: 2, data: 2, sharding: 1, sequenceParallel: true },
  { tensor: 2, data: 2, sharding: 3, recompute: 'selective' },
  { tensor: 2, sequenceParallel: true, recompute: 'full' },
];
/** One norm over all heads is not split. */
const withoutTensor: readonly Partial<Layout>[] = [
  { pipeline: 2, data: 2, sharding: 1 },
  { data: 2, sharding: 3, recompute: 'full' },
];
const away = (value: number | undefined, from: number | undefined): number => Math.abs((value ?? 0) / (from ?? 1) - 1);

/** In double precision, so that no rounding of fp32 hides a missing or doubled part. */
describe('blocks of other families: N ranks train as one rank does and move the bytes of the program', () => {
  test.each(Object.keys(families) as ModelName[])('%s', async (name) => {
    const job = smallJob(name, { optimizer: 'sgd' });
    const one = await trainProgram(programOf(job), { ...options, arithmetic: 'float64' });
    const [first, ...others] = (name.endsWith('over all heads') ? withoutTensor : layouts).map((changes) =>
      programOf(job, changes),
    );
    if (!first) throw new Error('no layout');
    for (const program of [first, ...others]) {
      const many = await trainProgram(program, { ...options, arithmetic: 'float64' });
      for (let step = 0; step < steps; step++) {
        expect(away(many.losses[step], one.losses[step])).toBeLessThan(1e-12);
        expect(away(many.gradientNorms[step], one.gradientNorms[step])).toBeLessThan(1e-11);
      }
      expect(compareBytes(program, many, steps)).toEqual([]);
    }
    const single = await trainProgram(first, options);
    expect(compareBytes(first, single, steps)).toEqual([]);
    expect(single.memory.flatMap(({ differs }) => differs)).toEqual([]);
  });
});
