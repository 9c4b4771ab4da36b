/** @file The closed forms that a script is held against: those of core for data, tensor and pipeline, and beside them what
 * context and expert ranks send when nothing is computed twice and the router picks all experts alike.
 */
import { bytesByLaw } from '@meshwright/core/compile';
import { computeType, type Job } from '@meshwright/core/job';
import { hasExpertGrid, type Layout, microBatchesOf } from '@meshwright/core/layout';
import { bytesOf } from '@meshwright/core/tensor';
import type { ScriptOptions } from './script.ts';

/** What a script of a layout is told with: its closed forms, and what its data ranks share out. */
export const scriptOptionsOf = (job: Job, layout: Layout): ScriptOptions => ({
  ...lawOf(job, layout),
  sharding: layout.sharding,
});

/** The closed forms of a layout as an option of a script; none for axes that they do not know. */
function lawOf(job: Job, layout: Layout): ScriptOptions {
  const { context, expert, tensor, pipeline, recompute } = layout;
  if (context === 1 && expert === 1) return { law: bytesByLaw(job, layout) };
  if (tensor * pipeline > 1 || recompute !== 'none' || (context > 1 && expert > 1)) return {};
  const axis = expert > 1 ? 'expert' : 'context';
  const bytes = expert > 1 ? expertBytes(job, layout) : contextBytes(job, layout);
  return bytes === undefined ? {} : { law: [{ stage: 0, lines: [{ axis, bytes }] }], lawAxes: [axis] };
}

/** Every row of a token goes to the rank of its expert and back, forward and backward: 4 (E-1)/E b s k h w a layer and
 * micro-batch, with (E-1)/E of a table of 32-bit counts, experts by ranks, before the first.
 */
function expertBytes(job: Job, layout: Layout): number | undefined {
  const { expert, expertTensor, microBatch } = layout;
  if (!hasExpertGrid(layout) || expertTensor > 1) return undefined;
  const others = (expert - 1) / expert;
  const tokens = microBatch * job.batch.length;
  const value = bytesOf(computeType(job.precision));
  let bytes = 0;
  for (const { ffn } of job.model.layers) {
    if (ffn.kind !== 'moe') continue;
    bytes += others * (4 * tokens * ffn.topK * job.model.hidden * value + expert * ffn.experts * bytesOf('fp32'));
  }
  return bytes * microBatchesOf(job, layout);
}

/** Keys and values go round the ring in C-1 hops forward and again backward; their gradients take C hops home. The loss is
 * one 32-bit number for each of the others.
 */
function contextBytes(job: Job, layout: Layout): number | undefined {
  const { context, contextKind, microBatch } = layout;
  if (contextKind !== 'ring') return undefined;
  const tokens = (microBatch * job.batch.length) / context;
  const value = bytesOf(computeType(job.precision));
  let bytes = 0;
  for (const { attention } of job.model.layers) {
    if (attention.kind === 'latent') return undefined;
    bytes += (3 * context - 2) * 2 * tokens * attention.kvHeads * attention.headSize * value;
  }
  return bytes * microBatchesOf(job, layout) + (context - 1) * bytesOf('fp32');
}
