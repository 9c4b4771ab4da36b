/** @file What the host and the threads of ranks tell each other. */
import type { Program } from '@meshwright/core/program';
import type { ShardFile } from '../checkpoint/manifest.ts';
import type { Fabric, RunOptions, StepRecord } from '../interpreter/machine.ts';
import type { OwnedShards, RunFailure } from '../interpreter/rank.ts';

/** One run for one rank. */
export interface ToWorker {
  readonly program: Program;
  readonly rank: number;
  readonly options: RunOptions;
  readonly fabric: Fabric;
  /** The high-resolution clock when the run began, nanoseconds. */
  readonly origin: bigint;
  /** A rank that hears nothing for this long gives up. */
  readonly patienceMs: number;
}

export type FromWorker =
  | { readonly kind: 'step'; readonly rank: number; readonly step: number; readonly record: StepRecord }
  | { readonly kind: 'saved'; readonly rank: number; readonly step: number; readonly files: readonly ShardFile[] }
  | { readonly kind: 'done'; readonly rank: number; readonly shards: OwnedShards }
  | { readonly kind: 'stopped'; readonly rank: number; readonly waitsFor: string }
  | { readonly kind: 'failed'; readonly failure: RunFailure };
