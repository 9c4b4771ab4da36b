import { describe, expect, it } from 'vitest';
import { InputError } from '../../errors/index.ts';
import { layoutSpace } from '../../layout/index.ts';
import { createEvaluator } from '../evaluate/index.ts';
import { type Planned, type PlanOptions, planJob } from '../index.ts';
import { evaluateLayout } from '../search.ts';
import { splitCosts } from '../split-costs.ts';
import { smallJob } from './jobs.fixture.ts';

const priced = { preset: 'dgx-a100', nodes: 2, pricePerGpuHour: 3 };
const refusal = (options: PlanOptions): string => {
  try {
    planJob(smallJob('1x dgx-a100'), options);
    return 'nothing';
  } catch (error) {
    if (error instanceof InputError) return error.issues.map(({ code, path }) => `${code} ${path}`).join();
    throw error;
  }
};
const bestGpuSeconds = ({ sizes = [] }: Planned): number =>
  Math.min(...sizes.filter(({ verdict }) => verdict === 'fits').map(({ amounts }) => amounts?.gpuSeconds ?? 0));

describe('objectives', { timeout: 60_000 }, () => {
  it('memory finds the least bytes on the fullest GPU in a step of at most 1.25 times the fastest, and of these the fastest', () => {
    const job = smallJob('1x pcie-8x-a100');
    const evaluator = createEvaluator(job);
    const every = [...layoutSpace(job, {}, splitCosts(job)).layouts()].map((each) => evaluateLayout(evaluator, each));
    const fitting = every.filter(({ verdict }) => verdict === 'fits');
    const fastest = Math.min(...fitting.map(({ evaluation }) => evaluation.seconds));
    const all = fitting.filter(({ evaluation }) => evaluation.seconds <= 1.25 * fastest);
    expect(all.length).toBeLessThan(fitting.length);
    const least = Math.min(...all.map((each) => each.deviceBytes));
    const seconds = Math.min(
      ...all.filter((each) => each.deviceBytes === least).map((each) => each.evaluation.seconds),
    );
    const { plans, objective, slowestSeconds } = planJob(job, { objective: 'memory', top: 1 });
    expect(objective).toBe('memory');
    expect(slowestSeconds).toBe(1.25 * fastest);
    expect(Math.max(...(plans[0]?.memory.stages ?? []).map((stage) => stage.deviceBytes))).toBe(least);
    expect(plans[0]?.step.seconds).toBe(seconds);
  });

  it('cost finds the size that takes the least GPU time, and prices it', () => {
    const job = smallJob(priced);
    const planned = planJob(job, { objective: 'cost', top: 1 });
    const { gpuSeconds = 0, cost, costPerBillionTokens = 0 } = planned.amounts ?? {};
    expect(gpuSeconds).toBe(bestGpuSeconds(planned));
    expect(cost).toBeCloseTo((gpuSeconds / 3600) * 3, 12);
    expect(costPerBillionTokens * (64 * 1024)).toBeCloseTo((cost ?? 0) * 1e9, 3);
    expect(planned.sizes?.map(({ gpus }) => gpus)).toEqual([1, 2, 4, 8, 16]);
  });

  it('takes a price that is given over that of the cluster', () => {
    expect(planJob(smallJob(priced), { objective: 'cost', top: 1, pricePerGpuHour: 6 }).amounts?.cost).toBeCloseTo(
      2 * (planJob(smallJob(priced), { objective: 'cost', top: 1 }).amounts?.cost ?? 0),
      12,
    );
  });

  it('energy counts the rated power of the devices and says where it is from', () => {
    const planned = planJob(smallJob('2x dgx-a100'), { objective: 'energy', top: 1 });
    const { gpuSeconds = 0, joules, watts } = planned.amounts ?? {};
    expect(watts?.value).toBe(400);
    expect(watts?.source).not.toBe('');
    expect(joules).toBe(gpuSeconds * 400);
    expect(gpuSeconds).toBe(bestGpuSeconds(planned));
  });

  it('gpus is the smallest cluster', () => {
    const planned = planJob(smallJob('2x dgx-a100'), { objective: 'gpus', top: 1 });
    expect(planned.plans[0]?.gpus).toBe(1);
    expect(planned.plans[0]?.layout.short).toBe(
      planJob(smallJob('2x dgx-a100'), { gpus: 'min' }).plans[0]?.layout.short,
    );
  });

  it('without what they need are refused', () => {
    expect(refusal({ objective: 'cost' })).toBe('KEY_MISSING cluster.pricePerGpuHour');
    expect(refusal({ objective: 'cost', pricePerGpuHour: 1, gpus: 8 })).toBe('OPTIONS_CONTRADICT --gpus');
    expect(refusal({ gpus: 12 })).toBe('NODE_NOT_WHOLE --gpus');
  });
});
