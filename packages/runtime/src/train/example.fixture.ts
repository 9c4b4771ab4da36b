import { clusterFromRequest } from '@meshwright/core/cluster';
import { createJob, type Job } from '@meshwright/core/job';
import { modelFromDimensions } from '@meshwright/core/model';

/** The job of program-example.md: GPT-2 kind, 2 layers, hidden 8, 4 sequences of 4 tokens, bf16. */
export function exampleJob(): Job {
  const { cluster } = clusterFromRequest('1x dgx-h100', 'cluster');
  const dimensions = { kind: 'gpt2', layers: 2, hidden: 8, heads: 2, ffn: 32, vocab: 16, positions: 4 } as const;
  const { model } = modelFromDimensions(dimensions, 'model');
  if (!cluster || !model) throw new Error('internal: the fixture is broken.');
  return createJob({ name: 'toy', model, cluster, batch: { sequences: 4, length: 4 } });
}
