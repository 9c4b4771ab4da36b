/** @file Rules of the pipeline axis: stages, chunks, layers and schedules. */
import { divisorsOf, listed, nearest } from '../../mesh/index.ts';
import { defaultSchedule, MOST_MICRO_BATCHES, microBatchesOf } from '../normal.ts';
import { isFolded } from '../placement.ts';
import type { LayoutRule } from './rule.ts';
import { splitScheduleRules } from './split.ts';

const upTo = (most: number): string => (most > 1 ? `1 to ${most}` : '1');

/** Rules of layers and chunks. */
export const layerRules: readonly LayoutRule<'pipeline' | 'chunks' | 'layersPerStage'>[] = [
  {
    code: 'LAYERS_FEWER_THAN_CHUNKS',
    key: 'pipeline',
    reads: ['pipeline', 'chunks'],
    source: 'DeepSpeed and torchtitan: at least one layer per stage',
    find: (job, { pipeline, chunks }) => {
      const layers = job.model.layers.length;
      if (pipeline * chunks <= layers) return undefined;
      const most = Math.max(1, Math.floor(layers / (pipeline <= layers ? pipeline : chunks)));
      const key = pipeline <= layers ? 'chunks' : 'pipeline';
      const fits = key === 'chunks' || chunks <= layers ? { fits: nearest([1, most], most) } : {};
      return {
        key,
        message: `${layers} layers cannot fill ${pipeline} stages of ${chunks} ${chunks === 1 ? 'chunk' : 'chunks'}.`,
        hint: `Use ${key} ${upTo(most)}.`,
        values: { layers, pipeline, chunks, ...fits },
      };
    },
  },
  {
    code: 'LAYERS_PER_STAGE_LENGTH',
    key: 'layersPerStage',
    reads: ['pipeline', 'chunks'],
    source: 'Megatron-LM, pipeline layout string',
    find: (job, { pipeline, chunks, layersPerStage }) => {
      const wanted = pipeline * chunks;
      if (layersPerStage.length === wanted || wanted > job.model.layers.length) return undefined;
      return {
        message: `${layersPerStage.length} entries are not the ${wanted} chunks of pipeline ${pipeline} x chunks ${chunks}.`,
        hint: `Give ${wanted} entries, or leave the key out.`,
        values: { entries: layersPerStage.length, pipeline, chunks },
      };
    },
  },
  {
    code: 'LAYERS_PER_STAGE_EMPTY',
    key: 'layersPerStage',
    reads: ['pipeline'],
    source: 'DeepSpeed: at least one layer per stage',
    find: (_job, { pipeline, layersPerStage }) => {
      const at = layersPerStage.findIndex((layers) => !(Number.isInteger(layers) && layers >= 1));
      if (at < 0) return undefined;
      const layers = layersPerStage[at] ?? 0;
      return {
        message: `chunk ${Math.floor(at / pipeline)} of stage ${at % pipeline} has ${layers} layers.`,
        hint: 'Give every chunk a whole number of layers, at least 1.',
        values: { chunk: Math.floor(at / pipeline), stage: at % pipeline, layers },
      };
    },
  },
  {
    code: 'LAYERS_PER_STAGE_SUM',
    key: 'layersPerStage',
    reads: ['pipeline', 'chunks'],
    source: 'Megatron-LM, issue 1304: layers were lost without an error',
    find: (job, { pipeline, chunks, layersPerStage }) => {
      const layers = job.model.layers.length;
      const sum = layersPerStage.reduce((total, each) => total + each, 0);
      if (sum === layers || pipeline * chunks > layers) return undefined;
      const [many, change] = sum > layers ? ['more', 'Take away'] : ['fewer', 'Add'];
      return {
        message: `${sum} layers in the list are ${many} than the ${layers} of the model.`,
        hint: `${change} ${Math.abs(layers - sum)}, or leave the key out.`,
        values: { sum, layers },
      };
    },
  },
];

const scheduleSource = 'torchtitan and ColossalAI: single-stage schedules need 1 chunk, looped ones at least 2';

