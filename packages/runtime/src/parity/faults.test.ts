import { type Fault, faults, plantFault, verifyProgram } from '@meshwright/core/program';
import { afterAll, expect, test } from 'vitest';
import { createRankPool, type TrainOptions, trainProgram } from '../index.ts';
import { moreFaults } from './faults.fixture.ts';
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

const refused = (program: typeof sound): boolean => verifyProgram(program).some(({ severity }) => severity === 'error');

test('a sound program is refused by nobody', async () => {
  expect(refused(sound)).toBe(false);
  const reference = await trainProgram(programOf(job), options);
  expect(compareRuns(reference, await trainProgram(sound, options)).broken).toEqual([]);
});

test('there are 25 faults', () => {
  expect(faults.length + Object.keys(moreFaults).length).toBe(25);
});

test.each(Object.entries(moreFaults))(
  'so it is with the fault: %s',
  async (_name, { plant, shows: wanted, verifier }) => {
    const planted = plant(sound);
    expect(refused(planted)).toBe(verifier === 'refuses');
    const reference = await trainProgram(programOf(job), options);
    const report = compareRuns(reference, await trainProgram(planted, options));
    expect(report.holds).toBe(false);
    expect(report.broken.map(({ what }) => what)).toContain(wanted);
  },
);
