/** @file State and kept activations of one rank, in closed form (docs/sources.md, Laws). Computed from the model's
 * dimensions and the layout only.
 */
import { computeType, type Job } from '../../job/index.ts';
import { type Layout, recomputeOfLayers } from '../../layout/index.ts';
import { bytesOf } from '../../tensor/index.ts';
import { type Piece, paddedSizes, piecesByLaw } from './sizes.ts';

/** Bytes of weights, gradients and optimizer state. */
export interface StateBytes {
  readonly weights: number;
  readonly gradients: number;
  readonly optimizer: number;
}

type StateJob = Pick<Job, 'precision' | 'optimizer'>;
type StateLayout = Pick<Layout, 'sharding' | 'data' | 'replicate' | 'gradientType' | 'gradientReduction' | 'offload'>;

/** Bytes of state per parameter of a rank's share of the model.
 *
 * Mixed-precision Adam with bf16 gradients 2 + 2 + 12 = 16, with fp32 gradients 18; fp32 training 4 + 4 + 8 = 16. ZeRO-1
 * 4 + 12/N, ZeRO-2 2 + 14/N, ZeRO-3 16/N. Gradients that are reduced once a step stay whole between micro-batches, beside
 * their shard: g more. N are the ranks of a set of shards; sets that repeat each other hold the same. State in host memory takes none. Source: docs/sources.md, Laws, "State"; [rajbhandari2020].
 */
export function statePerParameter(job: StateJob, layout: StateLayout): StateBytes {
  const { sharding, gradientReduction } = layout;
  const data = layout.data / layout.replicate;
  const gradient = bytesOf(layout.gradientType);
  const whole = sharding < 2 || (gradientReduction === 'per-step' && data > 1) ? gradient : 0;
  const cut = sharding >= 2 ? gradient / data : 0;
  return {
    weights: bytesOf(computeType(job.precision)) / (sharding === 3 ? data : 1),
    gradients: whole + cut,
    optimizer: layout.offload === 'optimizer' ? 0 : (4 * stateTensors(job)) / (sharding > 0 ? data : 1),
  };
}

/** Bytes of a frozen parameter of a rank's share of the model: its weight, which sharding 3 cuts. */
export const frozenPerParameter = (
  job: Pick<StateJob, 'precision'>,
  { sharding, data, replicate }: Pick<StateLayout, 'sharding' | 'data' | 'replicate'>,
): number => bytesOf(computeType(job.precision)) / (sharding === 3 ? data / replicate : 1);

/** Moments, and a master where the weights have 16 bits; each of 4 bytes. */
const stateTensors = ({ optimizer, precision }: StateJob): number =>
  (optimizer === 'adamw' ? 2 : 1) + (precision === 'fp32' ? 0 : 1);

/** Bytes in host memory, and over the link to it in a step, per parameter that a rank updates: its gradient goes out, new weights
 * come back, and both are kept beside the state. Nothing where the device updates. */
export function hostPerParameter(
  job: StateJob,
  { offload, gradientType }: Pick<Layout, 'offload' | 'gradientType'>,
): { readonly kept: number; readonly copied: number } {
  if (offload !== 'optimizer') return { kept: 0, copied: 0 };
  const copied = bytesOf(gradientType) + bytesOf(computeType(job.precision));
  return { kept: copied + 4 * stateTensors(job), copied };
}

/** State of one rank of a stage, padding included; `pieces` as in `bytesByLaw`. */
export function stateByLaw(
  job: Job,
  layout: Layout,
  stage: number,
  pieces: readonly Piece[] = piecesByLaw(job, layout, stage),
): StateBytes {
  const each = statePerParameter(job, layout);
  const elements = pieces.reduce((sum, piece) => {
    const { summed, rest } = paddedSizes(piece, layout);
    return sum + summed + rest;
  }, 0);
  const ways = layout.data / layout.replicate;
  // Divided last, in whole numbers: elements are a multiple of the data ranks where they are cut.
  const bytes = (perParameter: number): number => (Math.round(perParameter * ways) * elements) / ways;
  return { weights: bytes(each.weights), gradients: bytes(each.gradients), optimizer: bytes(each.optimizer) };
}

/** What a layer keeps from its forward to its backward, for one micro-batch on one rank. */
export interface ActivationBytes {
  /** Tensors in the type of the weights, and masks of one byte. */
  readonly tensors: number;
  /** Named extras that the laws leave out: statistics of norms and of blockwise attention, and what a router chose. */
  readonly statistics: number;
}

/** Kept activations of one layer: s b h (34 + 5 a s/h) for the GPT kind with 4 h, dropout and unfused attention alone.
 *
 * On the sequence shard: inputs of both norms and their outputs, 4 h, and two masks, 10 s b h (/t with sequence
 * parallelism; outputs of norms stay whole where gathered inputs are kept). Cut by tensor: query, key, value and the
 * attention's output, input and output of the activation function, 24 s b h / t. Scores: probabilities, their dropout and
 * its mask, 5 a s^2 b / t, none under selective recomputation or blockwise attention; without dropout 32, 8 + 24/t, and
 * 2 a s^2 b / t. Full recomputation: the input, 2 s b h. Gated feed-forwards keep 3 f in place of 2 f. Experts keep that
 * for each of the k that a token visits, and their routed input and output, 2 k h, whole.
 * Source: docs/sources.md, Laws, "Activations"; [korthikanti2022].
 */
export function activationsByLaw(job: Job, layout: Layout, index = 0): ActivationBytes {
  const layer = job.model.layers[index];
  if (layer === undefined) return { tensors: 0, statistics: 0 };
  const { hidden: h, norm } = job.model;
  const { tensor: t } = layout;
  const w = bytesOf(computeType(job.precision));
  const s = job.batch.length;
  const tokens = s * layout.microBatch;
  const sequenceParallel = layout.sequenceParallel && t > 1;
  const shard = sequenceParallel ? tokens / t : tokens;
  const recompute = recomputeOfLayers(layout, job.model.layers.length)[index];
  if (recompute === 'full') return { tensors: shard * h * w, statistics: 0 };
  const { attention, ffn } = layer;
  const { dropout } = job.kernels;
  const flash = job.kernels.attention === 'flash';
  const query = attention.heads * attention.headSize;
  const keyValue = attention.kvHeads * attention.headSize;
  const visits = ffn.kind === 'moe' ? ffn.topK : 1;
  const gathered = sequenceParallel && layout.keepGathered ? 2 * h : 0;
  const onShard = (4 * h - gathered) * w + (dropout > 0 ? 2 * h : 0);
  const whole = (gathered + (ffn.kind === 'moe' ? 2 * visits * h : 0)) * w;
  const cut = (2 * query + 2 * keyValue + visits * (ffn.gated ? 3 : 2) * ffn.width) * w;
  const score = flash || recompute === 'selective' ? 0 : dropout > 0 ? 2 * w + 1 : w;
  return {
    tensors: shard * onShard + tokens * whole + (tokens * cut) / t + (tokens * s * attention.heads * score) / t,
    statistics:
      shard * 2 * (norm === 'layernorm' ? 2 : 1) * 4 +
      (flash ? (tokens * attention.heads * 4) / t : 0) +
      (ffn.kind === 'moe' ? tokens * visits * 8 : 0),
  };
}
