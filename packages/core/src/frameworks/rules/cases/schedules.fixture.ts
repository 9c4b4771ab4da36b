/** @file Cases of the rules in ../schedules.ts; numbers of users' own reports where there are some. */
import type { RuleCase } from './rule-case.fixture.ts';

const batch = { sequences: 64, microBatch: 1 } as const;
const stages = { layers: 32, pipeline: 4 } as const;

export const schedulesCases: readonly RuleCase[] = [
  {
    code: 'CHUNKS_NEED_PIPELINE',
    framework: 'megatron',
    breaks: { pipeline: 1, chunks: 2 },
    passes: { pipeline: 2 },
    says: 'layout.chunks: 2 chunks per stage need more than one stage and pipeline is 1. Use chunks 1, or pipeline 2 or more.',
  },
  {
    code: 'INTERLEAVED_NEEDS_THREE_STAGES',
    framework: 'megatron',
    breaks: { pipeline: 2, chunks: 2, switches: { overlapsSends: false } },
    passes: { pipeline: 3 },
    says: 'layout.pipeline: the interleaved schedule runs on 2 stages and sends do not overlap. Let sends overlap, or use pipeline 3 or more.',
  },
  {
    code: 'MICRO_BATCHES_NOT_MULTIPLE',
    framework: 'megatron',
    breaks: { ...batch, ...stages, chunks: 2, sequences: 24, data: 4 },
    passes: { sequences: 32 },
    says: 'layout.microBatch: 6 micro-batches cannot be taken in groups of 4 by 4 stages. Use chunks 1.',
  },
  {
    // Pull request 129597: 10 over 4 is fine, 9 is not.
    code: 'MICRO_BATCHES_NOT_ROUNDS',
    framework: 'torchtitan',
    breaks: { ...stages, schedule: 'interleaved-1f1b', chunks: 2, sequences: 9, microBatch: 1, data: 1 },
    passes: { sequences: 10 },
    says: 'layout.microBatch: 9 micro-batches cannot be taken in 2 equal rounds by 4 stages. Use micro-batches of 3 or 9.',
  },
  {
    code: 'MICRO_BATCHES_TOO_FEW',
    framework: 'nanotron',
    breaks: { ...stages, schedule: '1f1b', sequences: 4, microBatch: 2, data: 1 },
    passes: { sequences: 6 },
    says: 'layout.microBatch: 2 micro-batches are fewer than the 3 that 1f1b over 4 stages needs. Use micro-batches of 1, or fewer stages.',
  },
  {
    code: 'SCHEDULE_NOT_OFFERED',
    framework: 'nanotron',
    breaks: { pipeline: 4, schedule: 'interleaved-1f1b' },
    passes: { schedule: 'gpipe' },
    says: 'layout.schedule: nanotron has no schedule interleaved-1f1b. Use 1f1b, or gpipe (its afab).',
  },
  {
    code: 'SCHEDULE_NOT_OFFERED',
    framework: 'deepspeed',
    breaks: { pipeline: 4, schedule: 'gpipe' },
    passes: { schedule: '1f1b' },
    says: 'layout.schedule: deepspeed has no schedule gpipe. Use 1f1b.',
  },
  {
    code: 'VIRTUAL_STAGES_NOT_DIVISIBLE',
    framework: 'torchtitan',
    breaks: { layers: 32, pipeline: 4, switches: { layersPerVirtualStage: 5 } },
    passes: { switches: { layersPerVirtualStage: 3 } },
    says: 'framework.layersPerVirtualStage: 5 layers a stage make 7 stages, no multiple of pipeline 4. Use 3, 9, 10 or 11.',
  },
  {
    code: 'CHUNKS_NEED_INTERLEAVED',
    framework: 'torchtitan',
    breaks: { pipeline: 4, schedule: '1f1b', chunks: 2 },
    passes: { chunks: 1 },
    says: 'layout.chunks: 2 chunks per stage cannot run under the schedule 1f1b. Use chunks 1, or interleaved-1f1b.',
  },
  {
    code: 'INTERLEAVED_NEEDS_CHUNKS',
    framework: 'torchtitan',
    breaks: { pipeline: 4, schedule: 'zero-bubble-v', chunks: 3 },
    passes: { chunks: 2 },
    says: 'layout.chunks: the schedule zero-bubble-v cannot run with 3 chunks per stage. Use chunks 2.',
  },
  {
    code: 'STAGE_WEIGHTS_TOO_LARGE',
    framework: 'torchtitan',
    breaks: { layers: 8, pipeline: 4, switches: { inputWeight: 4, outputWeight: 1 } },
    passes: { switches: { inputWeight: 3, outputWeight: 1 } },
    says: 'framework.inputWeight: embedding and head weigh 4 and 1 layers and a stage holds 3. Use at most 3.',
  },
];
