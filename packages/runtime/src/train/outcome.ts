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

/** Told of each step when the last rank has completed it. */
export type CompletedStep = (step: number, records: readonly StepRecord[]) => void;

/** Keeps a rank's record of a step; tells when that was the last rank's. */
export function keepRecord(
  ranks: readonly RankOutcome[],
  rank: number,
  record: StepRecord,
  completed: CompletedStep,
): void {
  const own = ranks[rank]?.records;
  if (own === undefined) return;
  own.push(record);
  const step = own.length;
  if (ranks.every(({ records }) => records.length >= step)) {
    completed(
      step,
      ranks.flatMap(({ records }) => records[step - 1] ?? []),
    );
  }
}
