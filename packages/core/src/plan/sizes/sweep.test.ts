import { describe, expect, it } from 'vitest';
import type { StepParts } from '../../sim/index.ts';
import { planJob } from '../index.ts';
import { smallJob } from './jobs.fixture.ts';
import { kneeOf } from './knee.ts';
import { sweepSizes } from './sweep.ts';
import type { SweepPoint } from './sweep-types.ts';

const nothing: StepParts = {
  ideal: 0,
  inefficiency: 0,
  memoryBound: 0,
  recompute: 0,
  optimizer: 0,
  tensor: 0,
  context: 0,
  expert: 0,
  data: 0,
  pipelineSend: 0,
  bubble: 0,
  host: 0,
  offload: 0,
};

/** A point whose step is one second of work and what `waits` says, on a batch of 64 tokens. */
function pointOf(gpus: number, waits: Partial<StepParts>, best: number): SweepPoint {
  const partsSeconds = { ...nothing, ideal: 64 / gpus, ...waits };
  const seconds = Object.values(partsSeconds).reduce((sum, each) => sum + each, 0);
  const tokensPerSecondPerGpu = 64 / seconds / gpus;
  return {
    gpus,
    sequences: 64,
    layout: '',
    verdict: 'fits',
    seconds,
    tokensPerSecondPerGpu,
    efficiency: tokensPerSecondPerGpu / best,
    exposedShare: 0,
    bubbleShare: 0,
    mfu: 0,
    partsSeconds,
    tensor: 1,
    stages: 4,
    dataRanks: gpus / 4,
    microBatches: 8,
    beyondLimit: false,
  };
}

describe('a knee', () => {
  const points = [
    pointOf(8, {}, 1),
    pointOf(16, { bubble: 0.2, data: 0.05 }, 1),
    pointOf(32, { bubble: 0.6, data: 0.1 }, 1),
    pointOf(64, { bubble: 0.9, data: 0.4 }, 1),
  ];

  it('is the last size before a tenth of the tokens per GPU is lost, and its cause is what grew most', () => {
    const knee = kneeOf(points);
    expect(knee).toMatchObject({ gpus: 16, beyond: 32, cause: 'bubble' });
    expect(knee?.words).toBe(
      '32 GPUs reach 74.1 % of the tokens/s/GPU of 8: the pipeline bubble grew from 0.0 % to 22.2 % of the step, with 8 micro-batches for 4 stages.',
    );
  });

  it('is none where every size keeps nine tenths', () => {
    expect(kneeOf(points.slice(0, 2))).toBeUndefined();
    expect(kneeOf([])).toBeUndefined();
  });
});

describe('a sweep', { timeout: 120_000 }, () => {
  const job = smallJob('1x dgx-a100', { batch: { sequences: 64, length: 1024, maxTokens: 128 * 1024 } });
  const { curves } = sweepSizes(job, { from: 8, to: 512 });
  const [strong, weak] = curves;

  it('keeps the batch or the batch of a GPU', () => {
    expect(strong?.points.every(({ sequences }) => sequences === 64)).toBe(true);
    expect(weak?.points.every(({ sequences, gpus }) => sequences === 8 * gpus)).toBe(true);
    expect(weak?.points.filter(({ beyondLimit }) => beyondLimit).map(({ gpus }) => gpus)).toEqual([
      32, 64, 128, 256, 512,
    ]);
  });

  it('bends where the batch of a GPU becomes small, and names why', () => {
    expect(strong?.knee?.gpus).toBeGreaterThanOrEqual(8);
    expect(strong?.knee?.words).toMatch(/ GPUs reach [\d.]+ % of the tokens\/s\/GPU of \d+: .+ grew from /);
    const before = strong?.points.filter(({ gpus }) => gpus <= (strong.knee?.gpus ?? 0)) ?? [];
    expect(before.every(({ efficiency }) => efficiency >= 0.9)).toBe(true);
  });

  it('has for each size what a plan of that size has', () => {
    const point = strong?.points.find(({ gpus }) => gpus === 16);
    const [plan] = planJob(smallJob('2x dgx-a100', { batch: { sequences: 64, length: 1024 } }), { top: 1 }).plans;
    expect(point).toMatchObject({
      seconds: plan?.step.seconds,
      tokensPerSecondPerGpu: plan?.step.tokensPerSecondPerGpu,
      layout: plan?.layout.short,
      mfu: plan?.step.mfu,
      bubbleShare: plan?.pipeline.bubbleShare,
    });
  });

  it('says why there is no point', () => {
    const odd = sweepSizes(job, { from: 12, to: 12 }).curves[0];
    expect(odd?.gaps).toMatchObject([{ gpus: 12, code: 'NODE_NOT_WHOLE' }]);
    const small = smallJob('4x dgx-a100', { batch: { sequences: 3, length: 1024 }, hidden: 12288 });
    const [fixed, grown] = sweepSizes(small, { from: 1, to: 2 }).curves;
    expect(grown?.gaps.map(({ code }) => code)).toEqual(['BATCH_NOT_A_MULTIPLE', 'BATCH_NOT_A_MULTIPLE']);
    expect(fixed?.gaps).toMatchObject([{ gpus: 1, code: 'NOTHING_FITS' }, { gpus: 2 }]);
  });
});
