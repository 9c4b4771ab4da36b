import { compileProgram } from '@meshwright/core/compile';
import { expect, test } from 'vitest';
import { type RunResult, type TrainOptions, trainProgram } from '../index.ts';
import { type DrawnLayout, drawLayouts, pairsIn, strategyNames } from './generate.fixture.ts';
import { programOf } from './layouts.fixture.ts';
import { compareBytes } from './moved-bytes.ts';
import { compareRuns, defaultBounds, type ParityBounds } from './parity.ts';

/** All of them by `npm run test:layouts`, the first ones otherwise. */
const LAYOUTS = process.env['MESHWRIGHT_LAYOUTS'] ? 200 : 40;
const SEEDS = 2000;

const steps = 5;
const rates = { sgd: 0.05, adamw: 0.002 } as const;
const optionsOf = ({ job, arithmetic }: DrawnLayout): TrainOptions => ({
  kernels: 'plain',
  arithmetic,
  steps,
  seed: 11,
  initialDeviation: 0.25,
  learningRate: rates[job.optimizer],
  captureGradients: [1, 3],
  inline: true,
});

const boundsIn: Readonly<Record<DrawnLayout['arithmetic'], ParityBounds>> = {
  float32: defaultBounds,
  float64: { gradient: 1e-9, loss: 1e-11, norm: 1e-11, parameter: 1e-9, vanishing: 1e-6 },
};

const references = new Map<string, Promise<RunResult>>();

function referenceOf(drawn: DrawnLayout): Promise<RunResult> {
  const { job } = drawn;
  const key = `${job.name} ${job.optimizer}`;
  const known = references.get(key) ?? trainProgram(programOf(job), optionsOf(drawn));
  references.set(key, known);
  return known;
}

const drawn = drawLayouts(SEEDS);

test('the layouts that are drawn hold every pair of strategies that is ever drawn, in the first ones already', () => {
  expect(drawn.length).toBeGreaterThanOrEqual(200);
  expect(pairsIn(drawn.slice(0, 200))).toEqual(pairsIn(drawn));
  for (const name of strategyNames) expect(pairsIn(drawn.slice(0, 40))).toContain(`${name} + ${name}`);
});

test.each(drawn.slice(0, LAYOUTS).map((each) => [each.name, each] as const))(
  "N ranks train as one rank does, bytes and memory are the program's: %s",
  async (_name, drawn) => {
    const { job, layout, arithmetic } = drawn;
    const program = compileProgram(job, layout);
    const reference = await referenceOf(drawn);
    const run = await trainProgram(program, optionsOf(drawn));
    expect(compareRuns(reference, run, boundsIn[arithmetic]).broken).toEqual([]);
    expect(Math.min(...run.gradientNorms.map((norm) => norm ?? 0))).toBeGreaterThan(1);
    expect(compareBytes(program, run, steps)).toEqual([]);
    expect(run.memory.flatMap(({ differs }) => differs)).toEqual([]);
  },
);
