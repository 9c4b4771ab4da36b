/** @file The decision flow of the field, walked with the numbers of one job: data parallelism, shared state, tensor inside
 * the node, pipeline across nodes, all three. Each step is tried, not guessed: the fastest layout of its kind is searched.
 */
import { batchTokens } from '../../job/index.ts';
import { enoughMicroBatches } from '../../plan/index.ts';
import type { FlowStep } from '../types.ts';
import { quantity, whole } from '../words.ts';
import { askOneGpu, askShardedOptimizer, askShardedState } from './data-steps.ts';
import { type Asked, answerOf, better, type Choice, type FlowContext } from './judge.ts';
import { askPipeline, askTensor } from './model-steps.ts';

/** The steps in order, and the layout that they end with; none when nothing that is tried fits. */
export interface Walked {
  readonly steps: readonly FlowStep[];
  readonly choice: Choice | undefined;
}

export function walkFlow(context: FlowContext): Walked {
  const asked = askInOrder(context);
  const last = asked.at(-1);
  const choice = last?.step.decision === 'yes' ? last.choice : bestOf(asked);
  return {
    steps: [...asked.map((each) => each.step), ...threeAxes(context, choice), batchStep(context, choice)],
    choice,
  };
}

/** Asks until a step says yes. */
function askInOrder(context: FlowContext): readonly Asked[] {
  const asked: Asked[] = [];
  const isDone = (): boolean => asked.at(-1)?.step.decision === 'yes';
  const earlier = (): Choice | undefined => bestOf(asked);
  asked.push(askOneGpu(context));
  if (isDone() || context.facts.gpus === 1) return asked;
  asked.push(askShardedOptimizer(context, earlier()));
  if (isDone()) return asked;
  const sharded = askShardedState(context, earlier());
  asked.push(sharded);
  if (isDone()) return asked;
  asked.push(askTensor(context, earlier(), sharded.gathersExposed === true));
  if (isDone()) return asked;
  asked.push(askPipeline(context, earlier()));
  return asked;
}

/** Of the layouts found so far, the one that fits best. */
function bestOf(asked: readonly Asked[]): Choice | undefined {
  const choices = asked.flatMap((each) => (each.choice ? [each.choice] : []));
  const trial = better(choices.map((each) => each.trial));
  return choices.find((each) => each.trial === trial);
}

/** The largest jobs use all three axes; said where the flow has come to a pipeline. */
function threeAxes({ facts }: FlowContext, choice: Choice | undefined): readonly FlowStep[] {
  const layout = choice?.trial.candidate.layout;
  if (layout === undefined || layout.pipeline === 1) return [];
  const { tensor, pipeline, data } = layout;
  const uses = tensor > 1 && data > 1;
  return [
    {
      step: 'three-axes',
      question: `Do GPUs remain beside one copy of the model (${tensor} x ${pipeline})?`,
      numbers: [
        quantity('GPUs', facts.gpus, 'count', 't p N'),
        quantity('tensor ranks', tensor, 'count', 't'),
        quantity('stages', pipeline, 'count', 'p'),
        quantity('data ranks', data, 'count', 'N'),
      ],
      answer: uses
        ? `yes: ${whole(facts.gpus)} = ${tensor} x ${pipeline} x ${data}, tensor in the node, stages across nodes, ${data} replicas that share the optimizer: 3D.`
        : `no: ${whole(facts.gpus)} = ${tensor} x ${pipeline} x ${data}.`,
      decision: uses ? 'yes' : 'no',
    },
  ];
}

/** Adding GPUs adds replicas, until the batch is as large as still trains well. A replica takes a sequence, or with a
 * pipeline four for each stage.
 */
function batchStep({ facts }: FlowContext, choice: Choice | undefined): FlowStep {
  const { batch } = facts.job;
  const layout = choice?.trial.candidate.layout;
  const copy = layout ? layout.tensor * layout.pipeline : 1;
  const least = layout && layout.pipeline > 1 ? enoughMicroBatches(layout.pipeline) : 1;
  const gpusFor = (sequences: number): number => Math.floor(sequences / least) * copy;
  const most = batch.maxTokens === undefined ? undefined : Math.floor(batch.maxTokens / batch.length);
  const room = gpusFor(batch.sequences) >= facts.gpus;
  const each = least === 1 ? 'a sequence' : `${least} sequences (4 p)`;
  const now = `${whole(batch.sequences)} sequences, ${each} for each copy of the model, occupy up to ${whole(gpusFor(batch.sequences))} GPUs`;
  const later =
    most === undefined
      ? 'The job does not say up to which batch it trains well (batch.max)'
      : `The largest batch that trains well, ${whole(most)} sequences, occupies up to ${whole(gpusFor(most))}`;
  return {
    step: 'batch',
    question: `Is the batch large enough for ${whole(facts.gpus)} GPUs, and how many more could it use?`,
    numbers: [
      quantity('GPUs', facts.gpus, 'count'),
      quantity('tokens of a batch', batchTokens(batch), 'tokens'),
      quantity('sequences of a batch', batch.sequences, 'count'),
      ...(most === undefined ? [] : [quantity('sequences of the largest batch', most, 'count')]),
      quantity('GPUs of one copy of the model', copy, 'count', 't p'),
      quantity('most GPUs for this batch', gpusFor(batch.sequences), 'count'),
    ],
    answer: answerOf(room ? 'yes' : 'no', now, later),
    decision: room ? 'yes' : 'no',
  };
}

export { answerOf, type Choice, type FlowContext } from './judge.ts';
export { tensorDegrees, widestTensor } from './model-steps.ts';
