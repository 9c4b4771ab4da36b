/** @file A run with a context axis as one without: until layouts have the axis, its ranks are priced as data ranks.
 *
 * Each of c context ranks takes 1/c of every sequence. Everything but attention does not care which tokens it has, so the
 * rank works as on c times as many sequences of length / c, and gradients are reduced over data x c. Attention of a part
 * against the whole sequence is c times that of the part alone. The exchange of keys and values is left out: it runs
 * beside attention.
 */
import type { PriceOptions } from '../cost/index.ts';
import type { RunRow } from './run-row.ts';
import { type Outcome, skip } from './skip.ts';

/** A run without a context axis. */
export interface FoldedRun {
  readonly row: RunRow;
  /** Degree of the axis that was folded; 1 for none. */
  readonly context: number;
  readonly assumed: readonly string[];
}

/** The run with its context ranks among the data ranks. */
export function foldContext(row: RunRow): Outcome<FoldedRun> {
  const { cp: context = 1, seq, global_batch: sequences, dp: data } = row;
  if (context === 1) return { value: { row, context, assumed: [] } };
  if (seq === undefined || sequences === undefined || data === undefined || seq % (2 * context) !== 0)
    return skip('context-not-priced', `context degree ${context}`);
  return {
    value: {
      row: { ...row, cp: 1, seq: seq / context, global_batch: sequences * context, dp: data * context },
      context,
      assumed: [`context: ${context} ranks of a sequence as data ranks, exchange of keys and values hidden`],
    },
  };
}

/** Prices under which attention of a part costs what it costs against the whole sequence. */
export function unfolded(options: PriceOptions, context: number): PriceOptions {
  if (context === 1) return options;
  const { forward = 1, backward = 1 } = options.attention ?? {};
  return { ...options, attention: { forward: forward / context, backward: backward / context } };
}
