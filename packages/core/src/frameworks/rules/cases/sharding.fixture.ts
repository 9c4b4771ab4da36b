/** @file Cases of the rules in ../sharding.ts; numbers of users' own reports where there are some. */
import type { RuleCase } from './rule-case.fixture.ts';

export const shardingCases: readonly RuleCase[] = [
  {
    code: 'SHARDING_NOT_WITH_PIPELINE',
    framework: 'deepspeed',
    breaks: { sharding: 2, pipeline: 2 },
    passes: { sharding: 1 },
    says: 'layout.sharding: sharding 2 cannot run with pipeline 2. Use sharding 0 or 1, or pipeline 1.',
  },
  {
    code: 'SHARDING_NOT_OFFERED',
    framework: 'nanotron',
    breaks: { sharding: 3 },
    passes: { sharding: 1 },
    says: 'layout.sharding: nanotron has no sharding 3. Use 0 or 1.',
  },
  {
    code: 'SHARDS_NOT_OFFERED',
    framework: 'megatron',
    breaks: { sharding: 3, data: 8, dataShard: 4 },
    passes: { sharding: 1 },
    says: 'layout.shard: sets of 4 of the 8 data ranks cannot repeat each other under sharding 3. Use sharding 1, or shard 8.',
  },
  {
    code: 'SHARDS_NOT_OFFERED',
    framework: 'torchtitan',
    breaks: { sharding: 2, data: 8, dataShard: 4 },
    passes: { sharding: 3 },
    says: 'layout.shard: sets of 4 of the 8 data ranks cannot repeat each other under sharding 2. Use sharding 3, or shard 8.',
  },
  {
    code: 'SHARDS_NOT_OFFERED',
    framework: 'deepspeed',
    breaks: { sharding: 1, data: 8, dataShard: 4 },
    passes: { sharding: 3 },
    says: 'layout.shard: sets of 4 of the 8 data ranks cannot repeat each other under sharding 1. Use sharding 3, or shard 8.',
  },
  {
    code: 'SHARDS_NOT_OFFERED',
    framework: 'fsdp',
    breaks: { sharding: 1, data: 8, dataShard: 4 },
    passes: { sharding: 2 },
    says: 'layout.shard: sets of 4 of the 8 data ranks cannot repeat each other under sharding 1. Use sharding 2 or 3, or shard 8.',
  },
  {
    code: 'SHARDS_NOT_OFFERED',
    framework: 'nanotron',
    breaks: { sharding: 1, data: 8, dataShard: 4 },
    passes: { dataShard: 8 },
    says: 'layout.shard: sets of 4 of the 8 data ranks cannot repeat each other under sharding 1. Use shard 8.',
  },
  {
    code: 'EXPERTS_NOT_WITH_SHARDING',
    framework: 'deepspeed',
    breaks: { sharding: 3, experts: 8 },
    passes: { switches: { autoExperts: true } },
    says: "layout.sharding: sharding 3 cannot run with 8 experts of DeepSpeed's own layer. Use sharding 0, 1 or 2.",
  },
  {
    code: 'REDUCTION_TYPE_NOT_OFFERED',
    framework: 'torchtitan',
    breaks: { gradientType: 'bf16' },
    passes: { gradientType: 'fp32' },
    says: 'layout.gradientType: torchtitan does not reduce gradients in bf16. Use fp32.',
  },
];
