import { compileProgram } from '@meshwright/core/compile';
import { verifyProgram } from '@meshwright/core/program';
import { expect, test } from 'vitest';
import { type RunResult, type TrainOptions, trainProgram } from '../index.ts';
import { type DrawnLayout, drawLayouts, legalPairs, pairsIn, pairTable } from './generate.fixture.ts';
import { programOf } from './layouts.fixture.ts';
import { compareBytes } from './moved-bytes.ts';
import { compareRuns, defaultBounds, type ParityBounds } from './parity.ts';
import { runningSchedules } from './strategies.fixture.ts';

/** 200 by `npm run test:layouts`, which prints how often each pair of strategies is there; the first 40 otherwise. */
const LONG = process.env['MESHWRIGHT_LAYOUTS'] !== undefined;
const FEWEST = 40;
const LAYOUTS = LONG ? 200 : FEWEST;
const SEEDS = 40_000;

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
  const { about, job } = drawn;
  const layersPerStage = [job.model.layers.length];
  const known = references.get(about) ?? trainProgram(programOf(job, { layersPerStage }), optionsOf(drawn));
  references.set(about, known);
  return known;
}

const drawn = drawLayouts(SEEDS);

test('every strategy and every pair that can stand together is in the first layouts already', () => {
  expect(drawn.length).toBeGreaterThanOrEqual(200);
  expect([...pairsIn(drawn.slice(0, FEWEST))].sort()).toEqual([...legalPairs()].sort());
  const schedules = new Set(drawn.slice(0, LAYOUTS).map(({ layout }) => layout.schedule));
  expect([...schedules].sort()).toEqual([...runningSchedules].sort());
  if (LONG) console.log(`Layouts of ${LAYOUTS} that hold each pair:\n${pairTable(drawn.slice(0, LAYOUTS))}`);
});

test.each(drawn.slice(0, LAYOUTS).map((each) => [each.name, each] as const))(
  "N ranks train as one rank does, bytes and memory are the program's: %s",
  async (_name, drawn) => {
    const { job, layout, arithmetic } = drawn;
    const program = compileProgram(job, layout);
    expect(verifyProgram(program)).toEqual([]);
    const reference = await referenceOf(drawn);
    const run = await trainProgram(program, optionsOf(drawn));
    expect(run.stopped).toBe('done');
    expect(compareRuns(reference, run, boundsIn[arithmetic]).broken.slice(0, 3)).toEqual([]);
    // A clip that binds: in the first step at least.
    expect(run.gradientNorms[0]).toBeGreaterThan(1);
    expect(compareBytes(program, run, steps)).toEqual([]);
    expect(run.memory.flatMap(({ differs }) => differs)).toEqual([]);
    expect(run.memory.map(({ hostBytes }) => hostBytes)).toEqual(
      run.memory.map(({ predictedHostBytes }) => predictedHostBytes),
    );
  },
);
