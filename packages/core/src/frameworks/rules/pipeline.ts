/** @file Stages: layers over them, chunks, schedules and the micro-batches that they take. */
import { divisorsOf, listed, multiplesAround, nearest } from '../../mesh/index.ts';
import { type FrameworkRule, megatrons, rule } from './rule.ts';
import type { FrameworkSetup } from './setup.ts';

const arguments_ = 'Megatron-LM d98e8a64, megatron/training/arguments.py';
const config = 'Megatron-LM, megatron/core/transformer/transformer_config.py';
const titan = 'torchtitan, torchtitan/distributed/pipeline_parallel.py, pipeline_llm';
/** Schedules of PyTorch that run one stage a rank. */
const singleStage = ['1f1b', 'gpipe'];
/** Schedules that run exactly two. */
const twoStages = ['zero-bubble-v', 'dualpipe-v'];

/** Layers as the split counts them: with the embedding and the loss where they take a layer's place. */
const countedLayers = (layers: number, { switches = {} }: FrameworkSetup): number =>
  layers + (switches.countsEmbedding ? 1 : 0) + (switches.countsLoss ? 1 : 0);

const isUneven = ({ layersPerStage, switches = {} }: FrameworkSetup): boolean =>
  layersPerStage !== undefined || switches.firstStageLayers !== undefined || switches.lastStageLayers !== undefined;

