import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Layout } from '@meshwright/core/layout';
import { showLayout } from '@meshwright/core/plan';
import { afterAll, describe, expect, test } from 'vitest';
import {
  exportWeights,
  importWeights,
  loadCheckpoint,
  readManifestOf,
  sampleTokens,
  type TrainOptions,
  trainProgram,
} from '../index.ts';
import { type ModelName, programOf, smallJob } from '../parity/layouts.fixture.ts';
import { manifestText, readManifest } from './manifest.ts';
import { readSafetensors } from './safetensors.ts';

const scratch = mkdtempSync(join(tmpdir(), 'meshwright-adapters-'));
afterAll(() => rmSync(scratch, { recursive: true }));
const freshFolder = (): string => mkdtempSync(join(scratch, 'run-'));

const options: TrainOptions = { steps: 4, seed: 11, initialDeviation: 0.25, learningRate: 0.01, inline: true };
const jobOf = (
  model: ModelName,
  changes: Parameters<typeof smallJob>[1] = {},
  targets: readonly string[] = ['all-linear'],
) => smallJob(model, { workload: { lora: { rank: 2, alpha: 4, targets } }, ...changes });

const cases: readonly (readonly [ModelName, Partial<Layout>, Parameters<typeof smallJob>[1]])[] = [
  ['llama', { tensor: 2, pipeline: 2, data: 2, sharding: 1, sequenceParallel: true }, {}],
  ['llama', { tensor: 2, data: 2, sharding: 3 }, { precision: 'bf16' }],
  ['gpt2', { pipeline: 2, data: 2, sharding: 2 }, { optimizer: 'sgd' }],
];

