/** @file What a host hands back of a run, before it is put together for the user. */
import type { StepRecord } from '../interpreter/machine.ts';
import type { OwnedShards, RunFailure } from '../interpreter/rank.ts';

export interface RankOutcome {
  readonly rank: number;
  /** One for each completed step. */
  readonly records: StepRecord[];
  /** Own parameters at the end; empty when the run stopped early. */
  readonly shards: OwnedShards;
}

export interface HostOutcome {
  readonly stopped: 'done' | RunFailure;
  readonly ranks: readonly RankOutcome[];
}
