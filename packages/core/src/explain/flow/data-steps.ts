/** @file The steps of the flow that split the batch only: DDP, then less and less state on each GPU. */

import type { Sharding } from '../../layout/index.ts';
import { stateLaw } from '../facts.ts';
import type { Trial } from '../trials.ts';
import { amount, bothBytes, gib, gigabytes, quantity, whole } from '../words.ts';
import {
  type Asked,
  answerOf,
  better,
  type Choice,
  type FlowContext,
  gathersShare,
  judge,
  lawQuantity,
  lawWords,
  trialQuantities,
} from './judge.ts';

const dataOnly = ({ trials }: FlowContext, sharding: Sharding): Trial =>
  trials.bestOf({ tensor: 1, pipeline: 1, context: 1, sharding });

/** Does one GPU hold the state and a micro-batch? Then data parallelism is enough. */
export function askOneGpu(context: FlowContext): Asked {
  const { facts } = context;
  const trial = dataOnly(context, 0);
  const name = facts.gpus > 1 ? 'DDP' : 'one GPU';
  const found = judge(context, name, trial, undefined);
  const { bytes } = stateLaw(facts, 0, 1);
  const other = facts.gradient === 4 ? 2 : 4;
  const otherBytes = bytes + (other - facts.gradient) * facts.trained;
  const frozen = facts.frozen === 0 ? '' : ` + ${facts.weight} F`;
  const otherSum = `${facts.weight + other + facts.optimizer} Psi${frozen}`;
  const isLarge = bytes > facts.capacityBytes;
  const state = `the state ${lawWords(facts, 0, 1)} is ${isLarge ? 'more' : 'less'} than the ${bothBytes(facts.capacityBytes)} of a GPU`;
  const alternative = `with ${other === 4 ? 'fp32' : 'bf16'} gradients ${otherSum} = ${gigabytes(otherBytes)}`;
  return {
    step: {
      step: 'one-gpu',
      question: 'Does one GPU hold all state and a micro-batch?',
      numbers: [
        quantity(facts.frozen === 0 ? 'parameters' : 'trained parameters', facts.trained, 'count', 'Psi'),
        ...(facts.frozen === 0 ? [] : [quantity('frozen parameters', facts.frozen, 'count', 'F')]),
        lawQuantity(facts, 'DDP', 0, 1),
        quantity(`state per GPU with gradients of ${other} bytes`, otherBytes, 'bytes', otherSum),
        quantity('capacity of a GPU', facts.capacityBytes, 'bytes'),
        ...trialQuantities(name, trial),
      ],
      answer: answerOf(found.decision, `${state}; ${alternative}`, isLarge ? '' : found.words),
      decision: found.decision,
    },
    ...(found.choice && { choice: found.choice }),
  };
}

/** Does it fit once the optimizer, or optimizer and gradients, are shared? Same bytes as DDP with one micro-batch. */
export function askShardedOptimizer(context: FlowContext, earlier: Choice | undefined): Asked {
  const { facts } = context;
  const names = { 1: 'ZeRO-1', 2: 'ZeRO-2' } as const;
  const trials = ([1, 2] as const).map((sharding) => ({ name: names[sharding], trial: dataOnly(context, sharding) }));
  const best = better(trials.map(({ trial }) => trial));
  const name = trials.find(({ trial }) => trial === best)?.name ?? 'ZeRO-2';
  const found = judge(context, name, best, earlier);
  const laws = ([1, 2] as const).map((sharding) => `${names[sharding]} ${lawWords(facts, sharding, facts.gpus)}`);
  return {
    step: {
      step: 'sharded-optimizer',
      question: `Does it fit when ${whole(facts.gpus)} ranks share the optimizer (ZeRO-1), or optimizer and gradients (ZeRO-2)?`,
      numbers: [
        quantity('data ranks', facts.gpus, 'count', 'N'),
        ...trials.flatMap(({ name: each, trial }, index) => [
          lawQuantity(facts, each, index === 0 ? 1 : 2, facts.gpus),
          ...trialQuantities(each, trial),
        ]),
      ],
      answer: answerOf(found.decision, `state ${laws.join(', ')}`, found.words),
      decision: found.decision,
    },
    ...(found.choice && { choice: found.choice }),
  };
}

/** Does it fit when weights are shared too, and do the gathers hide behind compute? */
export function askShardedState(context: FlowContext, earlier: Choice | undefined): Asked {
  const { facts } = context;
  const trial = dataOnly(context, 3);
  const found = judge(context, 'ZeRO-3 (FSDP)', trial, earlier);
  const layer = facts.layerParameters * facts.weight;
  return {
    step: {
      step: 'sharded-state',
      question: `Does it fit divided by ${whole(facts.gpus)} GPUs (ZeRO-3, FSDP), and do the gathers hide behind compute?`,
      numbers: [
        lawQuantity(facts, 'ZeRO-3', 3, facts.gpus),
        quantity('one gathered layer', layer, 'bytes', 'Psi_layer w'),
        ...trialQuantities('ZeRO-3', trial),
        ...(found.choice
          ? [quantity('share of the step that waits for gathers', gathersShare(context, found.choice.trial), 'share')]
          : []),
      ],
      answer: answerOf(
        found.decision,
        `state ${lawWords(facts, 3, facts.gpus)}, and ${gib(layer)} for each gathered layer of ${amount(facts.layerParameters)}`,
        found.words,
      ),
      decision: found.decision,
    },
    ...(found.choice && { choice: found.choice }),
    gathersExposed: found.gathersExposed,
  };
}