describe('a run of adapters that goes on from a checkpoint', () => {
  test.each(cases)('has the bits of one that was not interrupted: %s %o %o', async (model, layout, changes) => {
    const program = programOf(jobOf(model, changes), layout);
    const folder = freshFolder();
    const whole = await trainProgram(program, { ...options, checkpoints: { folder, every: 2 } });
    const rest = await trainProgram(program, { ...options, from: loadCheckpoint(folder, 2) });
    expect(rest.losses).toEqual(whole.losses.slice(2));
    expect(rest.parameters).toEqual(whole.parameters);
  });

  test('trains alike on another layout and number of ranks', async () => {
    const job = jobOf('llama');
    const folder = freshFolder();
    const from = { tensor: 2, pipeline: 2, data: 2, sharding: 1, sequenceParallel: true } as const;
    const whole = await trainProgram(programOf(job, from), { ...options, checkpoints: { folder, every: 2 } });
    const state = loadCheckpoint(folder, 2);
    for (const changes of [{}, { data: 4, sharding: 3 }, { tensor: 2 }, { pipeline: 4 }] as const) {
      const rest = await trainProgram(programOf(job, changes), { ...options, from: state });
      rest.losses.forEach((loss, index) => {
        expect(Math.abs(loss / whole.losses[2 + index]! - 1)).toBeLessThan(1e-6);
      });
    }
  });

  test('is refused to a job that trains the model, and to one with other adapters', async () => {
    const folder = freshFolder();
    await trainProgram(programOf(jobOf('llama')), { ...options, steps: 1, checkpoints: { folder, every: 1 } });
    const from = loadCheckpoint(folder);
    await expect(trainProgram(programOf(smallJob('llama')), { ...options, from })).rejects.toThrow(
      /CHECKPOINT_OF_ANOTHER .* is frozen in the checkpoint and trained in the job/,
    );
    const other = programOf(jobOf('llama', {}, ['q_proj']));
    await expect(trainProgram(other, { ...options, from })).rejects.toThrow(/holds "base_model\..*does not have/);
  });
});

describe('a checkpoint of adapters', () => {
  test('holds all weights and the optimizer of the adapters alone, in the bytes that plans say', async () => {
    const job = jobOf('llama');
    const folder = freshFolder();
    const program = programOf(job, { tensor: 2, data: 2, sharding: 1 });
    await trainProgram(program, { ...options, steps: 1, checkpoints: { folder, every: 1 } });
    const { tensors, manifest } = loadCheckpoint(folder);
    const frozen = new Set(manifest.frozen);
    for (const [name, { states }] of Object.entries(tensors)) {
      expect([name, Object.keys(states)]).toEqual([name, frozen.has(name) ? ['weights'] : ['weights', 'm', 'v']]);
      expect([name, frozen.has(name)]).toEqual([name, !name.includes('.lora_')]);
    }
    const bytes = Object.values(tensors)
      .flatMap(({ states }) => Object.values(states))
      .reduce((sum, values) => sum + values.byteLength, 0);
    const { checkpoint } = showLayout(job, { tensor: 2, data: 4, sharding: 1 }).storage;
    expect(bytes).toBe(checkpoint.bytes);
  });

  test('under bf16 holds frozen weights in two bytes, and so does what is exported of it', async () => {
    const job = jobOf('llama', { precision: 'bf16' });
    const folder = freshFolder();
    const program = programOf(job, { tensor: 2, data: 2, sharding: 1 });
    const run = await trainProgram(program, { ...options, steps: 1, checkpoints: { folder, every: 1 } });
    const state = loadCheckpoint(folder);
    const path = join(folder, 'step-00000001');
    const tensorsIn = (file: string) => readSafetensors(readFileSync(file), file).tensors;
    const bytesIn = (some: ReturnType<typeof tensorsIn>): number =>
      some.reduce((sum, { begin, end }) => sum + end - begin, 0);
    const frozen = new Set(state.manifest.frozen);
    const stored = state.manifest.files.flatMap(({ name }) => tensorsIn(join(path, name)));
    for (const { name, dtype } of stored) expect([name, dtype]).toEqual([name, frozen.has(name) ? 'BF16' : 'F32']);
    const { frozenBytes } = showLayout(job, { tensor: 2, data: 4, sharding: 1 }).storage.checkpoint;
    expect(bytesIn(stored.filter(({ name }) => frozen.has(name)))).toBe(frozenBytes);
    exportWeights(state, join(folder, 'hf'));
    const base = tensorsIn(join(folder, 'hf', 'model.safetensors'));
    expect([...new Set(base.map(({ dtype }) => dtype))]).toEqual(['BF16']);
    expect(bytesIn(base)).toBe(frozenBytes);
    const initial = importWeights(join(folder, 'hf'), programOf(job, { pipeline: 2 }));
    const back = await trainProgram(programOf(job, { pipeline: 2 }), { ...options, steps: 0, initial });
    expect(back.parameters).toEqual(run.parameters);
  });

  test('is damaged where it lacks moments of what is trained, or holds some of what is frozen', async () => {
    const folder = freshFolder();
    await trainProgram(programOf(jobOf('llama')), { ...options, steps: 1, checkpoints: { folder, every: 1 } });
    const manifest = readManifestOf(folder);
    const { frozen = [] } = manifest;
    const wrong = (changed: typeof manifest): string =>
      readManifest(manifestText(changed), 'index')
        .issues.map(({ message }) => message)
        .join();
    expect(wrong(manifest)).toBe('');
    expect(wrong({ ...manifest, frozen: frozen.slice(1) })).toMatch(/\(m\) are 0 elements of/);
    const adapter = Object.keys(manifest.shapes).find((name) => name.includes('.lora_')) ?? '';
    expect(wrong({ ...manifest, frozen: [...frozen, adapter] })).toMatch(/holds m of .*lora_.*, which has none/);
    expect(wrong({ ...manifest, frozen: [...frozen, 'x'] })).toMatch(/names "x", which has no shape/);
  });
});

describe('weights of Hugging Face with adapters', () => {
  const job = jobOf('llama');
  const one = programOf({ ...job, batch: { ...job.batch, sequences: 1 } });

  test('are exported as base and adapters, and imported into any layout', async () => {
    const folder = freshFolder();
    const program = programOf(job, { tensor: 2, data: 2, sharding: 3 });
    const run = await trainProgram(program, { ...options, steps: 2, checkpoints: { folder, every: 2 } });
    const exported = join(folder, 'hf');
    const from = loadCheckpoint(folder);
    exportWeights(from, exported);
    expect(readdirSync(exported).sort()).toEqual(['adapter', 'model.safetensors']);
    expect(readdirSync(join(exported, 'adapter'))).toEqual(['adapter_model.safetensors']);
    const initial = importWeights(exported, programOf(job, { pipeline: 2 }));
    const back = await trainProgram(programOf(job, { pipeline: 2 }), { ...options, steps: 0, initial });
    expect(back.parameters).toEqual(run.parameters);
    const text = { prompt: [3], tokens: 6, temperature: 0, seed: 1 };
    expect([...sampleTokens(one, { ...text, from })]).toEqual([...sampleTokens(one, { ...text, initial })]);
    expect(() => importWeights(exported, programOf(smallJob('llama')))).toThrow(
      /lora_.*in the folder and not in the model/,
    );
  });

  test('of a base alone are what adapters begin beside, and some adapters are not all', async () => {
    const base = freshFolder();
    const whole = await trainProgram(programOf(smallJob('llama')), {
      ...options,
      steps: 1,
      checkpoints: { folder: base, every: 1 },
    });
    const exported = join(base, 'hf');
    exportWeights(loadCheckpoint(base), exported);
    expect(existsSync(join(exported, 'adapter'))).toBe(false);
    const initial = importWeights(exported, programOf(job));
    const { initialDeviation: _none, ...usual } = options;
    const start = await trainProgram(programOf(job), { ...usual, steps: 0, initial });
    for (const [name, { data }] of Object.entries(start.parameters)) {
      if (name.endsWith('lora_B.weight')) expect([name, data.every((value) => value === 0)]).toEqual([name, true]);
      else if (!name.includes('.lora_')) expect([name, data]).toEqual([name, whole.parameters[name]?.data]);
    }
    const folder = freshFolder();
    await trainProgram(programOf(jobOf('llama', {}, ['q_proj'])), {
      ...options,
      steps: 1,
      checkpoints: { folder, every: 1 },
    });
    exportWeights(loadCheckpoint(folder), join(folder, 'hf'));
    expect(() => importWeights(join(folder, 'hf'), programOf(job))).toThrow(/the folder lacks "base_model/);
    writeFileSync(
      join(exported, 'model.safetensors'),
      readFileSync(join(exported, 'model.safetensors')).subarray(0, 40),
    );
    expect(() => importWeights(exported, programOf(job))).toThrow(/CHECKPOINT_DAMAGED/);
  });
});
