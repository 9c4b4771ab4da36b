/** @file What one rank sends in a step, in closed form, rule by rule (docs/sources.md, Laws). Computed from the model's
 * dimensions and the layout only; the byte ledger of the compiled program has to give the same numbers, to the byte.
 *
 * Letters: s sequence, b micro-batch, h hidden, V vocabulary, t tensor, N data, p stages, v chunks, m micro-batches
 * of a step, w and g bytes of a weight and of a gradient. A value travels in the type of the weights.
 */
import { computeType, type Job } from '../../job/index.ts';
import { type Layout, recomputeOfLayers } from '../../layout/index.ts';
import type { WhyRule } from '../../program/index.ts';
import { chunksHeld, placementOf } from '../../schedules/index.ts';
import { bytesOf } from '../../tensor/index.ts';
import { microBatches } from '../context.ts';
import { isMirrored } from '../parameters.ts';
import { blocksByLaw, type Piece, paddedSizes, piecesByLaw } from './sizes.ts';

/** Bytes that one rank sends on one axis for one rule. */
export interface LawLine {
  readonly axis: 'tensor' | 'pipeline' | 'data';
  readonly rule: WhyRule;
  readonly bytes: number;
}

/** What one rank of a stage sends in a step; lines of 0 bytes are left out. */
export interface StageBytes {
  readonly stage: number;
  readonly lines: readonly LawLine[];
}

const SCALAR = 4;

/** Values sent in a ring reduce-scatter or all-gather of `count` values, padded to the group: (n-1)/n count. */
const half = (count: number, degree: number): number => (degree - 1) * Math.ceil(count / degree);

/** Values sent in a ring all-reduce: 2 (n-1)/n count. Source: [thakur2005], section 4. */
const ring = (count: number, degree: number): number => 2 * half(count, degree);

/** What the lines of a stage are made of. */
interface Facts {
  readonly job: Job;
  readonly layout: Layout;
  readonly stage: number;
  readonly pieces: readonly Piece[];
  /** Micro-batches that pass a block of this stage: half of them where two copies of the model share them. */
  readonly m: number;
  readonly w: number;
  readonly g: number;
  readonly layers: number;
  /** Of them, those that are run again in whole. */
  readonly recomputed: number;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly sequenceParallel: boolean;
}

/** Bytes sent by one rank of each stage, axis by axis and rule by rule, for a legal layout in normal form.
 *
 * `pieces` says how the parameters of a stage lie; by default {@link piecesByLaw}. How they are cut into buckets matters
 * only where a bucket does not divide and is padded.
 */
export function bytesByLaw(
  job: Job,
  layout: Layout,
  pieces: (stage: number) => readonly Piece[] = (stage) => piecesByLaw(job, layout, stage),
): readonly StageBytes[] {
  const layers = job.model.layers.length;
  const recomputed = recomputeOfLayers(layout, layers);
  return Array.from({ length: layout.pipeline }, (_, stage): StageBytes => {
    const blocks = blocksByLaw(layout, layers, stage).flat();
    const facts: Facts = {
      job,
      layout,
      stage,
      pieces: pieces(stage),
      m: microBatches(job, layout) / (isMirrored(layout) ? 2 : 1),
      w: bytesOf(computeType(job.precision)),
      g: bytesOf(layout.gradientType),
      layers: blocks.filter((block) => block >= 0 && block < layers).length,
      recomputed: blocks.filter((block) => recomputed[block] === 'full').length,
      isFirst: blocks.includes(-1),
      isLast: blocks.includes(layers),
      sequenceParallel: layout.sequenceParallel && layout.tensor > 1,
    };
    const lines = [...tensorLines(facts), ...pipelineLines(facts), ...dataLines(facts)];
    return { stage, lines: lines.filter((line) => line.bytes > 0) };
  });
}

/** Two all-reduces of s b h values forward and two backward per layer and micro-batch, two more when the layer is run
 * again. The embedding and the head have one each. With sequence parallelism each is a reduce-scatter and an all-gather of
 * the same bytes; inputs that are not kept are gathered once more, 1.25 times the bytes (12 units of (t-1)/t s b h under
 * full recomputation, whose gathered inputs are still there, against 10).
 *
 * Loss: three all-reduces of s b fp32 values, in so many pieces as it is taken. Once a step: the gradients of whole parameters that a rank knows in part,
 * as shards where gradients are cut over data by then. Norm: one scalar, sent to each of the others.
 */
function tensorLines(facts: Facts): readonly LawLine[] {
  const { job, layout, m, w, layers, recomputed, isFirst, isLast, sequenceParallel } = facts;
  const { tensor: t, microBatch, keepGathered, lossChunks } = layout;
  if (t === 1) return [];
  const tokens = job.batch.length * microBatch;
  const share = half(tokens * job.model.hidden, t) * w * m;
  const exchanges = 2 * (2 * layers + recomputed) + (isFirst ? 1 : 0) + (isLast ? 1 : 0);
  const again = sequenceParallel && !keepGathered ? 2 * (layers - recomputed) : 0;
  const on = (rule: WhyRule, bytes: number): LawLine => ({ axis: 'tensor', rule, bytes });
  return [
    ...(sequenceParallel
      ? [on('gather-sequence', exchanges * share), on('scatter-partial', exchanges * share)]
      : [on('sum-partial', 2 * exchanges * share)]),
    on('gather-again', again * share),
    on('vocabulary-parallel', isLast ? 3 * lossChunks * ring(tokens / lossChunks, t) * SCALAR * m : 0),
    on('sum-whole-parameters', wholeParameterBytes(facts)),
    on('global-norm', (t - 1) * SCALAR),
  ];
}

