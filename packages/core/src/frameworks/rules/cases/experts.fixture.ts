/** @file Cases of the rules in ../experts.ts; numbers of users' own reports where there are some. */
import type { RuleCase } from './rule-case.fixture.ts';

const deepseek = { experts: 256, heads: 128 } as const;

export const expertsCases: readonly RuleCase[] = [
  {
    code: 'EXPERT_NEEDS_EXPERTS',
    framework: 'megatron',
    breaks: { expert: 2, experts: 0 },
    passes: { expert: 1 },
    says: 'layout.expert: expert 2 is above 1 and the model has no experts. Use expert 1.',
  },
  {
    // vLLM, issue 52435: 256 experts over 3.
    code: 'EXPERTS_NOT_DIVISIBLE',
    framework: 'deepspeed',
    breaks: { ...deepseek, expert: 3 },
    passes: { expert: 4 },
    says: 'layout.expert: 256 experts cannot be split over 3 ranks. Use 1, 2, 4, 8, 16 or 32.',
  },
  {
    code: 'EXPERTS_NEED_SEQUENCE_PARALLEL',
    framework: 'megatron',
    breaks: { ...deepseek, tensor: 2, sequenceParallel: false },
    passes: { sequenceParallel: true },
    says: 'layout.sequenceParallel: 256 experts are trained with tensor 2 and sequence parallelism is off. Turn sequence parallelism on, or use tensor 1.',
  },
  {
    code: 'ROUTING_GROUPS_WRONG',
    framework: 'megatron',
    breaks: { ...deepseek, switches: { routingGroups: 8, routingTopGroups: 8 } },
    passes: { switches: { routingGroups: 8, routingTopGroups: 7 } },
    says: 'framework.routingTopGroups: a token may choose 8 of 8 groups. Use 1 to 7.',
  },
  {
    code: 'DISPATCHER_NEEDS_RANKS',
    framework: 'megatron',
    breaks: { tensor: 1, expert: 1, switches: { dispatcher: 'flex' } },
    passes: { expert: 2 },
    says: 'framework.dispatcher: the flex dispatcher has one rank to send to: tensor 1 x expert 1. Use all-to-all, or expert 2 or more.',
  },
];
