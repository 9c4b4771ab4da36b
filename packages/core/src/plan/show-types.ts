/** @file What `show` answers about one layout: the object of the contract. */
import type { Assumption } from '../cost/index.ts';
import type { Issue } from '../errors/index.ts';
import type { Layout } from '../layout/index.ts';
import type { StepParts } from '../sim/index.ts';
import type { FailureOptions, Failures } from './failures.ts';
import type { StorageNeeds } from './storage-needs.ts';
import type { TierBytes } from './traffic-tiers.ts';
import type { Verdict } from './verdict.ts';

export interface ShownStage {
  readonly stage: number;
  readonly layers: number;
  /** Parameters on one rank. */
  readonly parameters: number;
  readonly allocatedBytes: number;
  readonly reservedBytes: number;
  readonly deviceBytes: number;
  readonly hostBytes: number;
  readonly verdict: Verdict;
  readonly partsBytes: Readonly<Record<string, number>>;
}

export interface ShownTraffic {
  readonly axis: string;
  readonly collective: string;
  readonly count: number;
  readonly bytesPerRank: number;
  /** The slowest link of the group; `tiers` says which bytes go over which. */
  readonly link: string;
  readonly tiers: readonly TierBytes[];
  readonly crossesNode: boolean;
  readonly seconds: number;
  readonly exposedSeconds: number;
  /** Most of its time is waited for. */
  readonly blocking: boolean;
}

export interface Shown {
  readonly schema: 'meshwright.show/1';
  readonly job: Readonly<Record<string, number | string>>;
  readonly layout: Layout & { readonly short: string };
  readonly gpus: number;
  readonly step: {
    readonly seconds: number;
    readonly low: number;
    readonly high: number;
    readonly tokensPerSecondPerGpu: number;
    readonly tflopsPerGpu: number;
    readonly mfu: number;
    readonly mfuConvention: string;
    readonly hfu: number;
    readonly partsSeconds: StepParts;
    readonly hiddenSeconds: number;
  };
  readonly memory: {
    readonly capacityBytes: number;
    readonly verdict: Verdict;
    readonly stages: readonly ShownStage[];
  };
  readonly traffic: readonly ShownTraffic[];
  readonly pipeline: {
    readonly schedule: string;
    readonly stages: number;
    readonly chunks: number;
    readonly microBatches: number;
    /** Waiting for other stages over the step, mean of the stages. */
    readonly bubbleShare: number;
    /** The same over what is left of the step. */
    readonly bubbleRatio: number;
    /** What equal stages and free exchanges would leave: the closed form of the schedule. */
    readonly closedFormShare: number;
    readonly layersPerStage: readonly number[];
  };
  readonly storage: StorageNeeds;
  /** What interruptions cost, and how often a checkpoint is worth its time. */
  readonly failures: Failures;
  readonly groups?: Readonly<Record<string, readonly (readonly number[])[]>>;
  readonly assumptions: readonly Assumption[];
  readonly warnings: readonly Issue[];
  readonly issues: readonly Issue[];
}

export interface ShowOptions extends FailureOptions {
  /** The ranks of every group along each axis. */
  readonly groups?: boolean;
  readonly issues?: readonly Issue[];
}
