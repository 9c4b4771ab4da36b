/** @file A job: model, batch, precision, optimizer and cluster, before anybody has chosen a layout. */
import type { ClusterSpec } from '../cluster/index.ts';
import type { DispatchName, FrameworkName, LossPlan } from '../frameworks/index.ts';
import type { LayoutRequest } from '../layout/index.ts';
import type { AdapterSpec, ModelSpec } from '../model/index.ts';
import type { DType } from '../tensor/index.ts';

export interface BatchSpec {
  /** Sequences of the global batch. */
  readonly sequences: number;
  /** Tokens of one sequence. */
  readonly length: number;
  /** Largest batch in tokens that still trains well; undefined when the job does not say. */
  readonly maxTokens: number | undefined;
}

export type { FrameworkName } from '../frameworks/index.ts';
export type Precision = 'fp32' | 'bf16' | 'fp16';
export type OptimizerKind = 'adamw' | 'sgd';

/** How kernels are fused: facts that change what a layer keeps and moves. */
export interface KernelPlan {
  /** `flash`: blockwise, scores never in memory; `unfused`: scores and probabilities are written, as before 2022. */
  readonly attention: 'flash' | 'unfused';
  /** Probability of dropout after attention, projection and feed-forward; 0 leaves the kernels out. */
  readonly dropout: number;
  /** Matrix products of layers run in a narrow type; weights and the residual stay as they are. Absent: in the job's own type. */
  readonly products?: ProductRecipe;
  /** How the loss keeps logits; absent: as the framework does. */
  readonly loss?: LossPlan;
}

/** Recipes of narrow products by their scales: of a tensor from the steps before or from the step itself, of a row, or of
 * a block. */
export type ProductRecipe = 'fp8-delayed' | 'fp8-current' | 'fp8-by-row' | 'mxfp8' | 'nvfp4';

/** How tokens meet experts. */
export interface RoutingSpec {
  /** Rows of the busiest expert rank over the mean. Absent: what uniform routing gives, in time only. */
  readonly imbalance?: number;
  /** How copies of a token travel. Absent: as the framework does. */
  readonly dispatch?: DispatchName;
}

/** Low-rank adapters are trained on answers, and the weights of the model are frozen. */
export interface LoraWorkload {
  readonly lora: AdapterSpec;
}

/** `sft`: all weights are trained on answers, which changes no state, FLOPs or memory. `packed`: several documents share a
 * sequence; attention is priced over the whole of it, an upper bound. */
export type Workload = 'pretrain' | 'sft' | 'packed' | LoraWorkload;

export interface Job {
  readonly name: string;
  readonly model: ModelSpec;
  readonly cluster: ClusterSpec;
  readonly batch: BatchSpec;
  readonly precision: Precision;
  readonly optimizer: OptimizerKind;
  readonly workload: Workload;
  readonly framework: FrameworkName;
  readonly kernels: KernelPlan;
  readonly routing: RoutingSpec;
  readonly layout: LayoutRequest;
}

/** Element type of weights and activations under a precision. */
export const computeType = (precision: Precision): DType => precision;
