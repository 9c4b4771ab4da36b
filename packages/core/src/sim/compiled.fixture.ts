/** Compiled programs of small models under many layouts. */
import { clusterFromRequest } from '../cluster/index.ts';
import { compileProgram } from '../compile/index.ts';
import { toyLayout } from '../compile/toy.fixture.ts';
import { createJob, type Job } from '../job/index.ts';
import type { Layout } from '../layout/index.ts';
import { modelFromDimensions } from '../model/index.ts';
import type { ExpandedOperation, Program } from '../program/index.ts';
import type { OperationPrices } from './index.ts';

/** A GPT-2 kind of `layers` with tied embeddings, `sequences` in a step. */
export function smallJob(layers: number, sequences: number, cluster = '2x dgx-h100'): Job {
  const model = modelFromDimensions(
    { kind: 'gpt2', layers, hidden: 32, heads: 4, ffn: 128, vocab: 64, positions: 8 },
    'model',
  ).model;
  const spec = clusterFromRequest(cluster, 'cluster').cluster;
  if (!spec || !model) throw new Error('internal: the fixture is broken.');
  return createJob({ name: 'small', model, cluster: spec, batch: { sequences, length: 8 } });
}

/** A pipeline of equal stages: one layer for each chunk, tensor and data 1. */
export function pipelineProgram(
  schedule: Layout['schedule'],
  stages: number,
  microBatches: number,
  chunks = 1,
): Program {
  const layers = stages * chunks;
  return compileProgram(
    smallJob(layers, microBatches),
    toyLayout({
      tensor: 1,
      data: 1,
      pipeline: stages,
      chunks,
      schedule,
      sharding: 0,
      sequenceParallel: false,
      layersPerStage: Array.from({ length: layers }, () => 1),
    }),
  );
}

/** A forward of a layer takes `forward` seconds in all, a backward `backward`; all else is free. */
export function blockPrices(program: Program, forward: number, backward: number): OperationPrices {
  const count = (name: string): number =>
    program.templates
      .find((template) => template.name === name)
      ?.operations.filter((operation) => operation.kind === 'compute').length ?? 1;
  const forwards = count('F.layer');
  const backwards = count('B.layer');
  return {
    duration: (expanded) => {
      if (!inLayer(expanded, program)) return 0;
      return isBackward(expanded) ? backward / backwards : forward / forwards;
    },
    launchCompute: 0,
    launchExchange: 0,
  };
}

const inLayer = ({ operation, block }: ExpandedOperation, { layers }: Program): boolean =>
  operation.kind === 'compute' && block !== undefined && block >= 0 && block < layers;

const isBackward = ({ operation }: ExpandedOperation): boolean =>
  operation.kind === 'compute' && /\.(dx|dw)$/.test(operation.kernel);
