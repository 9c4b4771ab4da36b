import { clusterFromRequest } from '../cluster/index.ts';
import { createJob, type Job } from '../job/index.ts';
import type { Layout } from '../layout/index.ts';
import { defaultOrder } from '../mesh/index.ts';
import { modelFromDimensions } from '../model/index.ts';
import type { Item } from '../program/index.ts';

/** The job of the worked example: GPT-2 kind, 2 layers, hidden 8, 4 sequences of 4 tokens. */
export function toyJob(): Job {
  const { cluster } = clusterFromRequest('1x dgx-h100', 'cluster');
  const model = modelFromDimensions(
    { kind: 'gpt2', layers: 2, hidden: 8, heads: 2, ffn: 32, vocab: 16, positions: 4 },
    'model',
  ).model;
  if (!cluster || !model) throw new Error('internal: the fixture is broken.');
  return createJob({ name: 'toy', model, cluster, batch: { sequences: 4, length: 4 } });
}

/** 2 x 2 x 2 with ZeRO-1, sequence parallelism and 1F1B. */
export const toyLayout = (changes: Partial<Layout> = {}): Layout => ({
  tensor: 2,
  pipeline: 2,
  data: 2,
  context: 1,
  contextKind: 'ring',
  expert: 1,
  expertTensor: changes.tensor ?? 2,
  sharding: 1,
  prefetch: 1,
  reshard: true,
  replicate: 1,
  layers: [],
  offload: 'none',
  lossChunks: 1,
  bucketMB: 25,
  gradientType: 'fp32',
  gradientReduction: 'per-step',
  overlap: ['data', 'parameters', 'pipeline'],
  microBatch: 1,
  chunks: 1,
  layersPerStage: [1, 1],
  schedule: '1f1b',
  recompute: 'none',
  sequenceParallel: true,
  keepGathered: false,
  order: defaultOrder,
  ...changes,
});

/** A line of a list as program-example.md writes it: number, what it does, and the lines whose end it needs. */
export function lineOf(item: Item): string {
  const needs = item.needs.length > 0 ? ['needs', ...item.needs] : [];
  if (item.kind === 'call') {
    const blocks = item.first === item.last ? item.first : `${item.first}..${item.last}`;
    return [item.id, `${item.template}[${blocks},${item.microBatch}]`, ...needs].join(' ');
  }
  const { operation } = item;
  const what =
    operation.kind === 'collective'
      ? operation.collective
      : operation.kind === 'compute'
        ? operation.kernel
        : operation.kind;
  const writes = operation.writes.map(({ buffer }) => buffer);
  return [item.id, operation.lane, what, ...operation.reads, '->', ...writes, ...needs].join(' ');
}
