import { describe, expect, it } from 'vitest';
import { clusterFromRequest } from '../cluster/index.ts';
import { createJob } from '../job/index.ts';
import { completeLayout, type LayoutRequest } from '../layout/index.ts';
import { modelFromPreset } from '../model/index.ts';
import type { PeakRate } from '../sim/index.ts';
import { detailOf } from './detail.ts';
import { createEvaluator, evaluateLayout, planJob, settleLayout, splitCosts } from './index.ts';
import { peakRate } from './peak-rate.ts';
import { settleCandidate } from './settle-plans.ts';
import { shortSteps } from './short-steps.ts';

function smallJob(sequences = 128) {
  const { cluster } = clusterFromRequest('2x dgx-h100', 'cluster');
  const { model } = modelFromPreset('llama-3.1-8b', 'model');
  if (!cluster || !model) throw new Error('internal: the fixture is broken.');
  return createJob({ name: 'settle', model, cluster, batch: { sequences, length: 2048 } });
}

function candidateOf(request: LayoutRequest) {
  const job = smallJob();
  const { layout } = completeLayout(request, job, splitCosts(job));
  const evaluator = createEvaluator(job);
  return { job, layout, evaluator, candidate: evaluateLayout(evaluator, layout) };
}

describe('settling a layout', () => {
  it('takes a short step for the whole one: within 1 % of simulating all of it', () => {
    for (const request of [
      { tensor: 4, pipeline: 2, microBatch: 1, sharding: 1 },
      { tensor: 2, pipeline: 1, microBatch: 1, sharding: 3 },
      { tensor: 4, pipeline: 2, microBatch: 1, sharding: 1, chunks: 2 },
      { tensor: 4, pipeline: 2, microBatch: 1, sharding: 1, schedule: 'zero-bubble-h1' },
      { tensor: 4, pipeline: 2, microBatch: 1, sharding: 1, schedule: 'zero-bubble-v' },
      { tensor: 4, pipeline: 2, microBatch: 1, sharding: 1, schedule: 'dualpipe' },
    ] as const) {
      const { job, layout, evaluator, candidate } = candidateOf(request);
      const { evaluatedSeconds, simulatedSeconds = 0 } = settleCandidate(evaluator, candidate);
      const whole = settleLayout(job, layout, evaluator.pricesOf(layout));
      expect(whole.aloneSeconds / evaluatedSeconds).toBeCloseTo(1, 9);
      expect(Math.abs(simulatedSeconds / (whole.slowedSeconds ?? 0) - 1)).toBeLessThan(0.01);
    }
  });

  it('says the same, and measures the same, on short steps that both share', () => {
    const { job, evaluator, candidate } = candidateOf({ tensor: 4, pipeline: 2, microBatch: 1, sharding: 1 });
    const peak: PeakRate = (dtype) => peakRate(job, dtype);
    const steps = shortSteps(evaluator, candidate);
    expect(settleCandidate(evaluator, candidate, steps)).toEqual(settleCandidate(evaluator, candidate));
    expect(detailOf(evaluator, candidate, peak, steps)).toEqual(detailOf(evaluator, candidate, peak));
    expect(steps.of(4)).toBe(steps.of(4));
  });

  it('says what each effect adds, from the bound to the step', () => {
    const { job, layout, evaluator } = candidateOf({ tensor: 1, pipeline: 1, microBatch: 1, sharding: 3 });
    const settled = settleLayout(job, layout, evaluator.pricesOf(layout), {
      slowDevices: [{ device: 3, seconds: 1.1 }],
    });
    const rising = [settled.aloneSeconds, settled.sharedSeconds, settled.slowedSeconds, settled.step.seconds];
    expect(rising).toEqual([...rising].sort((one = 0, other = 0) => one - other));
    expect(settled.step.seconds).toBeGreaterThan((settled.slowedSeconds ?? 0) * 1.05);
  });
});

describe('a plan', () => {
  it('searches under a schedule that splits backward, where it is asked for', () => {
    for (const schedule of ['zero-bubble-h1', 'zero-bubble-v', 'dualpipe', 'dualpipe-v'] as const) {
      const job = { ...smallJob(64), layout: { pipeline: 2, microBatch: 1, schedule } };
      const { plans, settled } = planJob(job, { top: 2 });
      expect(plans.map(({ pipeline }) => pipeline.schedule)).toEqual([schedule, schedule]);
      for (const { evaluatedSeconds, simulatedSeconds = 0 } of settled) {
        expect(simulatedSeconds).toBeGreaterThanOrEqual(evaluatedSeconds);
      }
    }
  });

  it('lists its best layouts in the order of the simulator', () => {
    const { plans, settled } = planJob(smallJob(32), { top: 3 });
    expect(plans.length).toBe(settled.length);
    const seconds = settled.map(({ simulatedSeconds = 0 }) => simulatedSeconds);
    expect(seconds).toEqual([...seconds].sort((one, other) => one - other));
    settled.forEach(({ evaluatedSeconds }, index) => {
      expect(plans[index]?.step.seconds).toBe(evaluatedSeconds);
      expect(seconds[index]).toBeGreaterThanOrEqual(evaluatedSeconds);
    });
  });
});
