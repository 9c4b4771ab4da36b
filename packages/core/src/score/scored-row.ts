import type { Verdict } from '../plan/index.ts';
import type { PricedRun } from './price-row.ts';
import type { SkipReason } from './skip.ts';

/** One row of the answer. Errors are shares of the measured value; absent where nothing was measured. */
export interface ScoredRow {
  readonly id: string;
  readonly source: string;
  readonly predictedSeconds?: number;
  readonly low?: number;
  readonly high?: number;
  readonly measuredSeconds?: number;
  readonly error?: number;
  /** On shared links; `simulatedError` is its share of the measured value. Where asked for. */
  readonly simulatedSeconds?: number;
  readonly simulatedError?: number;
  readonly nullSeconds?: number;
  readonly predictedPeakBytes?: number;
  readonly measuredPeakBytes?: number;
  readonly memoryError?: number;
  readonly verdict?: Verdict;
  /** The run is known to have run out of memory. */
  readonly ranOut?: true;
  readonly assumed: readonly string[];
  readonly skipped?: SkipReason;
  readonly detail?: string;
}

/** A row with what was priced. */
export interface Judged {
  readonly row: ScoredRow;
  readonly priced: PricedRun | undefined;
  readonly gpus: number;
}
