import { describe, expect, it } from 'vitest';
import { clusterFromRequest } from '../../cluster/index.ts';
import { compileProgram } from '../../compile/index.ts';
import { createJob, type Job } from '../../job/index.ts';
import { completeLayout, equalCosts, type LayoutRequest } from '../../layout/index.ts';
import { memoryOf } from '../../memory/index.ts';
import { modelFromDimensions } from '../../model/index.ts';
import { pricesOf, simulateProgram } from '../../sim/index.ts';
import { createEvaluator, evaluateStep } from './index.ts';

export function job(layers: number, sequences: number, kind: string, gpus: string, tied = true): Job {
  const cluster = clusterFromRequest(gpus, 'cluster').cluster;
  const model = modelFromDimensions(
    {
      kind,
      layers,
      hidden: 512,
      heads: 8,
      ffn: 2048,
      vocab: 4096,
      positions: 256,
      ...(kind === 'llama' && { kvHeads: 4, tied }),
    },
    'model',
  ).model;
  if (!cluster || !model) throw new Error('fixture');
  return createJob({ name: 't', model, cluster, batch: { sequences, length: 256 } });
}

const cases: [string, number, number, string, LayoutRequest][] = [
  ['one', 3, 4, 'gpt2', { tensor: 1, pipeline: 1, data: 1 }],
  ['tp', 3, 4, 'gpt2', { tensor: 2, pipeline: 1, data: 1, sequenceParallel: false }],
  ['tp sp', 3, 4, 'llama', { tensor: 2, pipeline: 1, data: 1 }],
  ['ddp', 3, 8, 'gpt2', { tensor: 1, pipeline: 1, data: 2, sharding: 0, bucketMB: 1 }],
  ['zero1', 3, 8, 'llama', { tensor: 1, pipeline: 1, data: 4, sharding: 1, bucketMB: 1 }],
  ['zero2', 3, 8, 'gpt2', { tensor: 2, pipeline: 1, data: 2, sharding: 2, bucketMB: 7 }],
  ['zero3', 3, 8, 'gpt2', { tensor: 1, pipeline: 1, data: 2, sharding: 3, prefetch: 1 }],
  ['zero3 p0', 5, 32, 'llama', { tensor: 2, pipeline: 1, data: 2, sharding: 3, prefetch: 0 }],
  ['pp', 4, 8, 'gpt2', { tensor: 1, pipeline: 2, data: 1 }],
  ['pp4', 8, 64, 'llama', { tensor: 1, pipeline: 4, data: 1 }],
  ['pp4 gpipe', 8, 64, 'llama', { tensor: 1, pipeline: 4, data: 1, schedule: 'gpipe' }],
  ['pp4 naive', 8, 64, 'llama', { tensor: 1, pipeline: 4, data: 1, schedule: 'naive' }],
  ['pp2 v2', 8, 64, 'gpt2', { tensor: 1, pipeline: 2, data: 1, chunks: 2 }],
  ['3d', 8, 64, 'gpt2', { tensor: 2, pipeline: 2, data: 2, sharding: 1, bucketMB: 1 }],
  ['3d zero2', 8, 64, 'gpt2', { tensor: 2, pipeline: 2, data: 2, sharding: 2, bucketMB: 1 }],
  ['3d zero3', 8, 64, 'gpt2', { tensor: 2, pipeline: 2, data: 2, sharding: 3, prefetch: 2 }],
  ['3d zero3 v2', 8, 64, 'llama', { tensor: 1, pipeline: 2, data: 2, chunks: 2, sharding: 3, prefetch: 1 }],
  ['full', 8, 64, 'llama', { tensor: 2, pipeline: 2, data: 2, recompute: 'full', sharding: 3 }],
];

describe('block level against operation level', () => {
  it.each(cases)('%s', (_, layers, sequences, kind, request) => {
    const gpus = (request.tensor ?? 1) * (request.pipeline ?? 1) * (request.data ?? 1);
    const each = job(layers, sequences, kind, gpus === 1 ? '1x dgx-h100' : '1x dgx-h100');
    const { layout, issues } = completeLayout(request, each, equalCosts(layers));
    const evaluator = createEvaluator(each);
    if (layout === undefined) throw new Error(JSON.stringify(issues));
    const order = evaluator.orderOf(layout);
    const evaluation = evaluateStep(evaluator.specOf(layout), order);
    const program = compileProgram(each, layout);
    const step = simulateProgram(program, pricesOf(program, evaluator.pricesOf(layout)));
    const memory = memoryOf(program);
    expect({
      m: [...evaluation.peakBytes],
      ratio: Math.abs(evaluation.seconds / step.seconds - 1) < 1e-9 ? 1 : evaluation.seconds / step.seconds,
    }).toEqual({ m: memory.lists.map((list) => list.peakBytes), ratio: 1 });
  });
});
