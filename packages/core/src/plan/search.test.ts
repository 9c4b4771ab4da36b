import { describe, expect, it } from 'vitest';
import { clusterFromRequest } from '../cluster/index.ts';
import { createJob, type Job } from '../job/index.ts';
import { layoutSpace } from '../layout/index.ts';
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

  it('keeps layouts that fit only with luck apart, and counts them', () => {
    const { best, atRisk, rejected } = searchLayouts(jobOf('1x rtx-workstation', 8192), { top: 3 });
    expect(atRisk.length).toBeGreaterThan(0);
    expect(atRisk.every((each) => each.verdict === 'at-risk')).toBe(true);
    expect(best.every((each) => each.verdict === 'fits')).toBe(true);
    expect(rejected.MEMORY_AT_RISK).toBe(atRisk.length);
  });
});
