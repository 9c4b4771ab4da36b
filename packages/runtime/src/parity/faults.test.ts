import { type Fault, faults, plantFault } from '@meshwright/core/program';
import { afterAll, expect, test } from 'vitest';
import { createRankPool, type TrainOptions, trainProgram } from '../index.ts';
import { programOf, smallJob } from './layouts.fixture.ts';
import { compareRuns } from './parity.ts';

const pool = createRankPool();
afterAll(() => pool.close());

const job = smallJob('gpt2', { optimizer: 'sgd' });
const options: TrainOptions = { steps: 3, initialDeviation: 0.25, learningRate: 0.05, captureGradients: [1, 3], pool };
const sound = programOf(job, { tensor: 2, pipeline: 2, data: 2, sharding: 1, sequenceParallel: true });

/** What each fault must show in, at least. */
const shows: Readonly<Record<Fault, 'gradient' | 'norm' | 'loss'>> = {
  'norm-gradients-not-summed': 'gradient',
  'tied-counted-twice': 'norm',
  'tied-not-summed': 'gradient',
  'mean-over-data': 'gradient',
  'stale-weights': 'loss',
  'bias-before-sum': 'loss',
};

test.each(faults)('a run with the fault %s does not pass for the run of one rank', async (fault) => {
  const reference = await trainProgram(programOf(job), options);
  const report = compareRuns(reference, await trainProgram(plantFault(sound, fault), options));
  expect(report.holds).toBe(false);
  expect(report.broken.map(({ what }) => what)).toContain(shows[fault]);
});