/** Sums over tensor, piece by piece: 6 h per GPT layer, 2 h per Llama layer, final norm and positions; routers. */
function wholeParameterBytes({ layout, pieces, g }: Facts): number {
  const { tensor: t, data, replicate, gradientReduction } = layout;
  const cut = layout.sharding >= 2 && gradientReduction === 'per-micro-batch' ? data / replicate : 1;
  const sums = pieces.map((piece) => ring(Math.ceil(paddedSizes(piece, layout).summed / cut), t));
  return sums.reduce((sum, each) => sum + each, 0) * g;
}

/** s b h w forward and back per boundary and micro-batch, p v - 1 boundaries; 1/t with sequence parallelism.
 *
 * Tied embedding: one all-reduce between the ends, V h / t with whole gradients, V h / (t N) with sharded ones. Where the
 * stages fold, both ends are on the first one, and the last one hands over between its chunks: neither is sent. Two copies
 * of the model: all parameters of a stage are summed with its mirror image, as the data axis leaves them.
 */
function pipelineLines(facts: Facts): readonly LawLine[] {
  const { job, layout, stage, pieces, m, w, g, isFirst, isLast, sequenceParallel } = facts;
  const { pipeline: p, tensor, data, replicate, microBatch } = layout;
  const v = chunksHeld(layout);
  if (p === 1) return [];
  const values = job.batch.length * microBatch * job.model.hidden;
  const sent = (values / (sequenceParallel ? tensor : 1)) * w * m;
  const tied = pieces.filter((piece) => piece.tied).reduce((sum, piece) => sum + elementsOf(piece, layout), 0);
  const shard = layout.sharding >= 2 ? tied / (data / replicate) : tied;
  const placement = placementOf(layout.schedule);
  const turns = placement === 'fold' && stage === p - 1 ? 1 : 0;
  const held = (piece: Piece): number => elementsOf(piece, layout) / (layout.sharding > 0 ? data / replicate : 1);
  const copies = pieces.reduce((sum, piece) => sum + ring(held(piece), 2), 0);
  const on = (rule: WhyRule, bytes: number): LawLine => ({ axis: 'pipeline', rule, bytes });
  return [
    on('next-stage', (v - (isLast ? 1 : 0) - turns) * sent),
    on('previous-stage', (v - (isFirst ? 1 : 0) - turns) * sent),
    on('sum-tied', placement === 'line' ? ring(shard, 2) * g : 0),
    on('sum-copies', placement === 'mirror' ? copies * g : 0),
    on('global-norm', (p - 1) * SCALAR),
    on('mean-loss', placement === 'mirror' && isLast ? SCALAR : 0),
  ];
}

/** DDP: an all-reduce, 2 (N-1)/N Psi g. ZeRO-1 and -2: reduce-scatter (N-1)/N Psi g and all-gather (N-1)/N Psi w, the same
 * when g = w and gradients are reduced once. ZeRO-3: one all-gather of (N-1)/N unit w for each run. Gradients that are cut
 * between micro-batches are scattered for each: m (N-1)/N Psi g.
 *
 * Hybrid sharding: N are the ranks of a set of shards, and R sets repeat each other: once a step an all-reduce of the
 * shards, 2 (R-1)/R Psi g / N.
 *
 * Norm: one scalar where data cuts parameters. Loss: one over all data ranks, on the stage that has it.
 */
function dataLines({ layout, pieces, m, w, g, isLast }: Facts): readonly LawLine[] {
  const { data, replicate: r, sharding } = layout;
  const n = data / r;
  if (data === 1) return [];
  const total = (count: (piece: Piece) => number): number => pieces.reduce((sum, piece) => sum + count(piece), 0);
  const share = total((piece) => half(elementsOf(piece, layout), n));
  const each = sharding >= 2 && layout.gradientReduction === 'per-micro-batch';
  // Both ends of two copies of the model make gradients of a tied matrix, each for its half of the micro-batches.
  const times = ({ tied }: Piece): number => (sharding === 0 ? 2 : each ? (tied && isMirrored(layout) ? 2 * m : m) : 1);
  const gathered = total((piece) => piece.gathers * half(elementsOf(piece, layout), n));
  const on = (rule: WhyRule, bytes: number): LawLine => ({ axis: 'data', rule, bytes });
  return [
    on('reduce-gradient', total((piece) => times(piece) * half(elementsOf(piece, layout), n)) * g),
    on('sum-sets', total((piece) => ring(elementsOf(piece, layout) / n, r)) * g),
    on('gather-updated', sharding === 1 || sharding === 2 ? share * w : 0),
    on('gather-unit', sharding === 3 ? gathered * w : 0),
    on('global-norm', sharding > 0 ? (n - 1) * SCALAR : 0),
    on('mean-loss', isLast ? (data - 1) * SCALAR : 0),
  ];
}

function elementsOf(piece: Piece, layout: Layout): number {
  const { summed, rest } = paddedSizes(piece, layout);
  return summed + rest;
}