/** Rules of schedules. */
export const scheduleRules: readonly LayoutRule<'pipeline' | 'chunks' | 'schedule' | 'data' | 'microBatch'>[] = [
  {
    code: 'CHUNKS_NEED_PIPELINE',
    key: 'chunks',
    reads: ['pipeline', 'chunks'],
    source: 'Megatron-LM, training/arguments.py: the interleaved schedule needs pipeline > 1',
    find: (_job, { pipeline, chunks }) => {
      if (chunks === 1 || pipeline > 1) return undefined;
      return {
        message: `${chunks} chunks per stage need more than one stage and pipeline is 1.`,
        hint: 'Use chunks 1, or pipeline 2 or more.',
        values: { chunks, pipeline, fits: [1] },
      };
    },
  },
  {
    code: 'CHUNKS_NEED_INTERLEAVED',
    key: 'schedule',
    reads: ['pipeline', 'chunks', 'schedule'],
    source: scheduleSource,
    find: (_job, { pipeline, chunks, schedule }) => {
      if (chunks === 1 || pipeline === 1 || schedule === 'interleaved-1f1b' || isFolded(schedule)) return undefined;
      return {
        message: `${chunks} chunks per stage cannot run under the schedule ${schedule}.`,
        hint: 'Use interleaved-1f1b, or chunks 1.',
        values: { chunks, schedule, fits: ['interleaved-1f1b'] },
      };
    },
  },
  {
    code: 'INTERLEAVED_NEEDS_CHUNKS',
    key: 'chunks',
    reads: ['pipeline', 'chunks', 'schedule'],
    source: scheduleSource,
    find: (job, { pipeline, chunks, schedule }) => {
      if (schedule !== 'interleaved-1f1b' || chunks > 1 || pipeline === 1) return undefined;
      const most = Math.floor(job.model.layers.length / pipeline);
      const fits = most > 1 ? [...new Set([2, most])] : [];
      const other = most > 1 ? `chunks 2${most > 2 ? ` to ${most}` : ''}, or ` : '';
      return {
        message: 'the schedule interleaved-1f1b cannot run with 1 chunk per stage.',
        hint: `Use ${other}the schedule 1f1b.`,
        values: { chunks, schedule, fits },
      };
    },
  },
  {
    code: 'SCHEDULE_NEEDS_STAGES',
    key: 'schedule',
    reads: ['pipeline', 'schedule'],
    source: 'a pipeline of one stage has no order to choose',
    find: (_job, { pipeline, schedule }) => {
      if (pipeline > 1 || schedule === 'none') return undefined;
      return {
        message: `the schedule ${schedule} needs more than one stage and pipeline is 1.`,
        hint: 'Use none, or pipeline 2 or more.',
        values: { schedule, pipeline, fits: ['none'] },
      };
    },
  },
  {
    code: 'STAGES_NEED_SCHEDULE',
    key: 'schedule',
    reads: ['pipeline', 'chunks', 'schedule'],
    source: 'stages need an order',
    find: (_job, { pipeline, chunks, schedule }) => {
      if (pipeline === 1 || chunks > 1 || schedule !== 'none') return undefined;
      const fits = ['1f1b', 'gpipe', 'naive'];
      return {
        message: `${pipeline} stages cannot run under the schedule none.`,
        hint: `Use ${listed(fits)}.`,
        values: { pipeline, schedule, usual: defaultSchedule(pipeline, chunks), fits },
      };
    },
  },
  {
    code: 'MICRO_BATCHES_NOT_MULTIPLE',
    key: 'microBatch',
    reads: ['pipeline', 'data', 'microBatch', 'schedule'],
    source: 'Narayanan et al. 2021, section 2.2; older Megatron-LM asserts it',
    find: (job, layout) => {
      const { pipeline, data, schedule, microBatch } = layout;
      const microBatches = microBatchesOf(job, layout);
      if (schedule !== 'interleaved-1f1b' || pipeline === 1) return undefined;
      if (!Number.isInteger(microBatches) || microBatches % pipeline === 0) return undefined;
      const perRank = job.batch.sequences / data;
      const fits = perRank % pipeline === 0 ? nearest(divisorsOf(perRank / pipeline), microBatch) : [];
      const other = fits.length > 0 ? `micro-batches of ${listed(fits)}, or ` : '';
      return {
        message: `${microBatches} micro-batches are not a multiple of the ${pipeline} stages of interleaved-1f1b.`,
        hint: `Use ${other}chunks 1 under 1f1b.`,
        values: { microBatches, pipeline, fits },
      };
    },
  },
  {
    code: 'MICRO_BATCHES_TOO_MANY',
    key: 'microBatch',
    reads: ['data', 'microBatch'],
    source: 'a limit of this program: invocations are numbered in 32 bits',
    find: (job, layout) => {
      const microBatches = microBatchesOf(job, layout);
      if (microBatches <= MOST_MICRO_BATCHES) return undefined;
      return {
        message: `${Math.ceil(microBatches)} micro-batches are more than ${MOST_MICRO_BATCHES}.`,
        hint: 'Use larger micro-batches or more data ranks.',
        values: { microBatches, most: MOST_MICRO_BATCHES },
      };
    },
  },
  ...splitScheduleRules,
];

/** Sends between stages run beside compute; those that do not are not compiled yet. */
export const overlapRules: readonly LayoutRule<'pipeline' | 'overlap'>[] = [
  {
    code: 'VALUE_NOT_YET',
    key: 'overlap',
    reads: ['pipeline', 'overlap'],
    source: 'a limit of this program: sends that hold up compute are not compiled yet',
    find: (_job, { pipeline, overlap }) => {
      if (pipeline === 1 || overlap.includes('pipeline')) return undefined;
      const named = [...overlap, 'pipeline'].join('+');
      return {
        message: `sends between the ${pipeline} stages are to hold up compute, which is not priced yet.`,
        hint: `Use overlap ${named}, or pipeline 1.`,
        values: { pipeline, overlap: named },
      };
    },
  },
];
