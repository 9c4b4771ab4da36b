import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { loadCheckpoint, readCorpus, type SampleOptions, sampleTokens, trainProgram } from '../index.ts';
import { type ModelName, programOf, smallJob } from '../parity/layouts.fixture.ts';
import { drawToken } from './sample.ts';

const folder = mkdtempSync(join(tmpdir(), 'meshwright-sample-'));
afterAll(() => rmSync(folder, { recursive: true }));

const job = smallJob('llama');
const oneSequence = (model: ModelName) => {
  const whole = smallJob(model);
  return programOf({ ...whole, batch: { ...whole.batch, sequences: 1 } });
};

describe('samples', () => {
  test('a model that has learned an order of letters writes it', async () => {
    const tokens = Uint8Array.from({ length: 4000 }, (_, index) => (index * 7) % 26);
    const corpus = readCorpus('sevens', tokens, 'text');
    const checkpoints = { folder, every: 60 };
    const layout = { tensor: 2, data: 2, sharding: 1 } as const;
    await trainProgram(programOf(job, layout), {
      steps: 60,
      corpus,
      checkpoints,
      initialDeviation: 0.1,
      learningRate: 0.02,
      inline: true,
    });
    const options: SampleOptions = { from: loadCheckpoint(folder), prompt: [3], tokens: 12, temperature: 0, seed: 1 };
    const written = [...sampleTokens(oneSequence('llama'), options)];
    expect(written).toEqual(Array.from({ length: 12 }, (_, index) => (3 + 7 * (index + 1)) % 26));
  });

  test('depend on the seed alone, and both engines write the same', () => {
    const options: SampleOptions = { prompt: [1, 2], tokens: 8, temperature: 1, seed: 5, kernels: 'plain' };
    const program = oneSequence('gpt2');
    const first = [...sampleTokens(program, options)];
    expect([...sampleTokens(program, options)]).toEqual(first);
    expect([...sampleTokens(program, { ...options, kernels: 'wasm' })]).toEqual(first);
    expect([...sampleTokens(program, { ...options, seed: 6 })]).not.toEqual(first);
  });

  test('an empty prompt and one of another vocabulary are refused', () => {
    const options: SampleOptions = { prompt: [], tokens: 1, temperature: 1, seed: 1 };
    expect(() => [...sampleTokens(oneSequence('gpt2'), options)]).toThrow(/VALUE_OUT_OF_RANGE {2}--prompt/);
    expect(() => [...sampleTokens(oneSequence('gpt2'), { ...options, prompt: [26] })]).toThrow(/TOKEN_UNKNOWN/);
  });
});

test('a token is drawn as often as its probability says', () => {
  const logits = Float32Array.of(0, Math.log(3));
  const draws = Array.from({ length: 1000 }, (_, index) => drawToken(logits, 1, (index + 0.5) / 1000));
  expect(draws.filter((token) => token === 1)).toHaveLength(750);
  const bold = Array.from({ length: 1000 }, (_, index) => drawToken(logits, 2, (index + 0.5) / 1000));
  expect(bold.filter((token) => token === 1).length).toBeCloseTo(1000 * (Math.sqrt(3) / (1 + Math.sqrt(3))), -1);
  expect(drawToken(logits, 0, 0)).toBe(1);
});
