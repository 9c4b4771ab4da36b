/** @file The rules of thumb that go by the size of the model: under 13 B parameters replicas, whole or sharded; up to 70 B
 * sharded state with the optimizer on the host; up to 300 B tensor 8 with two to four stages; beyond, and for experts,
 * expert ranks as well.
 */
import type { LayoutRequest } from '../../layout/index.ts';
import type { FlowContext } from '../flow/index.ts';
import type { Rule } from './rule.ts';

const SMALL = 13e9;
const MEDIUM = 70e9;
const LARGE = 300e9;
const TENSOR = 8;
const FEW_STAGES = [2, 3, 4];

/** The one rule that speaks of a model of this size. */
export function sizeRule({ facts }: FlowContext): Rule {
  const hasExperts = facts.job.model.layers.some(({ ffn }) => ffn.kind === 'moe');
  if (facts.parameters > LARGE || hasExperts) return expertRule(hasExperts);
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
  kinds: () => [{ ...alone, sharding: 3 }],
  note: () => 'held against FSDP without offload: the search does not offload yet',
};

const largeRule = (gpus: number): Rule => ({
  rule: `70 to 300 B parameters: tensor ${TENSOR} with 2 to 4 stages`,
  obeys: ({ candidate: { layout } }) => layout.tensor === TENSOR && FEW_STAGES.includes(layout.pipeline),
  kinds: () =>
    FEW_STAGES.filter((pipeline) => gpus % (TENSOR * pipeline) === 0).map((pipeline) => ({ tensor: TENSOR, pipeline })),
});

const expertRule = (hasExperts: boolean): Rule => ({
  rule: 'over 300 B parameters, or experts: tensor, pipeline and expert ranks',
  obeys: () => false,
  kinds: () => [],
  note: () =>
    hasExperts
      ? 'the search has no expert ranks yet: experts are split by tensor ranks or sharded'
      : 'a model without experts has no expert ranks',
});
