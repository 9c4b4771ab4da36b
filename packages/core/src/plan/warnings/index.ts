/** @file The pitfalls of the field as warnings, each with its threshold, the number here, and what to do. */
import { type Issue, warning } from '../../errors/index.ts';
import type { Job } from '../../job/index.ts';
import { type Layout, microBatchesOf, replicasOf } from '../../layout/index.ts';
import { formatShare } from '../../units/index.ts';
import { enoughMicroBatches, thresholds } from '../thresholds.ts';
import type { Judged } from './judged.ts';
import { latencyWarnings } from './latency.ts';
import { linkWarnings } from './links.ts';
import { hostWarnings, memoryWarnings, unitWarnings } from './memory.ts';

export function warningsOf(judged: Judged): readonly Issue[] {
  const { job, layout, shares, prices } = judged;
  return [
    ...pipelineWarnings(job, layout, shares.bubble),
    ...linkWarnings(job.cluster, layout, prices),
    ...dataWarnings(layout, shares.data),
    ...latencyWarnings(judged),
    ...unitWarnings(judged),
    ...memoryWarnings(judged),
    ...hostWarnings(judged),
  ];
}

function pipelineWarnings(job: Job, layout: Layout, bubble: number): readonly Issue[] {
  const issues: Issue[] = [];
  if (layout.pipeline === 1) return issues;
  const microBatches = microBatchesOf(job, layout);
  const enough = enoughMicroBatches(layout.pipeline);
  if (bubble > thresholds.bubbleShare) {
    const what = `the bubble is ${formatShare(bubble)} of the step, above ${formatShare(thresholds.bubbleShare)}.`;
    const fix = 'Use more micro-batches, more chunks or fewer stages.';
    issues.push(warning('BUBBLE_OVER_10_PERCENT', 'layout.pipeline', what, fix, { bubbleShare: bubble }));
  }
  if (microBatches < enough) {
    const what = `${microBatches} micro-batches are fewer than ${thresholds.microBatchesPerStage} x ${layout.pipeline} stages = ${enough}.`;
    const fix = 'Use a smaller micro-batch, a larger batch or fewer stages.';
    issues.push(warning('FEW_MICRO_BATCHES', 'layout.microBatch', what, fix, { microBatches, enough }));
  }
  return issues;
}

function dataWarnings(layout: Layout, exposed: number): readonly Issue[] {
  if (replicasOf(layout) === 1 || exposed <= thresholds.dataShare) return [];
  const what = `exchanges of the data axis are waited for during ${formatShare(exposed)} of the step, above ${formatShare(thresholds.dataShare)}.`;
  const beside = layout.overlap.includes('data') ? '' : 'let reductions run beside backward (overlap), ';
  const fix = `Use a larger batch, ${beside}fewer data ranks or less sharding.`;
  return [warning('DATA_SYNC_EXPOSED', 'layout.data', what, fix, { exposedShare: exposed })];
}
