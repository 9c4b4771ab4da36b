/** @file What the flow reads of a job before it tries a layout, and the state law with this job's coefficients. */
import { type ClusterSpec, capacityBytes, gpuCount } from '../cluster/index.ts';
import { frozenPerParameter, statePerParameter } from '../compile/index.ts';
import { computeType, type Job } from '../job/index.ts';
import { completeLayout, equalCosts, type Layout, type Sharding } from '../layout/index.ts';
import { countParameters } from '../model/index.ts';
import { bytesOf } from '../tensor/index.ts';

/** Numbers of a job that no layout changes. */
export interface Facts {
  readonly job: Job;
  /** Parameters of the model, adapters among them. */
  readonly parameters: number;
  /** Psi: those that are trained; and F: those that are frozen, which have weights only. */
  readonly trained: number;
  readonly frozen: number;
  /** Parameters of one layer. */
  readonly layerParameters: number;
  /** Bytes of a weight, of a gradient, and of the optimizer for each parameter: w, g, o. */
  readonly weight: number;
  readonly gradient: number;
  readonly optimizer: number;
  /** A layout with defaults for all keys; gradient type as the job says. */
  readonly plain: Layout;
  readonly gpus: number;
  readonly capacityBytes: number;
  /** Most ranks of a tensor group that stays on fast links. */
  readonly fastRanks: number;
}

export function factsOf(job: Job): Facts {
  const { total, trainable, perLayer } = countParameters(job.model);
  const request = { ...job.layout, tensor: 1, pipeline: 1, data: 1, microBatch: job.layout.microBatch ?? 1 };
  const plain = completeLayout(request, job, equalCosts(job.model.layers.length)).layout;
  const state = statePerParameter(job, { ...plain, sharding: 0, data: 1 });
  return {
    job,
    parameters: total,
    trained: trainable,
    frozen: total - trainable,
    layerParameters: Math.max(...perLayer),
    weight: bytesOf(computeType(job.precision)),
    gradient: state.gradients,
    optimizer: state.optimizer,
    plain,
    gpus: gpuCount(job.cluster),
    capacityBytes: capacityBytes(job.cluster),
    fastRanks: fastRanks(job.cluster),
  };
}

/** Over PCIe the field splits a layer over two at most. */
const fastRanks = ({ intra, gpusPerNode }: ClusterSpec): number =>
  intra.gpus > 1 ? intra.gpus : Math.min(2, gpusPerNode);

/** Bytes of state per parameter and what they are made of, for a sharding over `ranks`. */
export interface StateLaw {
  /** `16 Psi`, `(4 + 12/N) Psi`. */
  readonly symbols: string;
  readonly perParameter: number;
  readonly bytes: number;
}

/** The state law of architecture.md, section 5, with the coefficients of this job: 16 = 2 + 2 + 12 for bf16. */
export function stateLaw(facts: Facts, sharding: Sharding, ranks: number): StateLaw {
  const { weight: w, gradient: g, optimizer: o, trained, frozen } = facts;
  const layout = {
    ...facts.plain,
    sharding,
    data: ranks,
    gradientReduction: 'per-micro-batch' as const,
  };
  const each = statePerParameter(facts.job, layout);
  const ofFrozen = frozenPerParameter(facts.job, layout);
  const perParameter = each.weights + each.gradients + each.optimizer;
  const symbols = [`${w + g + o} Psi`, `(${w + g} + ${o}/N) Psi`, `(${w} + ${g + o}/N) Psi`, `${w + g + o} Psi / N`];
  const beside = frozen === 0 ? '' : sharding === 3 ? ` + ${w} F / N` : ` + ${w} F`;
  return {
    symbols: `${symbols[sharding] ?? ''}${beside}`,
    perParameter,
    bytes: perParameter * trained + ofFrozen * frozen,
  };
}

/** Divisors of a positive whole number that are larger than 1, in ascending order. */
export const properDivisors = (value: number): readonly number[] =>
  Array.from({ length: value }, (_, index) => index + 1).filter((each) => each > 1 && value % each === 0);
