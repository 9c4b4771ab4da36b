/** @file Cases of the rules in ../layers.ts; numbers of users' own reports where there are some. */
import type { RuleCase } from './rule-case.fixture.ts';

export const layersCases: readonly RuleCase[] = [
  {
    // ms-swift, issue 5737: GLM-4.5-Air.
    code: 'LAYERS_NOT_DIVISIBLE',
    framework: 'megatron',
    breaks: { layers: 46, pipeline: 4 },
    passes: { pipeline: 2 },
    says: 'layout.pipeline: 46 layers cannot be split evenly over 4 stages. Use 1, 2, 23 or 46, or write the layers of each stage out.',
  },
  {
    // Issue 468: 80 layers over 16 stages of 2 chunks.
    code: 'CHUNKS_NOT_DIVISIBLE',
    framework: 'megatron',
    breaks: { layers: 80, pipeline: 16, chunks: 2 },
    passes: { chunks: 5 },
    says: 'layout.chunks: 5 layers of a stage cannot be split evenly over 2 chunks. Use 1 or 5, or write the layers of each stage out.',
  },
  {
    code: 'UNEVEN_STAGES_NEED_PIPELINE',
    framework: 'megatron',
    breaks: { layers: 8, pipeline: 1, switches: { lastStageLayers: 2 } },
    passes: { pipeline: 4 },
    says: 'framework.lastStageLayers: the last stage has 2 layers of its own and pipeline is 1. Leave it out, or use pipeline 2 or more.',
  },
  {
    code: 'UNEVEN_STAGES_CONFLICT',
    framework: 'megatron',
    breaks: { layers: 8, pipeline: 2, switches: { firstStageLayers: 3, countsEmbedding: true } },
    passes: { switches: { firstStageLayers: 3 } },
    says: 'framework.countsEmbedding: layers of the first or last stage are given, and embedding or loss count as layers. Keep one of the two.',
  },
  {
    code: 'UNEVEN_STAGES_NOT_DIVISIBLE',
    framework: 'megatron',
    breaks: { layers: 61, pipeline: 16, switches: { firstStageLayers: 4 } },
    passes: { switches: { firstStageLayers: 1 } },
    says: 'framework.firstStageLayers: 57 layers are left for 15 stages of 1 chunk between the ends. Leave a multiple of 15 to the stages between.',
  },
  {
    code: 'LAYERS_PER_STAGE_LENGTH',
    framework: 'megatron',
    breaks: { pipeline: 4, layersPerStage: [8, 8, 8] },
    passes: { layersPerStage: [8, 8, 8, 8] },
    says: 'layout.layersPerStage: 3 entries are no multiple of the 4 stages. Give 4 entries.',
  },
  {
    code: 'ENDS_NOT_DIVISIBLE',
    framework: 'deepspeed',
    breaks: { layers: 70, pipeline: 10, switches: { countsEnds: true } },
    passes: { pipeline: 12 },
    says: 'layout.pipeline: 70 layers, an embedding and a head are 72 parts and cannot be split over 10 stages. Use 3, 4, 6, 8, 9 or 12.',
  },
  {
    // A stage without a layer: 94 over 96.
    code: 'LAYERS_FEWER_THAN_CHUNKS',
    framework: 'deepspeed',
    breaks: { layers: 94, pipeline: 96 },
    passes: { pipeline: 94 },
    says: 'layout.pipeline: 94 layers cannot fill 96 stages of 1 chunk. Use 1 to 94.',
  },
  {
    code: 'LAYERS_FEWER_THAN_CHUNKS',
    framework: 'torchtitan',
    breaks: { layers: 6, pipeline: 5, chunks: 2 },
    passes: { pipeline: 4 },
    says: 'layout.pipeline: 10 stages are more than 6 layers and 2 for embedding and head. Use 1 to 4.',
  },
];
