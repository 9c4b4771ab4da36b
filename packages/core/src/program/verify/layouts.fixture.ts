/** @file Small jobs and legal layouts of every kind, for properties over compiled programs. */
import fc from 'fast-check';
import { clusterFromRequest } from '../../cluster/index.ts';
import { compileProgram } from '../../compile/index.ts';
import { toyLayout } from '../../compile/toy.fixture.ts';
import { createJob, type Job } from '../../job/index.ts';
import { checkLayout, type Layout, normalizeLayout } from '../../layout/index.ts';
import { type ModelDimensions, modelFromDimensions } from '../../model/index.ts';
import type { Program } from '../index.ts';

const models: Readonly<Record<'gpt2' | 'llama' | 'mixtral', ModelDimensions>> = {
  gpt2: { kind: 'gpt2', layers: 4, hidden: 8, heads: 2, ffn: 32, vocab: 16, positions: 4 },
  llama: { kind: 'llama', layers: 4, hidden: 8, heads: 4, kvHeads: 2, ffn: 24, vocab: 16 },
  mixtral: { kind: 'mixtral', layers: 4, hidden: 8, heads: 4, kvHeads: 2, ffn: 16, vocab: 16, experts: 4, topK: 2 },
};

function smallJob(kind: keyof typeof models, attention: 'flash' | 'unfused', dropout: number): Job {
  const { cluster } = clusterFromRequest('1x dgx-h100', 'cluster');
  const { model } = modelFromDimensions(models[kind], 'model');
  if (!cluster || !model) throw new Error('internal: the fixture is broken.');
  const batch = { sequences: 8, length: 4 };
  return createJob({ name: kind, model, cluster, batch, kernels: { attention, dropout } });
}

const stages: readonly Partial<Layout>[] = [
  { pipeline: 1, chunks: 1, schedule: 'none', layersPerStage: [4] },
  { pipeline: 2, chunks: 1, schedule: '1f1b', layersPerStage: [2, 2] },
  { pipeline: 2, chunks: 1, schedule: 'gpipe', layersPerStage: [3, 1] },
  { pipeline: 2, chunks: 2, schedule: 'interleaved-1f1b', layersPerStage: [1, 1, 1, 1] },
  { pipeline: 4, chunks: 1, schedule: '1f1b', layersPerStage: [1, 1, 1, 1] },
];

const layouts: fc.Arbitrary<Layout> = fc
  .tuple(
    fc.constantFrom(...stages),
    fc.record<Partial<Layout>>({
      tensor: fc.constantFrom(1, 2),
      data: fc.constantFrom(1, 2, 4),
      replicate: fc.constantFrom(1, 1, 2),
      sharding: fc.constantFrom(0, 1, 2, 3),
      sequenceParallel: fc.boolean(),
      recompute: fc.constantFrom('none', 'selective', 'full'),
      gradientReduction: fc.constantFrom('per-step', 'per-micro-batch'),
      keepGathered: fc.boolean(),
      prefetch: fc.constantFrom(0, 1, 2),
      reshard: fc.boolean(),
      lossChunks: fc.constantFrom(1, 1, 2),
      bucketMB: fc.constantFrom(0.001, 25),
    }),
  )
  .map(([stage, rest]) => toyLayout({ ...stage, ...rest }));

/** Compiled programs of legal layouts; the number of GPUs is whatever the degrees make it. */
export const compiledPrograms: fc.Arbitrary<{ readonly layout: Layout; readonly program: Program }> = fc
  .tuple(
    fc.constantFrom('gpt2', 'llama', 'mixtral'),
    fc.constantFrom<['flash' | 'unfused', number]>(['flash', 0], ['flash', 0.1], ['unfused', 0.1]),
    layouts,
  )
  .map(([kind, kernels, layout]) => {
    const job = smallJob(kind, ...kernels);
    return { job, layout: normalizeLayout(job, layout) };
  })
  .filter(({ job, layout }) => checkLayout(job, layout).every(({ code }) => code === 'DEGREES_NOT_GPUS'))
  .map(({ job, layout }) => ({ layout, program: compileProgram(job, layout) }));
