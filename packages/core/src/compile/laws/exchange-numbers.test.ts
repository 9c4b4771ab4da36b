/** @file The laws of bytes sent and kept, each with its own number, on known models. */
import { describe, expect, it } from 'vitest';
import type { LayoutRequest } from '../../layout/index.ts';
import { bytesSent, type WhyRule } from '../../program/index.ts';
import { bytesIn, isStatistic, keptBy, livedLists } from './lived.fixture.ts';
import { compileNamed, namedJob } from './named.fixture.ts';

/** GPT-3 on 64 GPUs, one sequence a micro-batch. */
const s = 2048;
const h = 12_288;
const a = 96;
const layers = 96;
const value = s * h * 2;
const gpt = namedJob('gpt3-175b', 1, {
  model: { ...namedJob('gpt3-175b', 1).model, vocabulary: 51_200 },
  batch: { sequences: 1, length: s },
  kernels: { attention: 'unfused', dropout: 0.1 },
});

/** Bytes of some rules that the only stage sends in a step. */
function sent(request: LayoutRequest, ...rules: readonly WhyRule[]): number {
  const [list] = bytesSent(compileNamed(gpt, request)).lists;
  return rules.reduce((sum, rule) => sum + (list?.byRule[rule]?.bytes ?? 0), 0);
}

describe('tensor parallelism over 8', () => {
  const unit = (7 / 8) * value;
  const inLayers = (request: LayoutRequest) =>
    sent({ tensor: 8, ...request }, 'sum-partial', 'gather-sequence', 'gather-again', 'scatter-partial') - 2 * 2 * unit;

  it('all-reduces s b h values four times a layer: 8 units of (t - 1) / t s b h', () => {
    expect(inLayers({ sequenceParallel: false })).toBe(layers * 8 * unit);
  });
  it('moves the same bytes with sequence parallelism when gathered inputs are kept', () => {
    expect(inLayers({ keepGathered: true })).toBe(layers * 8 * unit);
  });
  it('moves 1.25 times as much when they are gathered again: 10 units', () => {
    expect(inLayers({})).toBe(layers * 10 * unit);
  });
  it('moves 12 units under full recomputation, with and without sequence parallelism', () => {
    expect(inLayers({ recompute: 'full' })).toBe(layers * 12 * unit);
    expect(inLayers({ recompute: 'full', sequenceParallel: false })).toBe(layers * 12 * unit);
  });
  it('sums 6 h per layer, the final norm and the positions once a step with sequence parallelism, nothing without', () => {
    const whole = 6 * h * layers + 2 * h + 2048 * h;
    expect(sent({ tensor: 8 }, 'sum-whole-parameters')).toBe(2 * (7 / 8) * whole * 2);
    expect(sent({ tensor: 8, sequenceParallel: false }, 'sum-whole-parameters')).toBe(0);
  });
  it('sends three fp32 values a token for the loss, in all-reduces', () => {
    expect(sent({ tensor: 8 }, 'vocabulary-parallel')).toBe(3 * 2 * (7 / 8) * s * 4);
  });
});

describe('activations that a layer keeps', () => {
  const sbh = s * h;
  const scores = (5 * a * s) / h;
  const kept = (request: LayoutRequest, kernels: Partial<typeof gpt.kernels> = {}): number => {
    const job = {
      ...gpt,
      kernels: { ...gpt.kernels, ...kernels },
      batch: { sequences: 8, length: s, maxTokens: undefined },
    };
    const [lived] = livedLists(compileNamed(job, request));
    return lived ? bytesIn(keptBy(lived, 5, 0).filter((range) => !isStatistic(range))) / sbh : 0;
  };
  const split = { tensor: 8 } as const;

  it('are 34 + 5 a s / h alone', () => {
    expect(kept({})).toBe(34 + scores);
  });
  it('are 10 + 24 / t + 5 a s / (h t) with tensor, all of it / t with sequence parallelism', () => {
    expect(kept({ ...split, sequenceParallel: false })).toBe(10 + 24 / 8 + scores / 8);
    expect(kept(split)).toBe((34 + scores) / 8);
  });
  it('lose the scores under selective recomputation and under blockwise attention', () => {
    for (const each of [kept({ recompute: 'selective' }), kept({}, { attention: 'flash' })]) expect(each).toBe(34);
    expect(kept({ ...split, recompute: 'selective', sequenceParallel: false })).toBe(10 + 24 / 8);
    expect(kept({ ...split, recompute: 'selective' })).toBe(34 / 8);
  });
  it('are 32 and 8 + 24 / t without dropout', () => {
    const plain = { attention: 'flash', dropout: 0 } as const;
    expect(kept({}, plain)).toBe(32);
    expect(kept({ ...split, sequenceParallel: false }, plain)).toBe(8 + 24 / 8);
  });
  it('are 2 under full recomputation, / t with sequence parallelism', () => {
    expect(kept({ recompute: 'full' })).toBe(2);
    expect(kept({ ...split, recompute: 'full', sequenceParallel: false })).toBe(2);
    expect(kept({ ...split, recompute: 'full' })).toBe(2 / 8);
  });
  it('stay whole, norm by norm, where gathered inputs are kept: 6 / t + 4 + 24 / t', () => {
    expect(kept({ ...split, recompute: 'selective', keepGathered: true })).toBe((10 - 4) / 8 + 4 + 24 / 8);
  });
});

describe('the data axis over 8', () => {
  const job = namedJob('llama-2-7b', 1, { batch: { sequences: 8, length: 1024 } });
  const parameters = 6_738_415_616;
  const data = (request: LayoutRequest): number => {
    const [list] = bytesSent(compileNamed(job, { data: 8, ...request })).lists;
    const { 'global-norm': norm, 'mean-loss': loss } = list?.byRule ?? {};
    return (list?.byAxis['data']?.bytes ?? 0) - (norm?.bytes ?? 0) - (loss?.bytes ?? 0);
  };
  const ddp = 2 * (7 / 8) * parameters * 2;

  it('moves 2 (N - 1) / N Psi g under DDP, and as much under ZeRO-1 and -2', () => {
    expect([0, 1, 2].map((sharding) => data({ sharding: sharding as 0 | 1 | 2 }))).toEqual([ddp, ddp, ddp]);
  });
  it('moves 1.5 times as much under ZeRO-3, less one gather of the head, where forward turns to backward', () => {
    const head = 32_000 * 4096 + 4096;
    expect(data({ sharding: 3 })).toBe(1.5 * ddp - (7 / 8) * head * 2);
  });
});
