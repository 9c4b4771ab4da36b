/** @file Layers over stages and chunks: evenly, with end stages of their own, or written out. */
import { divisorsOf, listed, multiplesAround, nearest } from '../../mesh/index.ts';
import { type FrameworkRule, megatrons, rule } from './rule.ts';
import type { FrameworkSetup } from './setup.ts';

const arguments_ = 'Megatron-LM d98e8a64, megatron/training/arguments.py';
const config = 'Megatron-LM, megatron/core/transformer/transformer_config.py';

/** Layers as the split counts them: with the embedding and the loss where they take a layer's place. */
const countedLayers = (layers: number, { switches = {} }: FrameworkSetup): number =>
  layers + (switches.countsEmbedding ? 1 : 0) + (switches.countsLoss ? 1 : 0);

const isUneven = ({ layersPerStage, switches = {} }: FrameworkSetup): boolean =>
  layersPerStage !== undefined || switches.firstStageLayers !== undefined || switches.lastStageLayers !== undefined;

/** Rules of layers and stages. */
export const layerRules: readonly FrameworkRule[] = [
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
