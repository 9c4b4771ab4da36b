import { describe, expect, it } from 'vitest';
import { clusterFromRequest } from '../cluster/index.ts';
import type { FrameworkName } from '../frameworks/index.ts';
import { createJob } from '../job/index.ts';
import { checkLayout, type LayoutRequest, recomputeOfLayers } from '../layout/index.ts';
import { modelFromPreset } from '../model/index.ts';
import { withFewerRecomputed } from './per-layer.ts';
import { planJob } from './plan-job.ts';
import { searchLayouts } from './search.ts';

/** A job whose layers do not all fit with what they keep. */
function jobOf(layout: LayoutRequest, framework: FrameworkName = 'meshwright', length = 8192) {
  const { cluster } = clusterFromRequest('2x dgx-a100', 'cluster');
  const { model } = modelFromPreset('llama-2-13b', 'model');
  if (!cluster || !model) throw new Error('internal: the fixture is broken.');
  return createJob({ name: 'some', model, cluster, framework, batch: { sequences: 16, length }, layout });
}

/** Keeps too much of 20,480 tokens unless it recomputes. */
const tight: LayoutRequest = { tensor: 2, pipeline: 4, data: 2, sharding: 1, microBatch: 1, schedule: '1f1b' };

const requests: readonly LayoutRequest[] = [
  { tensor: 2, pipeline: 4, chunks: 1 },
  { tensor: 1, pipeline: 1 },
  { tensor: 4, pipeline: 2, sharding: 1, microBatch: 2 },
];

describe('recomputation of some layers', () => {
  it.each(requests)('is never slower than that of all or none, and fits: %j', (request) => {
    const job = jobOf(request);
    const uniform = searchLayouts(job, { top: 2 });
    const [before] = uniform.best;
    const [after] = withFewerRecomputed(job, uniform, 2).best;
    expect(before).toBeDefined();
    expect(after?.verdict).toBe('fits');
    expect(after?.evaluation.seconds).toBeLessThanOrEqual(before?.evaluation.seconds ?? 0);
    expect(after && checkLayout(job, after.layout).filter(({ severity }) => severity === 'error')).toEqual([]);
  });
  it('gains where all layers had to be recomputed, and more on the stages that keep less', () => {
    const job = jobOf(tight, 'meshwright', 20_480);
    const uniform = searchLayouts(job, { top: 1 });
    const found = withFewerRecomputed(job, uniform, 1);
    const [before] = uniform.best;
    const [after] = found.best;
    expect(before?.layout.recompute).toBe('full');
    expect(after?.evaluation.seconds).toBeLessThan(before?.evaluation.seconds ?? 0);
    expect(found.proven).toBe(false);
    const each = after ? recomputeOfLayers(after.layout, 40) : [];
    const counts = [0, 1, 2, 3].map(
      (stage) => each.slice(stage * 10, stage * 10 + 10).filter((kind) => kind === 'full').length,
    );
    // Earlier stages keep more micro-batches.
    expect(counts).toEqual([...counts].sort((a, b) => b - a));
  });
  it('is one number for all stages in Megatron-LM', () => {
    const job = jobOf(tight, 'megatron', 20_480);
    const [after] = withFewerRecomputed(job, searchLayouts(job, { top: 1 }), 1).best;
    const each = after ? recomputeOfLayers(after.layout, 40) : [];
    expect(after?.layout.layers).not.toEqual([]);
    const stages = [0, 1, 2, 3].map((stage) => each.slice(stage * 10, stage * 10 + 10).join());
    expect(new Set(stages).size).toBe(1);
  });
  it('is asked for by the plan, which otherwise recomputes all layers alike', () => {
    const job = jobOf(tight, 'meshwright', 20_480);
    const [alike] = planJob(job, { top: 1 }).plans;
    const [some] = planJob(job, { top: 1, perLayer: true }).plans;
    expect(alike?.layout.layers).toEqual([]);
    expect(some?.layout.short).toMatch(/layers=\d+-\d+:/);
    expect(some?.step.seconds).toBeLessThan(alike?.step.seconds ?? 0);
  });
});
