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
