/** @file What a sweep over sizes of a cluster answers. */
import type { StepParts } from '../../sim/index.ts';
import type { Verdict } from '../verdict.ts';

/** Devices from and to, doubling in between. */
export interface SweepRange {
  readonly from: number;
  readonly to: number;
}

/** The best layout of one size. */
export interface SweepPoint {
  readonly gpus: number;
  readonly sequences: number;
  readonly layout: string;
  readonly verdict: Verdict;
  readonly seconds: number;
  readonly tokensPerSecondPerGpu: number;
  /** Tokens per second and GPU over the most of this and all smaller sizes. */
  readonly efficiency: number;
  /** Of the step: waiting for exchanges, and for other stages. */
  readonly exposedShare: number;
  readonly bubbleShare: number;
  readonly mfu: number;
  readonly partsSeconds: StepParts;
  /** What causes of a knee are told with. */
  readonly tensor: number;
  readonly stages: number;
  readonly dataRanks: number;
  readonly microBatches: number;
  /** The batch is larger than what the job says still trains well. */
  readonly beyondLimit: boolean;
}

/** A size at which there is no point, and why. */
export interface SweepGap {
  readonly gpus: number;
  readonly code: 'NOTHING_FITS' | 'BATCH_NOT_A_MULTIPLE' | 'NODE_NOT_WHOLE';
  readonly why: string;
}

/** Where a curve bends: the last size before tokens per second and GPU fall below a share of the best. */
export interface Knee {
  /** The last size before the fall, and the first after it. */
  readonly gpus: number;
  readonly beyond: number;
  readonly efficiency: number;
  /** The part of a step that grew most between the most efficient size and `beyond`. */
  readonly cause: keyof StepParts;
  readonly words: string;
}

/** `strong`: the batch of the job on all sizes. `weak`: as many sequences a GPU as in the job, so the batch grows. */
export interface ScalingCurve {
  readonly kind: 'strong' | 'weak';
  readonly points: readonly SweepPoint[];
  readonly gaps: readonly SweepGap[];
  /** Absent where the curve does not bend in the range. */
  readonly knee?: Knee;
}

export interface Sweep extends SweepRange {
  readonly threshold: number;
  readonly curves: readonly ScalingCurve[];
}
