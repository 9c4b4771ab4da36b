/** @file The steps of the flow that split the model: tensor inside the node, pipeline across nodes, and both. */
import type { Sharding } from '../../layout/index.ts';
import { microBatchesOf } from '../../layout/index.ts';
import { enoughMicroBatches } from '../../plan/index.ts';
import { properDivisors } from '../facts.ts';
import { isLegal, type Trial } from '../trials.ts';
import { quantity, share } from '../words.ts';
import {
  type Asked,
  answerOf,
  better,
  type Choice,
  type FlowContext,
  judge,
  type stepSeconds,
  trialQuantities,
} from './judge.ts';

/** Tensor degrees that keep a group on fast links, in ascending order. */
export const tensorDegrees = ({ facts }: FlowContext): readonly number[] =>
  properDivisors(facts.gpus).filter((each) => each <= facts.fastRanks && facts.fastRanks % each === 0);

/** The largest of {@link tensorDegrees} that the model can be split over; 1 when there is none. */
export const widestTensor = (context: FlowContext): number =>
  tensorDegrees(context).findLast((tensor) => isLegal(tensorTrial(context, tensor, 1))) ?? 1;

const tensorTrial = ({ trials }: FlowContext, tensor: number, sharding: Sharding): Trial =>
  trials.bestOf({ tensor, pipeline: 1, context: 1, sharding });

/** Does splitting each layer over the GPUs of a node help? With sharded weights beside it, unless their gathers were what
 * could not be hidden.
 */
export function askTensor(context: FlowContext, earlier: Choice | undefined, gathersExposed: boolean): Asked {
  const shardings: readonly Sharding[] = gathersExposed ? [1] : [1, 3];
  const degrees = tensorDegrees(context);
  const trials = degrees.flatMap((tensor) => shardings.map((sharding) => tensorTrial(context, tensor, sharding)));
  const best = better(trials);
  const layout = isLegal(best) ? best.candidate.layout : undefined;
  const beside =
    layout === undefined || layout.data === 1 ? '' : layout.sharding === 3 ? ' with ZeRO-3' : ' with ZeRO-1';
  const name = `tensor ${layout?.tensor ?? ''}${beside}`;
  const found = judge(context, name, best, earlier);
  const exposed = isLegal(best) ? tensorShare(context, best) : undefined;
  const none = degrees.length === 0 ? 'no fast links join several GPUs here' : '';
  return {
    step: {
      step: 'tensor',
      question: `Are layers or activations too large, or gathers not hidden? Split each layer over up to ${context.facts.fastRanks} GPUs of a node.`,
      numbers: [
        quantity('tensor ranks', layout?.tensor ?? 1, 'count', 't'),
        ...trialQuantities(name, best),
        ...(exposed === undefined ? [] : [quantity('share of the step that waits for tensor', exposed, 'share')]),
      ],
      answer: answerOf(
        found.decision,
        none,
        none === '' ? found.words : '',
        exposed === undefined || found.decision === 'no'
          ? ''
          : `Tensor exchanges are waited for during ${share(exposed)} of it`,
      ),
      decision: found.decision,
    },
    ...(found.choice && { choice: found.choice }),
  };
}

function tensorShare({ trials }: FlowContext, best: Parameters<typeof stepSeconds>[0]): number {
  const { step } = trials.shownOf(best);
  return step.partsSeconds.tensor / step.seconds;
}

/** Still too large: how few stages across nodes hold the model, with at least four micro-batches a stage? */
export function askPipeline(context: FlowContext, earlier: Choice | undefined): Asked {
  const { facts } = context;
  const tensor = widestTensor(context);
  const layers = facts.job.model.layers.length;
  const degrees = properDivisors(facts.gpus / tensor).filter((pipeline) => pipeline <= layers);
  const tried: Trial[] = [];
  for (const pipeline of degrees) {
    const trial = pipelineTrial(context, tensor, pipeline);
    tried.push(trial);
    if (isLegal(trial) && trial.candidate.verdict === 'fits') break;
  }
  const best = better(tried);
  const layout = isLegal(best) ? best.candidate.layout : undefined;
  const name = layout ? pipelineName(layout.tensor, layout.pipeline, layout.data) : 'a pipeline';
  const found = judge(context, name, best, earlier);
  const count = layout ? microBatchesOf(facts.job, layout) : 0;
  const few = layout !== undefined && count < enoughMicroBatches(layout.pipeline);
  const decision = few && found.decision === 'yes' ? 'barely' : found.decision;
  return {
    step: {
      step: 'pipeline',
      question: `Still too large? Tensor ${tensor} inside a node and a pipeline across nodes, with m >= 4 p micro-batches.`,
      numbers: [
        quantity('stages', layout?.pipeline ?? 1, 'count', 'p'),
        quantity('micro-batches of a step', count, 'count', 'm'),
        ...trialQuantities(name, best),
      ],
      answer: answerOf(
        decision,
        degrees.length === 0 ? `no GPUs remain for stages beside tensor ${tensor}` : found.words,
        layout ? `${count} micro-batches are ${few ? 'fewer' : 'not fewer'} than 4 x ${layout.pipeline} stages` : '',
      ),
      decision,
    },
    ...(found.choice && { choice: found.choice }),
  };
}

const pipelineName = (tensor: number, pipeline: number, data: number): string =>
  tensor > 1 && data > 1
    ? `3D ${tensor} x ${pipeline} x ${data}`
    : `pipeline ${pipeline}${tensor > 1 ? ` with tensor ${tensor}` : ''}`;

/** 1F1B with the optimizer shared; micro-batches small enough for four a stage where the batch allows it. */
function pipelineTrial({ trials, facts }: FlowContext, tensor: number, pipeline: number): Trial {
  const data = facts.gpus / (tensor * pipeline);
  const perRank = facts.job.batch.sequences / data;
  const request = { tensor, pipeline, context: 1, sharding: 1, chunks: 1, schedule: '1f1b' } as const;
  const given = facts.job.layout.microBatch;
  const sizes = given === undefined ? [1, 2, 4, 8, 16] : [given];
  const enough = sizes.filter(
    (each) => Number.isInteger(perRank / each) && perRank / each >= enoughMicroBatches(pipeline),
  );
  const allowed = enough.length > 0 ? enough : sizes.slice(0, 1);
  return better(allowed.map((microBatch) => trials.bestOf({ ...request, microBatch }))) as Trial;
}
