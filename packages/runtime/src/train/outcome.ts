/** @file What a host hands back of a run, before it is put together for the user. */
import type { ShardFile } from '../checkpoint/manifest.ts';
import type { StepRecord } from '../interpreter/machine.ts';
import type { OwnedShards, RunFailure } from '../interpreter/rank.ts';

export interface RankOutcome {
  readonly rank: number;
  /** One for each completed step; only the last one keeps its slices, moves and live bytes. */
  readonly records: StepRecord[];
  /** Own parameters at the end; empty when the run stopped early. */
  readonly shards: OwnedShards;
}

export interface HostOutcome {
  readonly stopped: 'done' | RunFailure;
  readonly ranks: readonly RankOutcome[];
}

/** What a host is told while ranks run. */
export interface HostListener {
  /** The last rank has completed a step. */
  readonly onStep: (step: number, records: readonly StepRecord[]) => void;
  /** The last rank has written its files of a checkpoint. */
  readonly onSaved: (step: number, files: readonly ShardFile[]) => void;
}

/** Collects what ranks say one by one, until all have said it. */
export interface Gathering {
  readonly ranks: RankOutcome[];
  readonly step: (rank: number, step: number, record: StepRecord) => void;
  /** What kept the host from making a checkpoint of it. */
  readonly saved: (step: number, files: readonly ShardFile[]) => RunFailure | undefined;
}

export function gatherOutcomes(count: number, { onStep, onSaved }: HostListener): Gathering {
  const ranks = Array.from({ length: count }, (_, rank): RankOutcome => ({ rank, records: [], shards: {} }));
  const saving = new Map<number, (readonly ShardFile[])[]>();
  return {
    ranks,
    step: (rank, step, record) => {
      const own = ranks[rank]?.records;
      if (own === undefined) return;
      const place = own.push(record) - 1;
      const before = own[place - 1];
      if (before) Object.assign(before, { slices: [], moves: [], held: new Float64Array(0) });
      if (ranks.some(({ records }) => records.length <= place)) return;
      onStep(
        step,
        ranks.flatMap(({ records }) => records[place] ?? []),
      );
    },
    saved: (step, files) => {
      const all = [...(saving.get(step) ?? []), files];
      saving.set(step, all);
      if (all.length < count) return undefined;
      saving.delete(step);
      return attempt(step, () => onSaved(step, all.flat()));
    },
  };
}

/** The last files are written by the host, which has no rank; it speaks for rank 0. */
function attempt(step: number, save: () => void): RunFailure | undefined {
  try {
    save();
    return undefined;
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return { rank: 0, operation: undefined, reason: `the checkpoint of step ${step} was not written: ${reason}` };
  }
}
