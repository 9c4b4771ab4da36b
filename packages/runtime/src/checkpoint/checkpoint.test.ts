import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Layout } from '@meshwright/core/layout';
import { afterAll, describe, expect, test } from 'vitest';
import {
  completeSteps,
  createRankPool,
  exportWeights,
  importWeights,
  loadCheckpoint,
  type TrainOptions,
  trainProgram,
} from '../index.ts';
import { type ModelName, programOf, smallJob } from '../parity/layouts.fixture.ts';
import { builtinCorpus } from '../tokens/corpus.ts';

const pool = createRankPool();
const scratch = mkdtempSync(join(tmpdir(), 'meshwright-checkpoint-'));
afterAll(async () => {
  await pool.close();
  rmSync(scratch, { recursive: true });
});

const freshFolder = (): string => mkdtempSync(join(scratch, 'run-'));
const options: TrainOptions = {
  steps: 6,
  seed: 11,
  initialDeviation: 0.25,
  learningRate: 0.01,
  pool,
  validateEvery: 3,
};

type Case = readonly [model: ModelName, changes: Partial<Layout>, optimizer: 'sgd' | 'adamw'];
const cases: readonly Case[] = [
  ['gpt2', { tensor: 2, pipeline: 2, data: 2, sharding: 1, sequenceParallel: true }, 'adamw'],
  ['gpt2', { pipeline: 2, data: 2 }, 'sgd'],
  ['gpt2', { tensor: 4, sequenceParallel: true }, 'adamw'],
  ['llama', { tensor: 2, data: 2, sharding: 3 }, 'adamw'],
  ['llama', { pipeline: 2, chunks: 2, data: 2, sharding: 2 }, 'adamw'],
  ['moe', { tensor: 2, data: 2, sharding: 1 }, 'sgd'],
  ['fused tensors', { tensor: 2, data: 2, sharding: 3 }, 'adamw'],
];

describe('a run that goes on from a checkpoint', () => {
  test.each(cases)('has the bits of one that was not interrupted: %s %o', async (model, changes, optimizer) => {
    const program = programOf(smallJob(model, { optimizer }), changes);
    const folder = freshFolder();
    const whole = await trainProgram(program, { ...options, checkpoints: { folder, every: 2 } });
    expect(completeSteps(folder)).toEqual([2, 4, 6]);
    const rest = await trainProgram(program, { ...options, from: loadCheckpoint(folder, 4) });
    expect(rest.firstStep).toBe(5);
    expect(rest.losses).toEqual(whole.losses.slice(4));
    expect(rest.gradientNorms).toEqual(whole.gradientNorms.slice(4));
    expect(rest.validationLosses).toEqual({ 6: whole.validationLosses[6] });
    expect(rest.parameters).toEqual(whole.parameters);
  });

  test('has them in bf16 too, from the masters', async () => {
    const program = programOf(smallJob('llama', { precision: 'bf16' }), { tensor: 2, data: 2, sharding: 1 });
    const folder = freshFolder();
    const whole = await trainProgram(program, { ...options, checkpoints: { folder, every: 3 } });
    const rest = await trainProgram(program, { ...options, from: loadCheckpoint(folder, 3) });
    expect(rest.losses).toEqual(whole.losses.slice(3));
    expect(rest.parameters).toEqual(whole.parameters);
  });

  test('trains alike on another layout and number of ranks', async () => {
    const job = smallJob('gpt2');
    const folder = freshFolder();
    const from = { tensor: 2, pipeline: 2, data: 2, sharding: 1, sequenceParallel: true } as const;
    const whole = await trainProgram(programOf(job, from), { ...options, checkpoints: { folder, every: 3 } });
    const state = loadCheckpoint(folder, 3);
    for (const changes of [{}, { data: 4, sharding: 3 }, { tensor: 4 }, { pipeline: 4 }] as const) {
      const rest = await trainProgram(programOf(job, changes), { ...options, from: state });
      rest.losses.forEach((loss, index) => {
        expect(Math.abs(loss / whole.losses[3 + index]! - 1)).toBeLessThan(1e-6);
      });
    }
  });

  test('sees the samples of its steps, whatever its data degree', async () => {
    const job = smallJob('llama', { optimizer: 'sgd' });
    const corpus = { ...builtinCorpus(), tokens: builtinCorpus().tokens.map((token) => token % 26) };
    const shared = { ...corpus, tokens: new Uint16Array(new SharedArrayBuffer(2 * corpus.tokens.length)) };
    shared.tokens.set(corpus.tokens);
    const folder = freshFolder();
    const told = { ...options, corpus: shared };
    const whole = await trainProgram(programOf(job, { data: 4 }), { ...told, checkpoints: { folder, every: 3 } });
    const state = loadCheckpoint(folder, 3);
    expect(state.manifest.data?.tokens).toBe(shared.tokens.length);
    const rest = await trainProgram(programOf(job, { data: 2 }), { ...told, from: state });
    rest.losses.forEach((loss, index) => {
      expect(Math.abs(loss / whole.losses[3 + index]! - 1)).toBeLessThan(1e-6);
    });
  });

  test('refuses another model and another optimizer, by name of what differs', async () => {
    const folder = freshFolder();
    await trainProgram(programOf(smallJob('gpt2')), { ...options, steps: 1, checkpoints: { folder, every: 1 } });
    const from = loadCheckpoint(folder);
    await expect(trainProgram(programOf(smallJob('llama')), { ...options, from })).rejects.toThrow(
      /CHECKPOINT_OF_ANOTHER .*model\.embed_tokens/,
    );
    const sgd = programOf(smallJob('gpt2', { optimizer: 'sgd' }));
    await expect(trainProgram(sgd, { ...options, from })).rejects.toThrow(/trained with adamw, and the job uses sgd/);
  });
});

