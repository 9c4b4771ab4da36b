/** @file What `explain` answers: the decision flow, the table of strategies, break-even lines and rules of thumb. */
import type { Issue } from '../errors/index.ts';
import type { Verdict } from '../plan/index.ts';

export type Unit = 'bytes' | 'seconds' | 'share' | 'count' | 'tokens' | 'bytesPerSecond' | 'flopsPerSecond';

/** One number of this job, with the law that it comes from where there is one. */
export interface Quantity {
  readonly what: string;
  /** In the letters of the laws: Psi parameters, N data ranks, t tensor, p stages, m micro-batches. */
  readonly symbols?: string;
  readonly value: number;
  readonly unit: Unit;
}

/** `yes`: go this way. `barely`: possible, at a price; kept in case nothing better follows. `no`: not possible. */
export type Decision = 'yes' | 'barely' | 'no';

export type StepName =
  | 'one-gpu'
  | 'sharded-optimizer'
  | 'sharded-state'
  | 'tensor'
  | 'pipeline'
  | 'three-axes'
  | 'batch'
  | 'search'
  | 'order'
  | 'failures';

export interface FlowStep {
  readonly step: StepName;
  readonly question: string;
  readonly numbers: readonly Quantity[];
  readonly answer: string;
  readonly decision: Decision;
}

/** One layout in a line. */
export interface Outcome {
  /** `ZeRO-1`, `tensor 4 with FSDP`, `3D`. */
  readonly name: string;
  /** Short form. */
  readonly layout: string;
  readonly seconds: number;
  /** Of the fullest stage, as the device sees it. */
  readonly deviceBytes: number;
  readonly verdict: Verdict;
}

export type StrategyName = 'DP' | 'ZeRO-1' | 'ZeRO-2' | 'ZeRO-3' | 'TP' | 'TP+SP' | 'PP';

/** The parts of a row that only a legal layout has: numbers of the fastest layout of the kind that fits, or of the one
 * with the least memory when none does. */
export interface StrategyNumbers {
  readonly layout: string;
  readonly seconds: number;
  readonly verdict: Verdict;
  /** Fullest stage, as the device sees it. */
  readonly deviceBytes: number;
  /** Sequences of a micro-batch, micro-batches of a step, data ranks. */
  readonly microBatch: number;
  readonly microBatches: number;
  readonly dataRanks: number;
}

/** One strategy: the same questions for all, in symbols and in this job's numbers. Numbers are absent where no layout of
 * the kind is legal; `issues` then says why. */
export interface StrategyRow {
  readonly strategy: StrategyName;
  readonly splits: string;
  readonly statePerGpu: { readonly symbols: string; readonly bytes?: number };
  /** Sent by one rank of the busiest stage for the strategy's own axis; scalars left out. */
  readonly bytesPerGpuPerStep: { readonly symbols: string; readonly bytes?: number };
  readonly collective: string;
  readonly when: string;
  readonly blocking: {
    readonly words: string;
    /** Seconds that the exchanges run, and that the slowest rank waits for them. */
    readonly seconds?: number;
    readonly exposedSeconds?: number;
    /** Of the step. */
    readonly exposedShare?: number;
    readonly bubbleShare?: number;
  };
  readonly batch: { readonly symbols: string; readonly words: string };
  readonly link: {
    readonly words: string;
    readonly name?: string;
    readonly bytesPerSecond?: number;
    readonly crossesNode?: boolean;
  };
  readonly numbers?: StrategyNumbers;
  readonly issues: readonly Issue[];
}

/** A line where two costs are equal. `value` is where; `here` is where this job stands, in the same unit. */
export interface BreakEven {
  readonly what: string;
  readonly symbols: string;
  readonly value: number;
  readonly here?: number;
  readonly unit: Unit;
  readonly link?: string;
  readonly says: string;
}

/** A rule of thumb held against the search. */
export interface RuleCheck {
  readonly rule: string;
  /** The fastest layout that obeys the rule; `nothing fits` or `not searched` where there is none to name. */
  readonly says: string;
  /** The fastest layout. */
  readonly search: string;
  readonly agrees: boolean;
  /** Seconds of the one over the other, less 1; absent where `says` names no layout. */
  readonly costOverOptimum?: number;
  /** The part of a step in which it loses most. */
  readonly because?: string;
  /** What of the rule the search does not know, or what it says of this job. */
  readonly note?: string;
}

/** The `explain` object of the contract. */
export interface Explained {
  readonly schema: 'meshwright.explain/1';
  readonly job: Readonly<Record<string, number | string>>;
  readonly flow: readonly FlowStep[];
  /** Where the flow ends; absent when nothing that it tries fits. */
  readonly recommendation?: Outcome;
  /** The fastest layout of the space that fits, absent when none does. */
  readonly search?: Outcome & { readonly considered: number; readonly proven: boolean };
  /** Step of the recommendation over that of the search, less 1. */
  readonly costOverSearch?: number;
  /** The layout that the job itself asks for, where it fixes what the flow decides. */
  readonly given?: Outcome;
  readonly table: readonly StrategyRow[];
  readonly breakEven: readonly BreakEven[];
  readonly rules: readonly RuleCheck[];
  readonly issues: readonly Issue[];
}
