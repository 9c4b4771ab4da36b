/** @file The pitfalls of the field as warnings, each with its threshold, the number here, and what to do. */
import { capacityBytes } from '../cluster/index.ts';
import type { Prices } from '../cost/index.ts';
import { type Issue, warning } from '../errors/index.ts';
import type { Job } from '../job/index.ts';
import { type Layout, microBatchesOf } from '../layout/index.ts';
import { bytes, formatBytes, formatShare } from '../units/index.ts';
import type { ShownStage } from './show.ts';

export function warningsOf(
  job: Job,
  layout: Layout,
  shares: { readonly bubble: number; readonly data: number },
  prices: Prices,
  stages: readonly ShownStage[],
): readonly Issue[] {
  return [
    ...pipelineWarnings(job, layout, shares.bubble),
    ...linkWarnings(layout, prices),
    ...dataWarnings(layout, shares.data),
    ...memoryWarnings(stages, capacityBytes(job.cluster)),
  ];
}

function pipelineWarnings(job: Job, layout: Layout, bubble: number): readonly Issue[] {
  const issues: Issue[] = [];
  if (layout.pipeline === 1) return issues;
  const count = microBatchesOf(job, layout);
  if (bubble > 0.1) {
    const what = `the bubble is ${formatShare(bubble)} of the step, above 10 %.`;
    const fix = 'Use more micro-batches, more chunks or fewer stages.';
    issues.push(warning('BUBBLE_OVER_10_PERCENT', 'layout.pipeline', what, fix, { bubbleShare: bubble }));
  }
  if (count < 4 * layout.pipeline) {
    const what = `${count} micro-batches are fewer than 4 x ${layout.pipeline} stages.`;
    const fix = 'Use a smaller micro-batch, a larger batch or fewer stages.';
    issues.push(warning('FEW_MICRO_BATCHES', 'layout.microBatch', what, fix, { microBatches: count }));
  }
  return issues;
}

function linkWarnings(layout: Layout, prices: Prices): readonly Issue[] {
  if (layout.tensor === 1) return [];
  const { tier, name } = prices.linkOf(['tensor']);
  if (tier === 'inter') {
    const what = `a tensor group of ${layout.tensor} ranks reaches over ${name}.`;
    return [warning('TENSOR_CROSSES_NODE', 'layout.tensor', what, 'Keep tensor groups inside a node.')];
  }
  if (tier === 'pcie' && layout.tensor > 2) {
    const what = `a tensor group of ${layout.tensor} ranks exchanges over ${name}, more than 2.`;
    return [warning('TENSOR_ON_PCIE', 'layout.tensor', what, 'Use 2 or 1, or GPUs with a faster link.')];
  }
  return [];
}

function dataWarnings(layout: Layout, exposed: number): readonly Issue[] {
  const issues: Issue[] = [];
  if (layout.data > 1 && exposed > 0.1) {
    const what = `exchanges of the data axis are waited for during ${formatShare(exposed)} of the step, above 10 %.`;
    const fix = 'Use a larger batch, fewer data ranks or less sharding.';
    issues.push(warning('DATA_SYNC_EXPOSED', 'layout.data', what, fix, { exposedShare: exposed }));
  }
  return issues;
}

function memoryWarnings(stages: readonly ShownStage[], capacity: number): readonly Issue[] {
  const devices = stages.map((stage) => stage.deviceBytes);
  const most = Math.max(...devices);
  const least = Math.min(...devices);
  const issues: Issue[] = [];
  const over = stages.some((stage) => stage.verdict === 'does-not-fit');
  if (over || stages.some((stage) => stage.verdict === 'at-risk')) {
    const relation = over ? 'more than' : 'too near to';
    const what = `the fullest stage needs ${formatBytes(bytes(most))}, ${relation} the ${formatBytes(bytes(capacity))} of a device.`;
    const fix = 'Split more, shard more or recompute.';
    issues.push(warning(over ? 'OUT_OF_MEMORY' : 'MEMORY_AT_RISK', 'layout', what, fix));
  }
  if (stages.length > 1 && least <= 0.6 * most) {
    const what = `the fullest stage holds ${(most / least).toFixed(1)} times the memory of the emptiest.`;
    const fix = 'Move layers, or recompute on the full stages only.';
    issues.push(warning('STAGES_UNBALANCED', 'layout.layersPerStage', what, fix));
  }
  return issues;
}
