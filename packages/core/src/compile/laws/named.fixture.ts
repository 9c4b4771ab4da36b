/** @file Models and layouts that people know, on DGX H100. */
import { clusterFromRequest } from '../../cluster/index.ts';
import { createJob, type Job, type JobInput } from '../../job/index.ts';
import { completeLayout, equalCosts, type Layout, type LayoutRequest } from '../../layout/index.ts';
import { modelFromPreset, type PresetName } from '../../model/index.ts';
import type { Program } from '../../program/index.ts';
import { localElements } from '../../tensor/index.ts';
import { compileProgram } from '../index.ts';

/** A preset on `nodes` nodes of 8. */
export function namedJob(preset: PresetName, nodes: number, input: Partial<JobInput> = {}): Job {
  const { cluster } = clusterFromRequest(`${nodes}x dgx-h100`, 'cluster');
  const { model } = modelFromPreset(preset, 'model');
  if (!cluster || !model) throw new Error('internal: the fixture is broken.');
  return createJob({ model, cluster, batch: { sequences: 64, length: 1024 }, ...input });
}

/** The complete layout of a request, which has to be legal. */
export function legalLayout(job: Job, request: LayoutRequest): Layout {
  const { layout, issues } = completeLayout(request, job, equalCosts(job.model.layers.length));
  const wrong = issues.filter(({ severity }) => severity === 'error').map(({ message }) => message);
  if (wrong.length > 0) throw new Error(`internal: the fixture is illegal: ${wrong.join(' ')}`);
  return layout;
}

export const compileNamed = (job: Job, request: LayoutRequest): Program =>
  compileProgram(job, legalLayout(job, request));

/** Parameters over the ranks of one data group, each where a program counts it. */
export function countedParameters(program: Program, tensor: number): number {
  const ranks = Array.from({ length: tensor }, (_, rank) => rank);
  const ways = (axis: string): number => (axis === 'tensor' ? tensor : 1);
  let sum = 0;
  for (const { pipeline, buckets } of program.lists) {
    for (const { dims, counted } of buckets.flatMap(({ views }) => views)) {
      const holders = ranks.filter((rank) =>
        counted.every(({ axis, coordinate }) => coordinate === (axis === 'tensor' ? rank : pipeline)),
      );
      sum += holders.length * localElements(dims, ways);
    }
  }
  return sum;
}
