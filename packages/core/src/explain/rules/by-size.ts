/** @file The rules of thumb that go by the size of the model: under 13 B parameters replicas, whole or sharded; up to 70 B
 * sharded state with the optimizer on the host; up to 300 B tensor 8 with two to four stages; beyond it more stages; experts
 * have ranks of their own.
 */
import type { LayoutRequest } from '../../layout/index.ts';
import { properDivisors } from '../facts.ts';
import type { FlowContext } from '../flow/index.ts';
import type { Rule } from './rule.ts';

const SMALL = 13e9;
const MEDIUM = 70e9;
const LARGE = 300e9;
const TENSOR = 8;
const FEW_STAGES = [2, 3, 4];

/** The one rule that speaks of a model of this size. */
export function sizeRule({ facts }: FlowContext): Rule {
  const experts = Math.max(0, ...facts.job.model.layers.map(({ ffn }) => (ffn.kind === 'moe' ? ffn.experts : 0)));
  if (experts > 0) return expertRule(experts, facts.gpus);
  if (facts.parameters > LARGE) return hugeRule(facts.gpus);
  if (facts.parameters >= MEDIUM) return largeRule(facts.gpus);
  return facts.parameters >= SMALL ? shardedRule : replicaRule;
}

const alone: LayoutRequest = { tensor: 1, pipeline: 1 };

const replicaRule: Rule = {
  rule: 'under 13 B parameters: data parallelism, whole or sharded',
  obeys: ({ candidate: { layout } }) => layout.tensor === 1 && layout.pipeline === 1,
  kinds: () => [alone],
};

const shardedRule: Rule = {
  rule: '13 to 70 B parameters: FSDP, the optimizer on the host',
  obeys: ({ candidate: { layout } }) => layout.tensor === 1 && layout.pipeline === 1 && layout.sharding === 3,
  kinds: () => [
    { ...alone, sharding: 3 },
    { ...alone, sharding: 3, offload: 'optimizer' },
  ],
  note: () => 'FSDP with and without the optimizer on the host: the search itself offloads only when asked',
};

const largeRule = (gpus: number): Rule => ({
  rule: `70 to 300 B parameters: tensor ${TENSOR} with 2 to 4 stages`,
  obeys: ({ candidate: { layout } }) => layout.tensor === TENSOR && FEW_STAGES.includes(layout.pipeline),
  kinds: () =>
    FEW_STAGES.filter((pipeline) => gpus % (TENSOR * pipeline) === 0).map((pipeline) => ({ tensor: TENSOR, pipeline })),
});

const hugeRule = (gpus: number): Rule => ({
  rule: `over 300 B parameters: tensor ${TENSOR} with stages`,
  obeys: ({ candidate: { layout } }) => layout.tensor === TENSOR && layout.pipeline > 1,
  kinds: () => properDivisors(gpus / TENSOR).map((pipeline) => ({ tensor: TENSOR, pipeline })),
});

const expertRule = (experts: number, gpus: number): Rule => ({
  rule: 'experts: ranks of their own for them',
  obeys: ({ candidate: { layout } }) => layout.expert > 1,
  kinds: () =>
    properDivisors(experts)
      .filter((expert) => gpus % expert === 0)
      .map((expert) => ({ expert })),
});
