import { afterAll, describe, expect, test } from 'vitest';
import { compareBytes, createRankPool, predictedByAxis, type StepReport, trainProgram } from '../index.ts';
import { programOf, smallJob } from '../parity/layouts.fixture.ts';
import { readCorpus } from '../tokens/corpus.ts';
import { checkRunnable } from './check-runnable.ts';

const pool = createRankPool();
afterAll(() => pool.close());

const layout = { tensor: 2, pipeline: 2, data: 2, sharding: 1, sequenceParallel: true } as const;
const program = programOf(smallJob('gpt2'), layout);

describe('validation', () => {
  test('leaves the training as it is, and counts as one more period', async () => {
    const plain = await trainProgram(program, { steps: 4, pool });
    const run = await trainProgram(program, { steps: 4, pool, validateEvery: 3 });
    expect(run.losses).toEqual(plain.losses);
    expect(run.parameters).toEqual(plain.parameters);
    expect(Object.keys(run.validationLosses)).toEqual(['3', '4']);
    expect(run.periods).toBe(6);
    expect(compareBytes(program, run, 6)).toEqual([]);
    expect(run.memory.flatMap(({ differs }) => differs)).toEqual([]);
  });

  test('falls as the training does', async () => {
    const tokens = Uint8Array.from({ length: 4000 }, (_, index) => (index * 7) % 26);
    const corpus = readCorpus('sevens', tokens, 'text');
    const options = { steps: 30, pool, corpus, validateEvery: 1, initialDeviation: 0.1, learningRate: 0.02 } as const;
    const { validationLosses } = await trainProgram(program, options);
    expect(validationLosses[30]!).toBeLessThan(0.5 * validationLosses[1]!);
  });

  test('leaves dropout out', async () => {
    const job = smallJob('gpt2', { kernels: { attention: 'flash', dropout: 0.5 } });
    const sure = smallJob('gpt2');
    const options = { steps: 1, learningRate: 1e-30, validateEvery: 1, inline: true } as const;
    const dropped = await trainProgram(programOf(job), options);
    const whole = await trainProgram(programOf(sure), options);
    expect(dropped.losses).not.toEqual(whole.losses);
    expect(dropped.validationLosses[1]).toBeCloseTo(whole.validationLosses[1]!, 12);
  });
});

test('each step reports the bytes of the program, its time and its rate', async () => {
  const reports: StepReport[] = [];
  await trainProgram(program, { steps: 3, pool, validateEvery: 2, onStep: (report) => reports.push(report) });
  expect(reports.map(({ step }) => step)).toEqual([1, 2, 3]);
  for (const { bytes, seconds, tokens, learningRate } of reports) {
    expect(bytes).toEqual(predictedByAxis(program));
    expect(seconds).toBeGreaterThan(0);
    expect(tokens).toBe(64);
    expect(learningRate).toBe(1e-3);
  }
});

test('an interrupted run ends after a step that all ranks have done', async () => {
  const controller = new AbortController();
  const onStep = ({ step }: StepReport): void => {
    if (step === 3) controller.abort();
  };
  for (const place of [{ pool }, { inline: true }] as const) {
    const run = await trainProgram(program, { steps: 100_000, ...place, onStep, signal: controller.signal });
    expect(run.stopped).toBe('interrupted');
    expect(run.losses.length).toBeLessThan(1000);
    expect(compareBytes(program, run, run.periods)).toEqual([]);
    expect(Object.values(run.parameters).every(({ spread }) => spread === 0)).toBe(true);
  }
});

describe('what one machine does not run', () => {
  const codesOf = (changes: Parameters<typeof programOf>[1], memoryBytes?: number) => {
    const asked = programOf(smallJob('gpt2'), changes);
    return checkRunnable(asked, { steps: 1 }, memoryBytes).map(({ code }) => code);
  };
  test('more than 16 ranks', () => {
    expect(codesOf({ tensor: 4, pipeline: 4, data: 2 })).toEqual(['RANKS_TOO_MANY']);
    expect(codesOf({ tensor: 4, pipeline: 4 })).toEqual([]);
  });
  test('more memory than it has', () => {
    expect(codesOf({}, 1000)).toEqual(['RUN_TOO_LARGE']);
  });
});
