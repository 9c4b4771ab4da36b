/** @file Programs of one rank whose kernels, on several shapes, stand for what small models do on a machine. */
import { clusterFromRequest } from '@meshwright/core/cluster';
import { compileProgram } from '@meshwright/core/compile';
import { createJob, type Job } from '@meshwright/core/job';
import { completeLayout } from '@meshwright/core/layout';
import { type ModelDimensions, modelFromDimensions } from '@meshwright/core/model';
import { splitCosts } from '@meshwright/core/plan';
import type { Program } from '@meshwright/core/program';

interface Probe {
  readonly dimensions: ModelDimensions;
  readonly length: number;
  readonly microBatch: number;
  readonly optimizer: Job['optimizer'];
}

const gpt = (hidden: number, heads: number): ModelDimensions => ({
  ...{ kind: 'gpt2', layers: 2, hidden, heads, ffn: 4 * hidden, vocab: 256, positions: 256 },
});
const llama = (hidden: number, heads: number): ModelDimensions => ({
  ...{ kind: 'llama', layers: 2, hidden, heads, kvHeads: heads / 2, ffn: 2 * hidden, vocab: 512 },
});
const mixtral = (hidden: number): ModelDimensions => ({
  ...llama(hidden, 4),
  ...{ kind: 'mixtral', ffn: hidden, experts: 4, topK: 2 },
});

const probes: readonly Probe[] = [
  { dimensions: gpt(48, 4), length: 32, microBatch: 1, optimizer: 'adamw' },
  { dimensions: gpt(96, 4), length: 64, microBatch: 2, optimizer: 'sgd' },
  { dimensions: gpt(160, 4), length: 64, microBatch: 4, optimizer: 'adamw' },
  { dimensions: gpt(288, 8), length: 128, microBatch: 2, optimizer: 'adamw' },
  { dimensions: gpt(512, 8), length: 128, microBatch: 1, optimizer: 'sgd' },
  { dimensions: llama(64, 4), length: 64, microBatch: 1, optimizer: 'adamw' },
  { dimensions: llama(128, 4), length: 128, microBatch: 1, optimizer: 'sgd' },
  { dimensions: llama(256, 8), length: 256, microBatch: 1, optimizer: 'adamw' },
  { dimensions: mixtral(64), length: 64, microBatch: 1, optimizer: 'sgd' },
  { dimensions: mixtral(128), length: 128, microBatch: 1, optimizer: 'adamw' },
];

/** Two micro-batches each, in fp32. */
export const calibrationPrograms = (): readonly Program[] => probes.map(programOf);

function programOf({ dimensions, length, microBatch, optimizer }: Probe): Program {
  const { model, issues } = modelFromDimensions(dimensions, 'model');
  const { cluster } = clusterFromRequest({ preset: 'dgx-h100', nodes: 1, gpusPerNode: 1 }, 'cluster');
  if (!model || !cluster) throw new Error(`internal: ${issues[0]?.message}`);
  const batch = { sequences: 2 * microBatch, length };
  const job = createJob({
    ...{ name: `${dimensions.kind} of width ${dimensions.hidden}`, model, cluster, batch, optimizer },
    precision: 'fp32',
  });
  return compileProgram(job, completeLayout({ microBatch }, job, splitCosts(job)).layout);
}
