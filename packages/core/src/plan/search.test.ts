import { describe, expect, it } from 'vitest';
import { clusterFromRequest } from '../cluster/index.ts';
import { createJob, type Job } from '../job/index.ts';
import { formatLayout, layoutSpace } from '../layout/index.ts';
import { modelFromDimensions } from '../model/index.ts';
import { createEvaluator } from './evaluate/index.ts';
import { type Candidate, evaluateLayout, searchLayouts } from './search.ts';
import { splitCosts } from './split-costs.ts';

function jobOf(cluster: string, hidden: number): Job {
  const found = clusterFromRequest(cluster, 'cluster').cluster;
  const dimensions = { kind: 'llama', layers: 4, hidden, heads: 16, ffn: 4 * hidden, vocab: 32000 };
  const { model } = modelFromDimensions(dimensions, 'model');
  if (!found || !model) throw new Error('internal: the fixture is broken.');
  return createJob({ name: 'searched', model, cluster: found, batch: { sequences: 16, length: 1024 } });
}

function mixtureJob(): Job {
  const { cluster } = clusterFromRequest('1x dgx-h100', 'cluster');
  const dimensions = { kind: 'mixtral', layers: 4, hidden: 512, heads: 8, kvHeads: 8, ffn: 512, vocab: 32000 } as const;
  const { model } = modelFromDimensions({ ...dimensions, experts: 8, topK: 2 }, 'model');
  if (!cluster || !model) throw new Error('internal: the fixture is broken.');
  return createJob({ name: 'mixture', model, cluster, batch: { sequences: 8, length: 32_768 } });
}

/** Every legal layout of a job, evaluated. */
function evaluateAll(job: Job): readonly Candidate[] {
  const evaluator = createEvaluator(job);
  return [...layoutSpace(job, {}, splitCosts(job)).layouts()].map((layout) => evaluateLayout(evaluator, layout));
}

const splitOf = ({ layout }: Candidate): string => `${layout.tensor} ${layout.pipeline} ${layout.data}`;

/** Seconds of the fastest layout that fits of each split, fastest first. */
function bestOfSplits(candidates: readonly Candidate[]): readonly number[] {
  const best = new Map<string, number>();
  for (const each of candidates) {
    if (each.verdict !== 'fits') continue;
    best.set(splitOf(each), Math.min(best.get(splitOf(each)) ?? Number.POSITIVE_INFINITY, each.evaluation.seconds));
  }
  return [...best.values()].sort((a, b) => a - b);
}

describe('the search', () => {
  it.each([
    ['1x dgx-a100', 1024],
    ['1x pcie-8x-a100', 1024],
    ['1x rtx-workstation', 6144],
  ])('finds the best layout of each split that evaluating every layout finds: %s, width %i', (cluster, hidden) => {
    const job = jobOf(cluster, hidden);
    const all = evaluateAll(job);
    const found = searchLayouts(job, { top: 3 });
    expect(found.best.map((each) => each.evaluation.seconds)).toEqual(bestOfSplits(all).slice(0, 3));
    expect(found.legal).toBe(all.length);
    expect(found.evaluated).toBeLessThan(all.length);
  });

  it('finds them too when it drops what can no longer win before all is bounded', () => {
    const job = jobOf('1x dgx-a100', 1024);
    const once = searchLayouts(job, { top: 3 });
    const early = searchLayouts(job, { top: 3, held: 16 });
    expect(early.best.map(({ layout }) => layout)).toEqual(once.best.map(({ layout }) => layout));
    expect(early.legal).toBe(once.legal);
    expect(early.evaluated).toBeGreaterThanOrEqual(once.evaluated);
  });

  it('ranks with one evaluator as with one for each layout: experts over their own grid, sequences over context ranks', () => {
    const job = mixtureJob();
    const layouts = [...layoutSpace(job, {}, splitCosts(job)).layouts()];
    const every = Math.ceil(layouts.length / 120);
    const some = layouts.filter((_, index) => index % every === 0);
    const grids = new Set(some.map(({ expert, expertTensor, context }) => `${expert} ${expertTensor} ${context}`));
    expect(grids.size).toBeGreaterThan(4);
    const shared = createEvaluator(job);
    for (const layout of some) {
      const alone = evaluateLayout(createEvaluator(job), layout).evaluation;
      const { seconds, peakBytes } = evaluateLayout(shared, layout).evaluation;
      expect([formatLayout(layout), seconds, ...peakBytes]).toEqual([
        formatLayout(layout),
        alone.seconds,
        ...alone.peakBytes,
      ]);
    }
  });

  it('keeps layouts that fit only with luck apart, and counts them', () => {
    const { best, atRisk, rejected } = searchLayouts(jobOf('1x rtx-workstation', 8192), { top: 3 });
    expect(atRisk.length).toBeGreaterThan(0);
    expect(atRisk.every((each) => each.verdict === 'at-risk')).toBe(true);
    expect(best.every((each) => each.verdict === 'fits')).toBe(true);
    expect(rejected.MEMORY_AT_RISK).toBe(atRisk.length);
  });
});
