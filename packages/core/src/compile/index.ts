/** @file Compiles a job under a layout into a step program: a sequence of pure passes. */
import { throwOnErrors } from '../errors/index.ts';
import { batchTokens, type Job } from '../job/index.ts';
import { type Layout, meshOf } from '../layout/index.ts';
import { checkCompiles } from '../model/index.ts';
import type { BufferDeclaration, Group, Program, Template } from '../program/index.ts';
import { scheduleList, shapeOf } from '../schedules/index.ts';
import type { BlockContext } from './context.ts';
import { lowerList } from './lower/list.ts';
import { type Outline, outlineOf } from './outline.ts';
import { endsApart } from './parameters.ts';
import { embedBackward, embedForward } from './templates/ends.ts';
import { headBackward, headForward } from './templates/head.ts';
import { layerTemplates, type Written, written } from './templates/layers.ts';
import { splitBackward } from './templates/split.ts';

/** The templates of a block context and the buffers that they name. */
export interface BlockTemplates {
  readonly templates: readonly Template[];
  readonly buffers: readonly BufferDeclaration[];
  /** Scalars of the period, live throughout. */
  readonly scalars: readonly BufferDeclaration[];
}

/** Throws an InputError for a model whose layers have no operations yet, so that none is compiled as something else. */
export function blockTemplates(context: BlockContext): BlockTemplates {
  throwOnErrors(checkCompiles(context.model));
  const ends = [embedForward, headForward, headBackward, embedBackward].map((write) => written(write, context));
  const all = [...ends, ...layerTemplates(context)]
    .flatMap((each) => withParts(each, context))
    .sort((a, b) => placeOf(a.template) - placeOf(b.template));
  const buffers = new Map(all.flatMap(({ declarations }) => [...declarations]));
  return { templates: all.map(({ template }) => template), buffers: [...buffers.values()], scalars };
}

/** Backward as the schedule takes it: whole, in parts, or both where it takes either in turns. */
function withParts(each: Written, context: BlockContext): readonly Written[] {
  const { template, declarations } = each;
  if (template.direction === 'forward' || context.backward === 'whole') return [each];
  const parts = splitBackward(template, context).map((part) => ({ template: part, declarations }));
  return context.backward === 'split' ? parts : [each, ...parts];
}

/** Forward down the model, then backward up, weight parts behind input parts. */
const placeOf = ({ block, direction, part }: Template): number => {
  const depth = ['embed', 'layer', 'head'].indexOf(block);
  return direction === 'forward' ? depth : 5 - depth + (part === undefined ? 0 : part === 'input' ? 3 : 6);
};

/** The program of one optimizer step of a legal, complete layout. Illegal layouts are the business of `checkLayout`. */
export function compileProgram(job: Job, layout: Layout): Program {
  const outline = outlineOf(job, layout);
  const { templates, buffers } = blockTemplates(outline.context);
  const shape = shapeOf(layout, outline.microBatches);
  return {
    schema: 'meshwright.program/1',
    name: job.name,
    mesh: meshOf(outline.layout),
    groups: groupsOf(outline),
    layers: outline.layers,
    microBatches: outline.microBatches,
    lossScale: 1 / batchTokens(job.batch),
    optimizer: job.optimizer,
    buffers: [...buffers, ...scalars],
    templates,
    lists: outline.stages.map((stage) => lowerList(outline, stage, scheduleList(shape, stage.stage))),
  };
}

/** First and last stage share the tied matrix. */
const groupsOf = ({ job, layout, context }: Outline): readonly Group[] => [
  ...(job.model.tied && endsApart(layout)
    ? [{ name: 'ends', along: 'pipeline' as const, coordinates: [0, layout.pipeline - 1] }]
    : []),
  ...contextGroupsOf(context),
];

/** Groups that the templates and the data axis name where context ranks share sequences; none where there are none. */
export function contextGroupsOf({ data, context, contextKind, contextHeads }: BlockContext): readonly Group[] {
  if (context === 1) return [];
  const upTo = (count: number, step = 1): readonly number[] => Array.from({ length: count }, (_, at) => at * step);
  const replicas: Group = { name: 'replicas', along: 'data', coordinates: upTo(data), joint: ['context'] };
  if (contextKind !== 'hybrid') return [replicas];
  return [
    replicas,
    { name: 'context.heads', along: 'context', coordinates: upTo(contextHeads), repeats: true },
    { name: 'context.ring', along: 'context', coordinates: upTo(context / contextHeads, contextHeads), repeats: true },
  ];
}

/** Loss and its seed, sum of squares, clip factor and learning rate. They live throughout: nobody frees a scalar. */
const scalars: readonly BufferDeclaration[] = [
  { name: 'loss', role: 'scratch', dtype: 'fp32', dims: [], scope: 'period', resident: true },
  { name: 'q', role: 'scratch', dtype: 'fp32', dims: [], scope: 'period', resident: true },
  { name: 'k', role: 'scratch', dtype: 'fp32', dims: [], scope: 'period', resident: true },
  { name: 'scale', role: 'input', dtype: 'fp32', dims: [], scope: 'period', resident: true },
  { name: 'lr', role: 'input', dtype: 'fp32', dims: [], scope: 'period', resident: true },
];

export { type BlockContext, backwardOf, blockContext, expertGridOf, microBatches } from './context.ts';
export {
  type ActivationBytes,
  activationsByLaw,
  bytesByLaw,
  type LawLine,
  type Piece,
  type StageBytes,
  type StateBytes,
  stateByLaw,
  statePerParameter,
} from './laws/index.ts';
export { containers, isSharded, optimizerTensors, reducesEachMicroBatch, sumsOverEnds } from './lower/containers.ts';
export { blocksOfInvocation, type UnitRuns, unitRuns, unitsOf } from './lower/runs.ts';
export { sumsNormOver } from './lower/tail.ts';
export { type ChunkOutline, chunksOf, type Outline, outlineOf, type StageOutline } from './outline.ts';
export {
  type BucketPlan,
  endsApart,
  type ParameterCounts,
  paddedParts,
  parameterCounts,
  planBuckets,
  replicaAxes,
  replicasOfBucket,
  sampleBuckets,
} from './parameters.ts';
export { templateOf } from './templates/layers.ts';
export { partsOf } from './templates/split.ts';
