/** @file Generated jobs with legal layouts: every kind of model, all degrees, shardings and schedules, small enough that a
 * hundred of them compile in a second.
 */
import fc from 'fast-check';
import { clusterFromRequest } from '../../cluster/index.ts';
import { createJob, type Job } from '../../job/index.ts';
import { checkLayout, type Layout, normalizeLayout, overlapKinds } from '../../layout/index.ts';
import { overrideDraws, overridesFor } from '../../layout/overrides.fixture.ts';
import { defaultOrder } from '../../mesh/index.ts';
import { type LayerSpec, type ModelDimensions, type ModelSpec, modelFromDimensions } from '../../model/index.ts';
import type { Program } from '../../program/index.ts';
import { localElements } from '../../tensor/index.ts';
import { gathersByLaw, type Piece } from './index.ts';

/** A job and a legal layout of it, in normal form. */
export interface Case {
  readonly job: Job;
  readonly layout: Layout;
}

const counts = (max: number): fc.Arbitrary<number> => fc.integer({ min: 1, max });

/** What a case is made from: small numbers, so that a counterexample shrinks. */
const draws = fc.record({
  kind: fc.constantFrom<ModelDimensions['kind'] | 'mixed'>('gpt2', 'llama', 'mixtral', 'mixed'),
  tied: fc.boolean(),
  biases: fc.boolean(),
  sizes: fc.tuple(counts(4), counts(4), counts(4), counts(4), counts(2), counts(2)),
  experts: fc.tuple(counts(3), counts(2)),
  tensor: fc.constantFrom(1, 2, 4),
  pipeline: counts(4),
  data: counts(4),
  sets: counts(3),
  offload: fc.constantFrom<Layout['offload']>('none', 'none', 'optimizer'),
  chunks: counts(3),
  layers: fc.array(counts(2), { minLength: 12, maxLength: 12 }),
  groups: counts(3),
  microBatch: counts(2),
  flat: fc.constantFrom<Layout['schedule']>('1f1b', 'gpipe', 'naive', 'zero-bubble-h1', 'zero-bubble-h2', 'dualpipe'),
  folded: fc.constantFrom<Layout['schedule']>('interleaved-1f1b', 'zero-bubble-v', 'dualpipe-v'),
  sharding: fc.constantFrom<Layout['sharding']>(0, 1, 2, 3),
  eachStep: fc.boolean(),
  prefetch: fc.nat({ max: 2 }),
  reshard: fc.boolean(),
  lossChunks: fc.constantFrom(1, 2, 4),
  bucketMB: fc.constantFrom(25, 0.001, 0.000_01),
  gradientType: fc.constantFrom<Layout['gradientType']>('bf16', 'fp32'),
  overlap: fc.constantFrom<Layout['overlap']>(overlapKinds, overlapKinds, ['data', 'pipeline'], ['pipeline']),
  recompute: fc.constantFrom<Layout['recompute']>('none', 'selective', 'full'),
  others: overrideDraws,
  sequenceParallel: fc.boolean(),
  keepGathered: fc.boolean(),
  precision: fc.constantFrom<Job['precision']>('bf16', 'fp32'),
  optimizer: fc.constantFrom<Job['optimizer']>('adamw', 'sgd'),
  attention: fc.constantFrom<Job['kernels']['attention']>('flash', 'unfused'),
  dropout: fc.constantFrom(0, 0.1),
});
type Draw = typeof draws extends fc.Arbitrary<infer Value> ? Value : never;

/** Cases in which every piece of every size divides by all that cuts it (`even`), or just what legality asks (`padded`). */
export const cases = (sizes: 'even' | 'padded'): fc.Arbitrary<Case> =>
  draws.map((draw) => {
    const dimensions = dimensionsOf(draw, sizes === 'even');
    const job = jobOf(draw, modelOf(draw.kind, dimensions), sizes === 'even');
    const layout = normalizeLayout(job, layoutOf(draw));
    const text = () => JSON.stringify({ dimensions, batch: job.batch, kernels: job.kernels, layout });
    return { job, layout, [fc.toStringMethod]: text };
  });

/** What is wrong with a generated layout; the number of GPUs is nobody's business here. */
export const faultsOf = ({ job, layout }: Case): readonly string[] =>
  checkLayout(job, layout)
    .filter(({ code }) => code !== 'DEGREES_NOT_GPUS')
    .map(({ message }) => message);

const layersOf = (draw: Draw): number =>
  draw.layers.slice(0, draw.pipeline * chunksOf(draw)).reduce((sum, count) => sum + count, 0);

const chunksOf = ({ pipeline, chunks }: Draw): number => (pipeline > 1 ? chunks : 1);

