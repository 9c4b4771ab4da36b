import type { Layout } from '@meshwright/core/layout';
import { describe, expect, test } from 'vitest';
import { compareRuns, type TrainOptions, trainProgram } from '../index.ts';
import { type ModelName, programOf, smallJob } from './layouts.fixture.ts';
import { compareBytes } from './moved-bytes.ts';

const steps = 3;
const options: TrainOptions = { steps, seed: 11, initialDeviation: 0.25, learningRate: 0.05, inline: true };
const drawn: TrainOptions = { ...options, arithmetic: 'float64', captureGradients: [1] };

const layouts: readonly Partial<Layout>[] = [
  { data: 2, sharding: 1 },
  { data: 2, sharding: 3, gradientReduction: 'per-micro-batch', recompute: 'full' },
  { tensor: 2, sequenceParallel: true },
  { tensor: 2, sequenceParallel: false },
  { pipeline: 2, schedule: '1f1b', layersPerStage: [2, 2] },
  { tensor: 2, pipeline: 2, data: 2, sharding: 2, sequenceParallel: true },
  { context: 2, data: 2, sharding: 3 },
];

const cases: readonly (readonly [ModelName, readonly string[]])[] = [
  ['llama', ['q_proj', 'v_proj']],
  ['llama', ['all-linear']],
  ['gpt2', ['c_attn', 'c_fc', 'mlp.c_proj']],
  ['moe', ['k_proj', 'o_proj']],
  ['side by side with one norm, biases', ['all-linear']],
];

const jobOf = (name: ModelName, targets: readonly string[]) =>
  smallJob(name, { optimizer: 'sgd', workload: { lora: { rank: 2, alpha: 4, targets } } });

const away = (value: number | undefined, from: number | undefined): number => Math.abs((value ?? 0) / (from ?? 1) - 1);

describe('adapters: N ranks train as one rank does and move the bytes of the program', () => {
  test.each(cases)('%s, %s', async (name, targets) => {
    const job = jobOf(name, targets);
    const one = await trainProgram(programOf(job), drawn);
    expect(Object.keys(one.gradients[1] ?? {}).every((tensor) => tensor.includes('.lora_'))).toBe(true);
    for (const changes of layouts) {
      if (changes.pipeline && job.model.layers.length < 4) continue;
      const program = programOf(job, changes);
      const many = await trainProgram(program, drawn);
      const words = JSON.stringify(changes);
      expect([words, compareRuns(one, many).broken]).toEqual([words, []]);
      for (let step = 0; step < steps; step++) expect(away(many.losses[step], one.losses[step])).toBeLessThan(1e-12);
      expect([words, compareBytes(program, many, steps)]).toEqual([words, []]);
    }
    const single = await trainProgram(programOf(job, layouts[0]), options);
    expect(single.memory.flatMap(({ differs }) => differs)).toEqual([]);
  });
});

test('frozen weights stay as they are, and adapters move', async () => {
  const start = await trainProgram(programOf(jobOf('llama', ['q_proj', 'down_proj'])), { ...drawn, steps: 0 });
  const end = await trainProgram(programOf(jobOf('llama', ['q_proj', 'down_proj'])), drawn);
  const moved = Object.keys(end.parameters).filter(
    (name) => `${end.parameters[name]?.data}` !== `${start.parameters[name]?.data}`,
  );
  expect(moved).toEqual(Object.keys(end.parameters).filter((name) => name.includes('.lora_')));
});

test('B begins at zero, so that A has no gradient in the first step', async () => {
  const { initialDeviation: _none, ...usual } = drawn;
  const { gradients } = await trainProgram(programOf(jobOf('llama', ['q_proj'])), {
    ...usual,
    captureGradients: [1, 2],
  });
  const largest = (step: number, half: string): number =>
    Math.max(
      ...Object.entries(gradients[step] ?? {})
        .filter(([name]) => name.includes(half))
        .flatMap(([, { data }]) => [...data].map(Math.abs)),
    );
  expect(largest(1, 'lora_A')).toBe(0);
  expect(largest(1, 'lora_B')).toBeGreaterThan(0);
  expect(largest(2, 'lora_A')).toBeGreaterThan(0);
});

test('gradients of adapters are those of finite differences of the loss', async () => {
  const program = programOf(jobOf('llama', ['all-linear']));
  const { parameters } = await trainProgram(program, { ...drawn, steps: 0 });
  const initial = Object.fromEntries(Object.entries(parameters).map(([name, { data }]) => [name, data]));
  const base = await trainProgram(program, { ...drawn, steps: 1, initial });
  const step = 1e-4;
  const lossAt = async (name: string, index: number, by: number): Promise<number> => {
    const data = Float64Array.from(initial[name] ?? []);
    data[index] = (data[index] ?? 0) + by;
    const { losses } = await trainProgram(program, { ...drawn, steps: 1, initial: { ...initial, [name]: data } });
    return losses[0] ?? Number.NaN;
  };
  for (const name of Object.keys(initial).filter((each) => /layers\.[02]\..*lora_/.test(each))) {
    const gradient = base.gradients[1]?.[name]?.data[1] ?? Number.NaN;
    const difference = ((await lossAt(name, 1, step)) - (await lossAt(name, 1, -step))) / (2 * step);
    expect([name, Math.abs(difference - gradient) < 1e-6 + 1e-4 * Math.abs(gradient)]).toEqual([name, true]);
  }
});
