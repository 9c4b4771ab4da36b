/** @file The lesson "eight GPUs, five layouts": one model, 16 sequences, two nodes of four GPUs, and the layouts that split
 * them in one way each. Only requests stand here; what happens in a step is compiled from them.
 */
import { type ClusterSpec, clusterFromRequest } from '@meshwright/core/cluster';
import { compileProgram } from '@meshwright/core/compile';
import { InputError } from '@meshwright/core/errors';
import { createJob, type Job } from '@meshwright/core/job';
import { completeLayout, equalCosts, type Layout, type LayoutRequest } from '@meshwright/core/layout';
import {
  countParameters,
  type ModelResult,
  type ModelSpec,
  modelFromDimensions,
  modelFromPreset,
} from '@meshwright/core/model';
import type { Program } from '@meshwright/core/program';
import { scriptOptionsOf } from './law.ts';
import { type StepScript, stepScript } from './script.ts';

/** One layout of the lesson. */
export interface Lesson {
  readonly key: LessonKey;
  /** `FSDP`. */
  readonly short: string;
  readonly name: string;
  readonly request: LayoutRequest;
}

export type LessonKey = 'data' | 'sharded' | 'tensor' | 'pipeline' | 'three-axes' | 'context' | 'expert';

/** The layouts in the order of the lesson. `sharded` takes ZeRO-1, 2 or 3 as well: see {@link lessonLayout}. */
export const lessons: readonly Lesson[] = [
  { key: 'data', short: 'DP', name: 'data parallel (DDP)', request: { data: 8, sharding: 0, microBatch: 2 } },
  { key: 'sharded', short: 'FSDP', name: 'sharded data', request: { data: 8, sharding: 3, microBatch: 2 } },
  { key: 'tensor', short: 'TP', name: '8-way tensor over two nodes', request: { tensor: 8, microBatch: 16 } },
  { key: 'pipeline', short: 'PP', name: 'pipeline of 8 stages', request: { pipeline: 8, microBatch: 1 } },
  {
    key: 'three-axes',
    short: '3D',
    name: 'tensor 2, data 2, pipeline 2',
    request: { tensor: 2, data: 2, pipeline: 2, sharding: 1, microBatch: 1 },
  },
  { key: 'context', short: 'CP', name: '8-way context over two nodes', request: { context: 8, microBatch: 16 } },
  {
    key: 'expert',
    short: 'EP',
    name: 'experts, one of each layer on each GPU',
    request: { data: 8, expert: 8, sharding: 1, microBatch: 2 },
  },
];

/** Models of the lesson: a toy of eight layers, and real sizes. */
export const lessonModels = ['toy', 'llama-2-7b', 'llama-2-13b'] as const;
export type LessonModel = (typeof lessonModels)[number];

const SEQUENCES = 16;
const toy = { name: 'toy', kind: 'gpt2', layers: 8, hidden: 64, heads: 8, vocab: 512, positions: 32, tied: false };
const toyExperts = {
  name: 'toy',
  kind: 'mixtral',
  layers: 8,
  hidden: 64,
  heads: 8,
  kvHeads: 8,
  ffn: 64,
  vocab: 512,
  experts: 8,
  topK: 2,
  tied: false,
};

/** A scene of the lesson. */
export interface LessonScene {
  readonly job: Job;
  readonly layout: Layout;
  readonly script: StepScript;
}

/** Compiles and tells one layout of the lesson. `sharding` changes what the data ranks of `sharded` share out. */
export function lessonScene(key: LessonKey, model: LessonModel = 'toy', sharding?: 1 | 2 | 3): LessonScene {
  const { job, layout, program } = lessonProgram(key, model, sharding);
  return { job, layout, script: stepScript(program, job.cluster, scriptOptionsOf(job, layout)) };
}

/** Compiles one layout of the lesson. */
export function lessonProgram(
  key: LessonKey,
  model: LessonModel = 'toy',
  sharding?: 1 | 2 | 3,
): Omit<LessonScene, 'script'> & { readonly program: Program } {
  const job = lessonJob(model, key);
  const lesson = lessons.find((each) => each.key === key) as Lesson;
  const request = {
    ...lesson.request,
    bucketMB: bucketOf(job.model),
    ...(key === 'sharded' && sharding !== undefined && { sharding }),
  };
  const { layout, issues } = completeLayout(request, job, equalCosts(job.model.layers.length));
  if (issues.some(({ severity }) => severity === 'error')) throw new InputError(issues);
  return { job, layout, program: compileProgram(job, layout) };
}

/** Eight H100 in two nodes of four, 16 sequences a step. The lesson of experts has models with eight experts. */
export function lessonJob(name: LessonModel, key?: LessonKey): Job {
  const { model, issues } = modelOf(name, key === 'expert');
  if (!model) throw new InputError(issues);
  return createJob({
    name: model.name,
    model,
    cluster: lessonCluster(),
    batch: { sequences: SEQUENCES, length: name === 'toy' ? 32 : 4096 },
  });
}

const modelOf = (name: LessonModel, experts: boolean): ModelResult => {
  if (name === 'toy') return modelFromDimensions(experts ? toyExperts : toy, 'model');
  return modelFromPreset(experts ? 'mixtral-8x7b' : name, 'model');
};

function lessonCluster(): ClusterSpec {
  const { cluster, issues } = clusterFromRequest({ preset: 'dgx-h100', nodes: 2, gpusPerNode: 4 }, 'cluster');
  if (!cluster) throw new InputError(issues);
  return cluster;
}

/** About eight buckets, so that the sums of gradients can be followed one by one. */
const bucketOf = (model: ModelSpec): number => (countParameters(model).total * 2) / 8e6;
