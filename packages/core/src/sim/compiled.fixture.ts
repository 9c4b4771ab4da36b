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

/** Seconds of the parts of a pass through a layer. */
export interface PartSeconds {
  readonly forward: number;
  readonly input: number;
  readonly weight: number;
}

/** A forward of a layer takes `forward` seconds in all, the parts of its backward `input` and `weight`, whether they stand
 * in one template or in two; all else is free.
 */
export function partPrices(program: Program, seconds: PartSeconds): OperationPrices {
  const [forward, input, weight] = (['F.layer', 'I.layer', 'W.layer'] as const).map((name) => countOf(program, name));
  const whole = countOf(program, 'B.layer');
  const templateOf = new Map(
    program.lists.flatMap((list) =>
      list.items.flatMap((item) =>
        item.kind === 'call' ? [[`${list.pipeline} ${item.id}`, item.template] as const] : [],
      ),
    ),
  );
  return {
    duration: (expanded, list) => {
      if (!inLayer(expanded, program)) return 0;
      switch (templateOf.get(`${list.pipeline} ${expanded.item}`)) {
        case 'F.layer':
          return seconds.forward / (forward ?? 1);
        case 'I.layer':
          return seconds.input / (input ?? 1);
        case 'W.layer':
          return seconds.weight / (weight ?? 1);
        default:
          return (seconds.input + seconds.weight) / whole;
      }
    },
    launchCompute: 0,
    launchExchange: 0,
  };
}

/** Compute operations of a template; 1 where there is none. */
const countOf = (program: Program, name: string): number =>
  program.templates
    .find((template) => template.name === name)
    ?.operations.filter((operation) => operation.kind === 'compute').length ?? 1;

/** A forward of a layer takes `forward` seconds in all, a backward `backward`; all else is free. */
export function blockPrices(program: Program, forward: number, backward: number): OperationPrices {
  const forwards = countOf(program, 'F.layer');
  const backwards = countOf(program, 'B.layer');
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
