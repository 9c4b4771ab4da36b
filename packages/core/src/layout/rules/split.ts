/** @file Rules of schedules that split backward: the chunks that they fold, and the micro-batches that they need. */
import { divisorsOf, listed, nearest } from '../../mesh/index.ts';
import { microBatchesOf } from '../normal.ts';
import { isFolded } from '../placement.ts';
import type { ScheduleName } from '../types.ts';
import type { LayoutRule } from './rule.ts';

const dual = 'DeepSeek, DualPipe, dualpipe/dualpipe.py: an even number of ranks, an even num_chunks >= num_ranks * 2';
const folds = '[qi2024] and [deepseek2024]: two chunks a stage, down the stages and back up';

/** Micro-batches that a schedule of DualPipe's kind can take: twice as many as stages, and as many from either end. */
function takesMicroBatches(schedule: ScheduleName, pipeline: number, count: number): boolean {
  return count >= 2 * pipeline && (schedule !== 'dualpipe' || count % 2 === 0);
}

/** Rules of zero-bubble schedules, DualPipe and DualPipeV. */
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
    code: 'STAGES_NOT_EVEN',
    key: 'pipeline',
    reads: ['pipeline', 'schedule'],
    source: dual,
    find: (job, { pipeline, schedule }) => {
      if (schedule !== 'dualpipe' || pipeline % 2 === 0 || pipeline === 1) return undefined;
      const near = pipeline + 1 <= job.model.layers.length ? pipeline + 1 : pipeline - 1;
      return {
        message: `the schedule dualpipe pairs each stage with another one and pipeline is ${pipeline}.`,
        hint: `Use pipeline ${near}, or dualpipe-v.`,
        values: { pipeline, schedule, fits: [near] },
      };
    },
  },
  {
    code: 'MICRO_BATCHES_TOO_FEW',
    key: 'microBatch',
    reads: ['pipeline', 'data', 'microBatch', 'schedule'],
    source: `${dual}; dualpipe/dualpipev.py: num_chunks >= num_ranks * 2`,
    find: (job, layout) => {
      const { pipeline, data, schedule, microBatch } = layout;
      const count = microBatchesOf(job, layout);
      if (schedule !== 'dualpipe-v' && schedule !== 'dualpipe') return undefined;
      if (pipeline === 1 || !Number.isInteger(count) || takesMicroBatches(schedule, pipeline, count)) return undefined;
      const perRank = job.batch.sequences / data;
      const fits = nearest(
        divisorsOf(perRank).filter((each) => takesMicroBatches(schedule, pipeline, perRank / each)),
        microBatch,
      );
      const other = fits.length > 0 ? `micro-batches of ${listed(fits)}, or ` : '';
      return {
        message:
          count < 2 * pipeline
            ? `${count} micro-batches are fewer than the ${2 * pipeline} that ${schedule} over ${pipeline} stages needs.`
            : `${count} micro-batches cannot enter ${schedule} from both ends, half of them at each.`,
        hint: `Use ${other}fewer stages.`,
        values: { microBatches: count, pipeline, fits },
      };
    },
  },
];
