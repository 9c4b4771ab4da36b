/** @file Schedules: the chunks that they run and the micro-batches that they take. */
import { divisorsOf, listed, nearest } from '../../mesh/index.ts';
import { type FrameworkRule, megatrons, rule } from './rule.ts';
import type { FrameworkSetup } from './setup.ts';

const arguments_ = 'Megatron-LM d98e8a64, megatron/training/arguments.py';
const titan = 'torchtitan, torchtitan/distributed/pipeline_parallel.py, pipeline_llm';
/** Schedules of PyTorch that run one stage a rank. */
const singleStage = ['1f1b', 'gpipe'];
/** Schedules that run exactly two. */
const twoStages = ['zero-bubble-v', 'dualpipe-v'];

const orderRules: readonly FrameworkRule[] = [
  rule(
    'CHUNKS_NEED_PIPELINE',
    megatrons,
    `${arguments_}: the interleaved schedule needs more than one stage`,
    ['chunks', 'pipeline'],
    ({ chunks, pipeline }) =>
      chunks === 1 || pipeline > 1
        ? undefined
        : {
            key: 'chunks',
            message: `${chunks} chunks per stage need more than one stage and pipeline is 1.`,
            hint: 'Use chunks 1, or pipeline 2 or more.',
            values: { chunks, pipeline, fits: [1] },
          },
  ),
  rule(
    'INTERLEAVED_NEEDS_THREE_STAGES',
    megatrons,
    `${arguments_}: pp > 2 where sends do not overlap; issue 750: with two stages both neighbours are one rank`,
    ['chunks', 'pipeline', 'overlapsSends'],
    ({ chunks, pipeline, overlapsSends }) =>
      chunks === 1 || overlapsSends || pipeline !== 2
        ? undefined
        : {
            key: 'pipeline',
            message: 'the interleaved schedule runs on 2 stages and sends do not overlap.',
            hint: 'Let sends overlap, or use pipeline 3 or more.',
            values: { pipeline, fits: [3] },
          },
  ),
  rule(
    'MICRO_BATCHES_NOT_MULTIPLE',
    megatrons,
    'Megatron-LM, megatron/core/pipeline_parallel/schedules.py: the group is in [pp, m], what is left over is 0 or at least pp',
    ['chunks', 'pipeline', 'sequences', 'microBatch', 'data'],
    ({ chunks, pipeline, sequences, microBatch, data }, { switches = {} }) => {
      const count = sequences / (microBatch * data);
      if (chunks === 1 || pipeline === 1 || !Number.isInteger(count)) return undefined;
      const group = switches.microBatchGroup ?? pipeline;
      const left = count % group;
      if (group >= pipeline && group <= count && (left === 0 || left >= pipeline)) return undefined;
      const perRank = sequences / data;
      const fits = perRank % group === 0 ? nearest(divisorsOf(perRank / group), microBatch) : [];
      const other = fits.length > 0 ? `micro-batches of ${listed(fits)}, or ` : '';
      return {
        key: 'microBatch',
        message: `${count} micro-batches cannot be taken in groups of ${group} by ${pipeline} stages.`,
        hint: `Use ${other}chunks 1.`,
        values: { microBatches: count, group, pipeline, ...(group >= pipeline && { fits }) },
      };
    },
  ),
  rule(
    'MICRO_BATCHES_NOT_ROUNDS',
    ['torchtitan'],
    'PyTorch, torch/distributed/pipelining/schedules.py, ScheduleInterleaved1F1B: m % max(1, m // pp); pull request 129597',
    ['schedule', 'pipeline', 'sequences', 'microBatch', 'data'],
    ({ schedule, pipeline, sequences, microBatch, data }) => {
      const count = sequences / (microBatch * data);
      if (schedule !== 'interleaved-1f1b' || pipeline === 1 || !Number.isInteger(count)) return undefined;
      const rounds = (each: number): number => Math.max(1, Math.floor(each / pipeline));
      if (count % rounds(count) === 0) return undefined;
      const perRank = sequences / data;
      const fits = divisorsOf(perRank).filter((each) => (perRank / each) % rounds(perRank / each) === 0);
      return {
        key: 'microBatch',
        message: `${count} micro-batches cannot be taken in ${rounds(count)} equal rounds by ${pipeline} stages.`,
        hint: `Use micro-batches of ${listed(nearest(fits, microBatch))}.`,
        values: { microBatches: count, rounds: rounds(count), pipeline, fits: nearest(fits, microBatch) },
      };
    },
  ),
  rule(
    'MICRO_BATCHES_TOO_FEW',
    ['nanotron'],
    'nanotron, src/nanotron/parallel/pipeline_parallel/engine.py, OneForwardOneBackwardPipelineEngine: m >= pp - 1',
    ['schedule', 'pipeline', 'sequences', 'microBatch', 'data'],
    ({ schedule, pipeline, sequences, microBatch, data }) => {
      const count = sequences / (microBatch * data);
      if (schedule !== '1f1b' || !Number.isInteger(count) || count >= pipeline - 1) return undefined;
      const perRank = sequences / data;
      const fits = divisorsOf(perRank).filter((each) => perRank / each >= pipeline - 1);
      const other = fits.length > 0 ? `micro-batches of ${listed(nearest(fits, microBatch))}, or ` : '';
      return {
        key: 'microBatch',
        message: `${count} micro-batches are fewer than the ${pipeline - 1} that 1f1b over ${pipeline} stages needs.`,
        hint: `Use ${other}fewer stages.`,
        values: { microBatches: count, pipeline, fits: nearest(fits, microBatch) },
      };
    },
  ),
  rule(
    'SCHEDULE_NOT_OFFERED',
    ['nanotron'],
    'nanotron, src/nanotron/config/parallelism_config.py: pp_engine is 1f1b or afab',
    ['schedule', 'pipeline'],
    ({ schedule, pipeline }) =>
      pipeline === 1 || singleStage.includes(schedule)
        ? undefined
        : {
            key: 'schedule',
            message: `nanotron has no schedule ${schedule}.`,
            hint: 'Use 1f1b, or gpipe (its afab).',
            values: { schedule, fits: singleStage },
          },
  ),
  rule(
    'SCHEDULE_NOT_OFFERED',
    ['deepspeed'],
    'DeepSpeed, deepspeed/runtime/pipe/schedule.py: TrainSchedule is 1f1b, one chunk a stage',
    ['schedule', 'pipeline'],
    ({ schedule, pipeline }) =>
      pipeline === 1 || schedule === '1f1b' || schedule === 'zero-bubble-h1'
        ? undefined
        : {
            key: 'schedule',
            message: `deepspeed has no schedule ${schedule}.`,
            hint: 'Use 1f1b.',
            values: { schedule, fits: ['1f1b'] },
          },
  ),
];