const splitRules: readonly FrameworkRule[] = [
  rule(
    'LAYERS_NOT_DIVISIBLE',
    megatrons,
    `${arguments_}; issues 1304, 823: older releases lost layers without an error`,
    ['layers', 'pipeline'],
    ({ layers, pipeline }, setup) => {
      const counted = countedLayers(layers, setup);
      if (isUneven(setup) || counted % pipeline === 0) return undefined;
      const ends = counted > layers ? ` (with ${counted - layers} for embedding and loss)` : '';
      const fits = nearest(divisorsOf(counted), pipeline);
      return {
        key: 'pipeline',
        message: `${counted} layers${ends} cannot be split evenly over ${pipeline} stages.`,
        hint: `Use ${listed(fits)}, or write the layers of each stage out.`,
        values: { layers: counted, pipeline, fits },
      };
    },
  ),
  rule(
    'CHUNKS_NOT_DIVISIBLE',
    megatrons,
    `${arguments_}: layers of a stage % layers of a virtual stage; issue 468: 80 layers became 64`,
    ['layers', 'pipeline', 'chunks'],
    ({ layers, pipeline, chunks }, setup) => {
      const counted = countedLayers(layers, setup);
      if (isUneven(setup) || chunks === 1 || counted % pipeline !== 0 || (counted / pipeline) % chunks === 0) {
        return undefined;
      }
      const fits = nearest(divisorsOf(counted / pipeline), chunks);
      return {
        key: 'chunks',
        message: `${counted / pipeline} layers of a stage cannot be split evenly over ${chunks} chunks.`,
        hint: `Use ${listed(fits)}, or write the layers of each stage out.`,
        values: { layers: counted, pipeline, chunks, fits },
      };
    },
  ),
  rule(
    'UNEVEN_STAGES_NEED_PIPELINE',
    megatrons,
    'Megatron-LM, issue 1778: with one stage only the layers of the last one are trained',
    ['pipeline', 'lastStageLayers'],
    ({ pipeline, lastStageLayers }) =>
      pipeline > 1
        ? undefined
        : {
            key: 'lastStageLayers',
            message: `the last stage has ${lastStageLayers} layers of its own and pipeline is 1.`,
            hint: 'Leave it out, or use pipeline 2 or more.',
            values: { lastStageLayers, pipeline },
          },
  ),
  rule(
    'UNEVEN_STAGES_CONFLICT',
    megatrons,
    `${config}: not with account_for_*_in_pipeline_split`,
    ['layers', 'pipeline'],
    (_known, { switches = {} }) => {
      const uneven = switches.firstStageLayers !== undefined || switches.lastStageLayers !== undefined;
      if (!uneven || !(switches.countsEmbedding || switches.countsLoss)) return undefined;
      return {
        key: switches.countsEmbedding ? 'countsEmbedding' : 'countsLoss',
        message: 'layers of the first or last stage are given, and embedding or loss count as layers.',
        hint: 'Keep one of the two.',
        values: {},
      };
    },
  ),
  rule(
    'UNEVEN_STAGES_NOT_DIVISIBLE',
    megatrons,
    `${config}: first, last and the stages between, each over the chunks`,
    ['layers', 'pipeline'],
    ({ layers, pipeline }, { chunks = 1, switches = {} }) => {
      const { firstStageLayers: first, lastStageLayers: last } = switches;
      if ((first === undefined && last === undefined) || pipeline === 1) return undefined;
      const between = pipeline - (first === undefined ? 0 : 1) - (last === undefined ? 0 : 1);
      const rest = layers - (first ?? 0) - (last ?? 0);
      const given = [first, last].filter((each) => each !== undefined);
      const odd = given.find((each) => each % chunks !== 0);
      if (odd !== undefined) {
        const fits = multiplesAround(odd, chunks);
        return {
          key: odd === first ? 'firstStageLayers' : 'lastStageLayers',
          message: `${odd} layers of an end stage cannot be split over ${chunks} chunks.`,
          hint: `Use ${listed(fits)}.`,
          values: { layers: odd, chunks },
        };
      }
      if (rest >= 0 && (between === 0 ? rest === 0 : rest % (between * chunks) === 0)) return undefined;
      return {
        key: first === undefined ? 'lastStageLayers' : 'firstStageLayers',
        message: `${rest} layers are left for ${between} stages of ${chunks} ${chunks === 1 ? 'chunk' : 'chunks'} between the ends.`,
        hint: `Leave a multiple of ${Math.max(1, between * chunks)} to the stages between.`,
        values: { rest, between, chunks },
      };
    },
  ),
  rule(
    'LAYERS_PER_STAGE_LENGTH',
    megatrons,
    `${config}: the pipeline layout has pp x vpp entries`,
    ['layersPerStage', 'pipeline'],
    ({ layersPerStage, pipeline }) => {
      if (layersPerStage.length % pipeline === 0 && layersPerStage.length > 0) return undefined;
      const fits = multiplesAround(Math.max(1, layersPerStage.length), pipeline);
      return {
        key: 'layersPerStage',
        message: `${layersPerStage.length} entries are no multiple of the ${pipeline} stages.`,
        hint: `Give ${listed(fits)} entries.`,
        values: { entries: layersPerStage.length, pipeline },
      };
    },
  ),
  rule(
    'ENDS_NOT_DIVISIBLE',
    ['deepspeed'],
    'BigScience, Megatron-DeepSpeed: partition by type:transformer|embedding, layers + 2 over the stages',
    ['layers', 'pipeline', 'countsEnds'],
    ({ layers, pipeline, countsEnds }) => {
      if (!countsEnds || (layers + 2) % pipeline === 0) return undefined;
      const fits = nearest(divisorsOf(layers + 2), pipeline);
      return {
        key: 'pipeline',
        message: `${layers} layers, an embedding and a head are ${layers + 2} parts and cannot be split over ${pipeline} stages.`,
        hint: `Use ${listed(fits)}.`,
        values: { parts: layers + 2, pipeline, fits },
      };
    },
  ),
  rule(
    'LAYERS_FEWER_THAN_CHUNKS',
    ['deepspeed'],
    'DeepSpeed: a stage without a layer fails (94 layers over 96 stages)',
    ['layers', 'pipeline'],
    ({ layers, pipeline }, { chunks = 1 }) => {
      if (pipeline * chunks <= layers) return undefined;
      const most = Math.max(1, Math.floor(layers / chunks));
      return {
        key: 'pipeline',
        message: `${layers} layers cannot fill ${pipeline} stages of ${chunks} ${chunks === 1 ? 'chunk' : 'chunks'}.`,
        hint: `Use ${most > 1 ? `1 to ${most}` : '1'}.`,
        values: { layers, pipeline, chunks, ...(chunks <= layers && { fits: [...new Set([1, most])] }) },
      };
    },
  ),
];

const scheduleRules: readonly FrameworkRule[] = [
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

/** Rules of the pipeline. */
export const pipelineRules: readonly FrameworkRule[] = [...splitRules, ...scheduleRules, ...titanRules];
