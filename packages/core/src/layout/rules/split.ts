/** @file Rules of schedules that split backward: the chunks that they fold, and the micro-batches that they need. */
import { divisorsOf, listed, nearest } from '../../mesh/index.ts';
import { microBatchesOf } from '../normal.ts';
import { isFolded } from '../placement.ts';
import type { LayoutRule } from './rule.ts';

const folds = '[qi2024] and [deepseek2024]: two chunks a stage, down the stages and back up';

/** Rules of zero-bubble schedules and DualPipeV. */
export const splitScheduleRules: readonly LayoutRule<'pipeline' | 'chunks' | 'schedule' | 'data' | 'microBatch'>[] = [
  {
    code: 'FOLD_NEEDS_TWO_CHUNKS',
    key: 'chunks',
    reads: ['pipeline', 'chunks', 'schedule'],
    source: folds,
    find: (job, { pipeline, chunks, schedule }) => {
      if (!isFolded(schedule) || chunks === 2 || pipeline === 1) return undefined;
      const room = 2 * pipeline <= job.model.layers.length;
      return {
        message: `the schedule ${schedule} folds 2 chunks per stage and chunks is ${chunks}.`,
        hint: room ? 'Use chunks 2.' : 'Use fewer stages, or zero-bubble-h1.',
        values: { chunks, schedule, ...(room && { fits: [2] }) },
      };
    },
  },
  {
    code: 'MICRO_BATCHES_TOO_FEW',
    key: 'microBatch',
    reads: ['pipeline', 'data', 'microBatch', 'schedule'],
    source: 'DeepSeek, DualPipe, dualpipe/dualpipev.py: num_chunks >= num_ranks * 2',
    find: (job, layout) => {
      const { pipeline, data, schedule, microBatch } = layout;
      const count = microBatchesOf(job, layout);
      if (schedule !== 'dualpipe-v' || pipeline === 1 || !Number.isInteger(count) || count >= 2 * pipeline)
        return undefined;
      const perRank = job.batch.sequences / data;
      const fits = nearest(
        divisorsOf(perRank).filter((each) => perRank / each >= 2 * pipeline),
        microBatch,
      );
      const other = fits.length > 0 ? `micro-batches of ${listed(fits)}, or ` : '';
      return {
        message: `${count} micro-batches are fewer than the ${2 * pipeline} that ${schedule} over ${pipeline} stages needs.`,
        hint: `Use ${other}fewer stages.`,
        values: { microBatches: count, pipeline, fits },
      };
    },
  },
];
