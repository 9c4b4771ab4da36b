import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCluster } from '../cluster/index.ts';
import { InputError, type Issue } from '../errors/index.ts';
import { modelFromDimensions, modelFromPreset } from '../model/index.ts';
import { batchOf, batchTokens } from './batch.ts';
import { createJob, type JobInput, validateJob } from './create.ts';

const cluster = createCluster('dgx-a100');
const { model } = modelFromPreset('gpt2', 'model');
if (!model) throw new Error('no gpt2');
const base: JobInput = { model, cluster, batch: { sequences: 8, length: 1024 } };
const thrown = (input: JobInput): readonly Issue[] => {
  try {
    createJob(input);
    return [];
  } catch (error) {
    if (error instanceof InputError) return error.issues;
    throw error;
  }
};

describe('batches', () => {
  it('in tokens and in sequences are the same', () => {
    expect(batchOf({ tokens: 8 * 2 ** 20, length: 8192 }, 'batch').batch?.sequences).toBe(1024);
    expect(batchOf({ tokens: 4096, sequences: 2, length: 2048 }, 'batch').issues).toEqual([]);
  });
  it('that are no whole number of sequences are refused with the two nearest', () => {
    const [issue] = batchOf({ tokens: 4_000_000, length: 4096 }, 'batch').issues;
    expect(issue).toMatchObject({
      code: 'BATCH_NOT_A_MULTIPLE',
      path: 'batch.tokens',
      hint: 'Use 3997696 (976 sequences) or 4001792 (977 sequences).',
    });
  });
  it('smaller than a sequence have one nearest', () => {
    expect(batchOf({ tokens: 5, length: 8 }, 'batch').issues[0]?.hint).toBe('Use 8 (1 sequence).');
  });
  it('name nearest batches that are accepted', () => {
    const whole = fc.integer({ min: 1, max: 1e6 });
    fc.assert(
      fc.property(whole, whole, (tokens, length) => {
        const { batch, issues } = batchOf({ tokens, length }, 'batch');
        if (batch) expect(batchTokens(batch)).toBe(tokens);
        for (const nearest of (issues[0]?.values?.['nearest'] ?? []) as readonly number[]) {
          expect(Math.abs(nearest - tokens)).toBeLessThan(length);
          expect(batchOf({ tokens: nearest, length }, 'batch').batch).toBeDefined();
        }
      }),
    );
  });
  it('given twice must agree', () => {
    expect(batchOf({ tokens: 100, sequences: 3, length: 10 }, 'batch').issues[0]?.code).toBe('BATCH_CONTRADICTS');
  });
  it('beyond what is counted exactly are refused', () => {
    const [issue] = batchOf({ sequences: 2 ** 40, length: 2 ** 20 }, 'batch').issues;
    expect(issue).toMatchObject({ code: 'VALUE_OUT_OF_RANGE', path: 'batch.sequences' });
  });
  it('must be given', () => {
    expect(batchOf({ length: 10 }, 'batch').issues[0]?.code).toBe('KEY_MISSING');
  });
});

describe('a job', () => {
  it('is frozen and complete', () => {
    const job = createJob({ ...base, kernels: { dropout: 0.1 } });
    expect(job).toMatchObject({
      name: 'gpt2',
      precision: 'bf16',
      optimizer: 'adamw',
      framework: 'meshwright',
      kernels: { attention: 'flash', dropout: 0.1 },
      layout: {},
    });
    expect(Object.isFrozen(job)).toBe(true);
  });
  it('refuses sequences beyond the learned positions', () => {
    expect(thrown({ ...base, batch: { sequences: 1, length: 2048 } })).toMatchObject([
      { code: 'LENGTH_OVER_POSITIONS', hint: 'Use at most 1024.' },
    ]);
  });
  it('refuses numbers that are none, all at once', () => {
    const batch = { sequences: 0, length: Number.NaN, maxTokens: -1 };
    const issues = thrown({ ...base, batch, kernels: { dropout: 1 } });
    expect(issues.map((each) => each.path)).toEqual([
      'batch.sequences',
      'batch.length',
      'batch.max',
      'kernels.dropout',
    ]);
  });
  it('warns when rotary sequences are longer than the model states', () => {
    const llama = modelFromPreset('llama-2-7b', 'model').model;
    if (!llama) throw new Error('no llama');
    const long = createJob({ ...base, model: llama, batch: { sequences: 1, length: 8192 } });
    expect(validateJob(long)).toMatchObject([{ code: 'LENGTH_OVER_MODEL', severity: 'warning' }]);
    const short = createJob({ ...base, model: llama, batch: { sequences: 1, length: 4096 } });
    expect(validateJob(short)).toEqual([]);
  });
  it('warns when the batch is beyond the limit that it states, and not at the limit', () => {
    const over = createJob({ ...base, batch: { sequences: 8, length: 1024, maxTokens: 8191 } });
    expect(validateJob(over)).toMatchObject([
      { code: 'BATCH_BEYOND_LIMIT', severity: 'warning', hint: 'Use at most 7 sequences, or raise batch.max.' },
    ]);
    expect(validateJob(createJob({ ...base, batch: { sequences: 8, length: 1024, maxTokens: 8192 } }))).toEqual([]);
  });
  it('only notes a length beyond what a kind usually takes, where the model states none', () => {
    const dimensions = { kind: 'llama', layers: 2, hidden: 64, heads: 4, ffn: 128, vocab: 128 };
    const codes = (more: object, length: number) => {
      const { model: made } = modelFromDimensions({ ...dimensions, ...more }, 'model');
      if (!made) throw new Error('no model');
      return validateJob({ model: made, batch: { sequences: 8, length, maxTokens: undefined } }).map(
        ({ code, severity, hint }) => [code, severity, hint],
      );
    };
    expect(codes({}, 8192)).toEqual([['LENGTH_OVER_MODEL', 'note', 'Give the model its positions.']]);
    expect(codes({ positions: 8192 }, 8192)).toEqual([]);
    expect(codes({ positions: 4096 }, 8192).map(([, severity]) => severity)).toEqual(['warning']);
  });
  it('refuses a precision that the device does not have, and names those that it has', () => {
    const volta = createCluster('dgx-1v');
    expect(thrown({ ...base, cluster: volta }).map(({ code, path, hint }) => [code, path, hint])).toEqual([
      ['PRECISION_NOT_ON_DEVICE', 'precision', 'Use fp16 or fp32.'],
    ]);
    expect(thrown({ ...base, cluster: volta, precision: 'fp16' })).toEqual([]);
  });
});