describe('writing', () => {
  const program = programOf(smallJob('gpt2'), { data: 2, pipeline: 2 });

  test('each element is written once, though replicas own it too', async () => {
    const folder = freshFolder();
    await trainProgram(program, { ...options, steps: 1, checkpoints: { folder, every: 1 } });
    const { manifest } = loadCheckpoint(folder);
    const written = new Set(manifest.files.map(({ name }) => name.slice(0, 9)));
    expect(written.size).toBe(2);
  });

  test('an interrupted run leaves a checkpoint of its last step', async () => {
    const folder = freshFolder();
    const controller = new AbortController();
    const run = await trainProgram(program, {
      ...options,
      steps: 100_000,
      checkpoints: { folder, every: 100_000 },
      signal: controller.signal,
      onStep: ({ step }) => (step === 3 ? controller.abort() : undefined),
    });
    expect(run.stopped).toBe('interrupted');
    expect(completeSteps(folder)).toEqual([run.losses.length]);
  });

  test('only the last ones stay where that is asked for', async () => {
    const folder = freshFolder();
    const saved: number[] = [];
    const checkpoints = { folder, every: 1, keep: 2, onSaved: (step: number) => void saved.push(step) };
    await trainProgram(program, { ...options, steps: 4, checkpoints });
    expect(saved).toEqual([1, 2, 3, 4]);
    expect(readdirSync(folder)).toEqual(['step-00000003', 'step-00000004']);
  });

  test('what is in the way keeps the run from its begin, with the reason, and is left as it is', async () => {
    const folder = join(freshFolder(), 'file');
    writeFileSync(folder, 'mine');
    const checkpoints = { folder: `${folder}/x`, every: 2 };
    await expect(trainProgram(program, { ...options, checkpoints })).rejects.toThrow(/FILE_NOT_WRITTEN.*ENOTDIR/);
    expect(readFileSync(folder, 'utf8')).toBe('mine');
  });
});

describe('weights of Hugging Face', () => {
  const job = smallJob('gpt2');
  const program = programOf(job, { tensor: 2, pipeline: 2, data: 2, sharding: 1, sequenceParallel: true });

  test('what is exported is imported, into any layout', async () => {
    const folder = freshFolder();
    const run = await trainProgram(program, { ...options, steps: 2, checkpoints: { folder, every: 2 } });
    const exported = join(folder, 'hf');
    exportWeights(loadCheckpoint(folder), exported);
    expect(readdirSync(exported)).toEqual(['model.safetensors']);
    const other = programOf(job, { data: 2, sharding: 3 });
    const initial = importWeights(exported, other);
    const back = await trainProgram(other, { ...options, steps: 0, initial });
    for (const [name, { shape, data }] of Object.entries(run.parameters)) {
      expect(back.parameters[name]?.shape).toEqual(shape);
      expect(back.parameters[name]?.data).toEqual(data);
    }
  });

  test('are not written over anything, and those of another model are refused', async () => {
    const folder = freshFolder();
    await trainProgram(program, { ...options, steps: 1, checkpoints: { folder, every: 1 } });
    expect(() => exportWeights(loadCheckpoint(folder), folder)).toThrow(/FILE_EXISTS/);
    const exported = join(folder, 'hf');
    exportWeights(loadCheckpoint(folder), exported);
    expect(() => importWeights(exported, programOf(smallJob('llama')))).toThrow(
      /CHECKPOINT_OF_ANOTHER {2}--from: "transformer\.wte\.weight" is in the folder and not in the model\./,
    );
    expect(() => importWeights(folder, program)).toThrow(/has no model\.safetensors and no model\.safetensors\.index/);
  });
});
