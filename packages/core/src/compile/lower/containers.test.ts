import { describe, expect, it } from 'vitest';
import { createJob } from '../../job/index.ts';
import type { Layout } from '../../layout/index.ts';
import { localElements } from '../../tensor/index.ts';
import type { BucketPlan } from '../parameters.ts';
import { toyJob, toyLayout } from '../toy.fixture.ts';
import { containers, optimizerTensors, reducesEachMicroBatch, sumsOverEnds } from './containers.ts';

const plan: BucketPlan = { name: 'b', blocks: [0], tied: false, elements: 10, summed: 3, readyBlock: 0, firstBlock: 0 };

/** Name, elements on a rank of data 4, and how it lives: `R` resident, `/micro`, `in G.b`. */
const declared = (changes: Partial<Layout>, input: Partial<BucketPlan> = {}): readonly string[] => {
  const layout = toyLayout({ data: 4, ...changes });
  return containers({ ...plan, ...input }, toyJob(), layout, 'bf16').map(({ name, dtype, dims, ...rest }) => {
    const size = localElements(dims, (axis) => (axis === 'data' ? layout.data : 1));
    const where = rest.shardOf ? ` in ${rest.shardOf}` : rest.resident ? ' R' : '';
    return `${name} ${dtype} ${size}${where}${rest.scope === 'micro' ? ' micro' : ''}`;
  });
};

describe('buffers of a bucket', () => {
  const state = (size: number) => ['master', 'm', 'v'].map((name) => `O.b.${name} fp32 ${size} R`);

  it('are whole under sharding 0 and over one data rank', () => {
    const whole = ['W.b bf16 10 R', 'G.b fp32 10 R', ...state(10)];
    expect(declared({ sharding: 0 })).toEqual(whole);
    expect(declared({ sharding: 1, data: 1 })).toEqual(whole);
  });
  it('under sharding 1 are cut for the optimizer only; the shard of the gradient lies in place', () => {
    expect(declared({ sharding: 1 })).toEqual(['W.b bf16 12 R', 'G.b fp32 12 R', 'S.b fp32 3 in G.b', ...state(3)]);
  });
  it('under sharding 2 hold whole gradients for one micro-batch only, and what is summed is cut by itself', () => {
    const each = declared({ sharding: 2, gradientReduction: 'per-micro-batch' });
    expect(each).toEqual(['W.b bf16 12 R', 'G.b fp32 12 micro', 'S.b fp32 3 R', ...state(3)]);
    const large = declared({ sharding: 2, gradientReduction: 'per-micro-batch' }, { elements: 10, summed: 5 });
    expect(large[1]).toBe('G.b fp32 16 micro');
  });
  it('under sharding 2 hold whole gradients throughout when they are reduced once a step', () => {
    const once = declared({ sharding: 2, gradientReduction: 'per-step' });
    expect(once.slice(0, 3)).toEqual(['W.b bf16 12 R', 'G.b fp32 12 R', 'S.b fp32 3 R']);
  });
  it('under sharding 3 hold a shard of the weights; whole ones come and go', () => {
    const each = declared({ sharding: 3, gradientReduction: 'per-micro-batch' });
    expect(each.slice(0, 2)).toEqual(['P.b bf16 3 R', 'W.b bf16 12']);
  });
});

describe('what decides', () => {
  it('the state: a master beside 16-bit weights, two moments or one momentum', () => {
    const job = toyJob();
    expect(optimizerTensors(job)).toEqual(['master', 'm', 'v']);
    expect(optimizerTensors(createJob({ ...job, precision: 'fp32' }))).toEqual(['m', 'v']);
    expect(optimizerTensors(createJob({ ...job, optimizer: 'sgd' }))).toEqual(['master', 'momentum']);
  });
  it('reduction per micro-batch: data ranks, cut gradients, and the layout', () => {
    const each: Partial<Layout> = { sharding: 2, gradientReduction: 'per-micro-batch' };
    const ask = (changes: Partial<Layout>) => reducesEachMicroBatch(toyLayout({ ...each, ...changes }));
    expect([ask({}), ask({ data: 1 }), ask({ sharding: 1 }), ask({ gradientReduction: 'per-step' })]).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
  it('which bucket waits for the other end: the tied one, between stages, while gradients are whole', () => {
    const tied = { ...plan, tied: true };
    const ask = (changes: Partial<Layout>, bucket = tied) => sumsOverEnds(bucket, toyLayout(changes));
    expect([ask({}), ask({}, plan), ask({ pipeline: 1 }), ask({ sharding: 2 })]).toEqual([true, false, false, false]);
  });
});
