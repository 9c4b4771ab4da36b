import { describe, expect, it } from 'vitest';
import { clusterFromRequest } from '../cluster/index.ts';
import { createJob, type FrameworkName } from '../job/index.ts';
import { completeLayout } from '../layout/index.ts';
import { modelFromPreset } from '../model/index.ts';
import { splitCosts } from '../plan/index.ts';
import { type LayoutPrice, leastGivenUp } from './lightest.ts';

const GB = 1e9;

function given(framework: FrameworkName, preset: string, pipeline: number) {
  const { cluster } = clusterFromRequest(preset, 'cluster');
  const { model } = modelFromPreset('llama-3.1-70b', 'model');
  if (!cluster || !model) throw new Error('internal: the fixture is broken.');
  const job = createJob({ model, cluster, batch: { sequences: 128, length: 8192 }, framework });
  const { layout } = completeLayout({ pipeline, sharding: pipeline === 1 ? 3 : 1 }, job, splitCosts(job));
  return { job, layout };
}

const price = (deviceGB: number, seconds: number): LayoutPrice => ({
  seconds,
  allocatedBytes: (deviceGB - 3) * GB,
  deviceBytes: deviceGB * GB,
});

describe('what a run gave up where nobody says', () => {
  it('is nothing where all of it fits', () => {
    const { job, layout } = given('fsdp', '8x dgx-h100', 1);
    expect(leastGivenUp(job, layout, price(80, 10), price(40, 13))).toBeUndefined();
  });
  it('is the smallest share of the layers with which it fits', () => {
    const { job, layout } = given('fsdp', '8x dgx-h100', 1);
    const least = leastGivenUp(job, layout, price(100, 10), price(40, 13));
    expect(least).toMatchObject({ share: 3 / 8, by: 'recompute', waits: 0 });
    expect(least?.assumed).toContain('not stated; the least that fits');
  });
  it('is nothing where not even full recomputation fits: the run is said not to fit', () => {
    const { job, layout } = given('fsdp', '8x dgx-h100', 1);
    expect(leastGivenUp(job, layout, price(200, 10), price(120, 13))).toBeUndefined();
  });
  it('is copied to the host where recipes do so and the copies cost less than the work', () => {
    const { job, layout } = given('nemo', '16x gb200-nvl72', 1);
    expect(leastGivenUp(job, layout, price(250, 10), price(100, 13))?.by).toBe('offload');
    expect(leastGivenUp(job, layout, price(250, 0.1), price(100, 0.101))?.by).toBe('recompute');
  });
  it('is made again where layers are spread over stages', () => {
    const { job, layout } = given('nemo', '16x gb200-nvl72', 4);
    expect(leastGivenUp(job, layout, price(250, 10), price(100, 13))?.by).toBe('recompute');
  });
});
