/** @file Experts: how many a rank holds, how tokens are routed to them. */
import { divisorsOf, listed, nearest } from '../../mesh/index.ts';
import { type FrameworkRule, megatrons, rule } from './rule.ts';

const arguments_ = 'Megatron-LM d98e8a64, megatron/training/arguments.py';
const config = 'Megatron-LM, megatron/core/transformer/transformer_config.py';

/** Rules of experts. */
export const expertRules: readonly FrameworkRule[] = [
  rule(
    'EXPERT_NEEDS_EXPERTS',
    megatrons,
    `${arguments_}: num_experts must be set for expert parallelism`,
    ['expert', 'experts'],
    ({ expert, experts }) =>
      expert === 1 || experts > 0
        ? undefined
        : {
            key: 'expert',
            message: `expert ${expert} is above 1 and the model has no experts.`,
            hint: 'Use expert 1.',
            values: { expert, fits: [1] },
          },
  ),
  rule(
    'EXPERTS_NOT_DIVISIBLE',
    [...megatrons, 'deepspeed'],
    `${config}: num_moe_experts % expert_model_parallel_size; DeepSpeed, deepspeed/moe/layer.py`,
    ['experts', 'expert'],
    ({ experts, expert }) => {
      if (experts % expert === 0) return undefined;
      const fits = nearest(divisorsOf(experts), expert);
      return {
        key: 'expert',
        message: `${experts} experts cannot be split over ${expert} ranks.`,
        hint: `Use ${listed(fits)}.`,
        values: { experts, expert, fits },
      };
    },
  ),
  rule(
    'EXPERTS_NEED_SEQUENCE_PARALLEL',
    megatrons,
    'Megatron-LM, megatron/core/transformer/moe/moe_layer.py: training with tensor ranks needs sequence_parallel',
    ['experts', 'tensor', 'sequenceParallel'],
    ({ experts, tensor, sequenceParallel }) =>
      experts === 0 || tensor === 1 || sequenceParallel
        ? undefined
        : {
            key: 'sequenceParallel',
            message: `${experts} experts are trained with tensor ${tensor} and sequence parallelism is off.`,
            hint: 'Turn sequence parallelism on, or use tensor 1.',
            values: { experts, tensor },
          },
  ),
  rule(
    'ROUTING_GROUPS_WRONG',
    megatrons,
    `${config}: experts % moe_router_num_groups, moe_router_group_topk below the groups`,
    ['experts', 'routingGroups', 'routingTopGroups'],
    ({ experts, routingGroups, routingTopGroups }) => {
      if (experts % routingGroups !== 0) {
        const fits = nearest(divisorsOf(experts), routingGroups);
        return {
          key: 'routingGroups',
          message: `${experts} experts cannot be split into ${routingGroups} groups.`,
          hint: `Use ${listed(fits)}.`,
          values: { experts, routingGroups },
        };
      }
      if (routingTopGroups < routingGroups) return undefined;
      return {
        key: 'routingTopGroups',
        message: `a token may choose ${routingTopGroups} of ${routingGroups} groups.`,
        hint: `Use 1 to ${Math.max(1, routingGroups - 1)}.`,
        values: { routingGroups, routingTopGroups },
      };
    },
  ),
  rule(
    'DISPATCHER_NEEDS_RANKS',
    megatrons,
    `${config}: the flex dispatcher (DeepEP) needs tp x ep > 1`,
    ['dispatcher', 'tensor', 'expert'],
    ({ dispatcher, tensor, expert }) =>
      dispatcher !== 'flex' || tensor * expert > 1
        ? undefined
        : {
            key: 'dispatcher',
            message: 'the flex dispatcher has one rank to send to: tensor 1 x expert 1.',
            hint: 'Use all-to-all, or expert 2 or more.',
            values: { tensor, expert },
          },
  ),
];