const titanRules: readonly FrameworkRule[] = [
  rule(
    'LAYERS_FEWER_THAN_CHUNKS',
    ['torchtitan'],
    'torchtitan, torchtitan/distributed/pipeline_parallel.py, generate_llm_fqn_per_model_part: stages within layers + weights of the ends',
    ['layers', 'pipeline'],
    ({ layers, pipeline }, setup) => {
      const stages = pipeline * (setup.chunks ?? 1);
      const effective = effectiveLayers(layers, setup);
      if (stages <= effective) return undefined;
      const most = Math.max(1, Math.floor(effective / (setup.chunks ?? 1)));
      return {
        key: 'pipeline',
        message: `${stages} stages are more than ${layers} layers and ${effective - layers} for embedding and head.`,
        hint: `Use ${most > 1 ? `1 to ${most}` : '1'}.`,
        values: { stages, effective, ...((setup.chunks ?? 1) <= effective && { fits: [...new Set([1, most])] }) },
      };
    },
  ),
  rule(
    'VIRTUAL_STAGES_NOT_DIVISIBLE',
    ['torchtitan'],
    `${titan}: ceil((layers + weights) / layers per stage) % pp`,
    ['layers', 'pipeline', 'layersPerVirtualStage'],
    ({ layers, pipeline, layersPerVirtualStage }, setup) => {
      const stagesFor = (each: number): number => Math.ceil(effectiveLayers(layers, setup) / each);
      const stages = stagesFor(layersPerVirtualStage);
      if (pipeline === 1 || stages % pipeline === 0) return undefined;
      const all = Array.from({ length: layers }, (_, index) => index + 1);
      const fits = nearest(
        all.filter((each) => stagesFor(each) % pipeline === 0),
        layersPerVirtualStage,
      );
      return {
        key: 'layersPerVirtualStage',
        message: `${layersPerVirtualStage} layers a stage make ${stages} stages, no multiple of pipeline ${pipeline}.`,
        hint: fits.length > 0 ? `Use ${listed(fits)}.` : 'Use fewer pipeline ranks.',
        values: { stages, pipeline, fits },
      };
    },
  ),
  rule(
    'CHUNKS_NEED_INTERLEAVED',
    ['torchtitan'],
    `${titan}: a single-stage schedule has 1 stage a rank`,
    ['schedule', 'pipeline', 'chunks'],
    ({ schedule, pipeline, chunks }) =>
      pipeline === 1 || !singleStage.includes(schedule) || chunks === 1
        ? undefined
        : {
            key: 'chunks',
            message: `${chunks} chunks per stage cannot run under the schedule ${schedule}.`,
            hint: 'Use chunks 1, or interleaved-1f1b.',
            values: { chunks, schedule, fits: [1] },
          },
  ),
  rule(
    'INTERLEAVED_NEEDS_CHUNKS',
    ['torchtitan'],
    `${titan}: a looped schedule has 2 stages a rank or more; zero-bubble V and DualPipeV exactly 2`,
    ['schedule', 'pipeline', 'chunks'],
    ({ schedule, pipeline, chunks }) => {
      if (pipeline === 1 || schedule === 'none' || singleStage.includes(schedule)) return undefined;
      const isV = twoStages.includes(schedule);
      if (isV ? chunks === 2 : chunks >= 2) return undefined;
      return {
        key: 'chunks',
        message: `the schedule ${schedule} cannot run with ${chunks} ${chunks === 1 ? 'chunk' : 'chunks'} per stage.`,
        hint: isV ? 'Use chunks 2.' : 'Use chunks 2 or more.',
        values: { chunks, schedule, fits: [2] },
      };
    },
  ),
  rule(
    'STAGE_WEIGHTS_TOO_LARGE',
    ['torchtitan'],
    'torchtitan, torchtitan/distributed/pipeline_parallel.py, generate_llm_fqn_per_model_part: weights of the ends within the layers of a stage',
    ['layers', 'pipeline'],
    ({ layers, pipeline }, setup) => {
      const { inputWeight = 1, outputWeight = 1 } = setup.switches ?? {};
      const chunks = setup.chunks ?? 1;
      const least = Math.floor(effectiveLayers(layers, setup) / (pipeline * chunks));
      if (pipeline * chunks === 1 || least < 1 || Math.max(inputWeight, outputWeight) <= least) return undefined;
      return {
        key: inputWeight > least ? 'inputWeight' : 'outputWeight',
        message: `embedding and head weigh ${inputWeight} and ${outputWeight} layers and a stage holds ${least}.`,
        hint: `Use at most ${least}.`,
        values: { inputWeight, outputWeight, least, fits: [least] },
      };
    },
  ),
];

const effectiveLayers = (layers: number, { switches = {} }: FrameworkSetup): number =>
  layers + (switches.inputWeight ?? 1) + (switches.outputWeight ?? 1);

/** Rules of schedules and of virtual stages. */
export const scheduleRules: readonly FrameworkRule[] = [...orderRules, ...titanRules];