function dimensionsOf(draw: Draw, even: boolean): ModelDimensions {
  const { kind, tensor, data, biases, experts } = draw;
  const [hidden, ffn, vocab, , kvHeads, perGroup] = draw.sizes;
  const unit = even ? 2 * tensor * data : tensor;
  const layers = layersOf(draw);
  return {
    kind: kind === 'mixed' ? 'mixtral' : kind,
    layers,
    hidden: unit * hidden,
    heads: tensor * kvHeads * perGroup,
    kvHeads: tensor * kvHeads,
    headSize: even ? 2 * data : 2,
    ffn: unit * ffn,
    vocab: tensor * vocab,
    positions: 64,
    tied: draw.tied,
    ...((kind === 'mixtral' || kind === 'mixed') && { experts: experts[0] + experts[1] - 1, topK: experts[1] }),
    ...(kind === 'llama' && { qkvBias: biases, outBias: biases, mlpBias: biases }),
  };
}

/** The model of the dimensions; `mixed`: experts in every other layer only, under names that have both. */
function modelOf(kind: Draw['kind'], dimensions: ModelDimensions): ModelSpec {
  const { model } = modelFromDimensions(dimensions, 'model');
  if (!model) throw new Error(`internal: the generator makes models that are refused: ${dimensions.kind}.`);
  if (kind !== 'mixed') return model;
  const layers = model.layers.map((layer, index): LayerSpec => {
    const { width, gated, activation } = layer.ffn;
    return index % 2 === 1 ? layer : { ...layer, ffn: { kind: 'dense', width, gated, activation, bias: false } };
  });
  return { ...model, kind: 'deepseek', layers };
}

function jobOf(draw: Draw, model: ModelSpec, even: boolean): Job {
  const { cluster } = clusterFromRequest('1x dgx-h100', 'cluster');
  if (!cluster) throw new Error('internal: the fixture is broken.');
  const { tensor, data, microBatch, precision, optimizer, attention, dropout } = draw;
  const tokens = draw.lossChunks * draw.sizes[3] * (even || draw.sequenceParallel ? tensor : 1);
  const batch = { sequences: data * microBatch * microBatchesOf(draw), length: tokens };
  return createJob({ model, cluster, batch, precision, optimizer, kernels: { attention, dropout } });
}

function microBatchesOf(draw: Draw): number {
  if (scheduleOf(draw) === 'dualpipe') return 2 * draw.pipeline + 2 * (draw.groups - 1);
  return chunksOf(draw) > 1 ? draw.pipeline * draw.groups : draw.groups;
}

/** Two chunks may fold; DualPipe takes an even number of stages, and DualPipeV twice as many micro-batches as there are
 * stages. */
function scheduleOf(draw: Draw): Layout['schedule'] {
  if (draw.pipeline === 1) return 'none';
  const chunks = chunksOf(draw);
  if (chunks === 1) return draw.flat === 'dualpipe' && draw.pipeline % 2 === 1 ? '1f1b' : draw.flat;
  if (chunks > 2 || (draw.folded === 'dualpipe-v' && draw.groups < 2)) return 'interleaved-1f1b';
  return draw.folded;
}

function layoutOf(draw: Draw): Layout {
  const { pipeline, sharding, tensor } = draw;
  const chunks = chunksOf(draw);
  return {
    tensor,
    pipeline,
    data: draw.data,
    replicate: draw.data % draw.sets === 0 ? draw.sets : 1,
    offload: draw.offload,
    context: 1,
    contextKind: 'ring',
    expert: 1,
    expertTensor: tensor,
    sharding,
    prefetch: draw.prefetch,
    reshard: draw.reshard,
    lossChunks: draw.lossChunks,
    bucketMB: draw.bucketMB,
    gradientType: draw.gradientType,
    gradientReduction: sharding >= 2 && !draw.eachStep ? 'per-micro-batch' : 'per-step',
    overlap: draw.overlap,
    microBatch: draw.microBatch,
    chunks,
    layersPerStage: draw.layers.slice(0, pipeline * chunks),
    schedule: scheduleOf(draw),
    recompute: draw.recompute,
    layers: overridesFor(draw.others, layersOf(draw)),
    sequenceParallel: draw.sequenceParallel && tensor > 1,
    keepGathered: draw.keepGathered,
    order: defaultOrder,
  };
}

/** The buckets of each stage of a program as pieces of the laws, without their padding. */
export const bucketPieces =
  (program: Program, { job, layout }: Case) =>
  (stage: number): readonly Piece[] => {
    const gathers = layout.sharding === 3 ? gathersByLaw(job, layout, stage) : () => 0;
    const ends = (program.lists[stage]?.items ?? []).flatMap((item) =>
      item.kind === 'call' && /embed|head/.test(item.template) ? [item.first] : [],
    );
    return (program.lists[stage]?.buckets ?? []).map((bucket): Piece => {
      const tied = bucket.name === 'tied';
      const blocks = new Set(tied ? ends : bucket.views.map((view) => view.block));
      const summed = bucket.views
        .filter((view) => view.offset < bucket.summed)
        .reduce((sum, { dims }) => sum + localElements(dims, (axis) => (axis === 'tensor' ? layout.tensor : 1)), 0);
      return {
        summed,
        rest: bucket.elements - summed,
        tied,
        gathers: [...blocks].reduce((sum, block) => sum + gathers(block), 0),
      };
    });
  };
