/** @file The questions of the field about one job. */
import { gpuCount } from '../../cluster/index.ts';
import type { Job } from '../../job/index.ts';
import { whole } from '../words.ts';
import { STATE_PER_PARAMETER } from './job.ts';
import type { Question } from './types.ts';

/** What exchanges are called in the choices. */
export const collectives: readonly string[] = [
  'all-reduce (or reduce-scatter and all-gather)',
  'all-to-all',
  'send and receive between neighbours',
  'broadcast from one rank to all',
];

const boxes: readonly string[] = [
  'Its exchanges carry less than those of the other axes, so a slow link would be wasted.',
  'It exchanges activations several times in every layer and computing waits for it, so it needs the fastest link.',
  'Tensor ranks must share the memory of their host.',
  'Frameworks number tensor ranks first, and numbers decide nothing else.',
];
const changes: readonly string[] = [
  'Optimizer state is divided by the data ranks, the bytes on the links stay what they are: a layer needs fewer tensor ranks or stages.',
  'Optimizer state is divided by the data ranks, and so are the bytes on the links.',
  'Weights are divided by the data ranks and gathered for each layer, so the bubble disappears.',
  'Activations are divided by the data ranks.',
];

/** Places of the right choices. */
export const rightChoice = { box: 1, zeroChange: 0, reduce: 0, send: 2 } as const;

/** Links of the cluster in the choices: in the box, and between boxes. */
export const linksOf = ({ cluster }: Job): readonly [string, string] => [
  `${cluster.intra.name}, inside the box`,
  `${cluster.inter.name}, between boxes`,
];

export function questionsOf(job: Job): readonly Question[] {
  const links = linksOf(job);
  const axis = (name: 'tensor' | 'pipeline' | 'data'): readonly Question[] => [
    { id: `${name}Link`, kind: 'choice', asks: `Which link do the ${name} ranks exchange over?`, choices: links },
    {
      id: `${name}Collective`,
      kind: 'choice',
      asks: `What do the ${name} ranks exchange with?`,
      choices: collectives,
    },
  ];
  return [
    { id: 'devices', kind: 'number', unit: 'GPUs', asks: 'How many GPUs does it take to hold the state of one layer?' },
    {
      id: 'numbers',
      kind: 'numbers',
      asks: `Three numbers whose product is ${whole(gpuCount(job.cluster))}: tensor, pipeline, data.`,
    },
    ...axis('tensor'),
    ...axis('pipeline'),
    ...axis('data'),
    { id: 'box', kind: 'choice', asks: 'Why does the tensor axis stay in the box?', choices: boxes },
    {
      id: 'bubble',
      kind: 'number',
      unit: '% of the step',
      asks: 'How large is the bubble of your numbers under 1F1B with micro-batches of one sequence, stages being equal?',
    },
    {
      id: 'zeroState',
      kind: 'number',
      unit: 'bytes a parameter',
      asks: `Of ${STATE_PER_PARAMETER} bytes of state a parameter, how many are left on a GPU under ZeRO-1 with your data ranks?`,
    },
    { id: 'zeroChange', kind: 'choice', asks: 'What else changes with ZeRO-1?', choices: changes },
  ];
}

/** The job in sentences. */
export function situationOf({ model, cluster, batch }: Job): string {
  const [layer] = model.layers;
  const { heads = 0 } = layer?.attention ?? {};
  const width = layer?.ffn.width ?? 0;
  return (
    `${whole(gpuCount(cluster))} GPUs (${cluster.device.name}) in ${whole(cluster.nodes)} boxes of ${cluster.gpusPerNode}: ` +
    `${cluster.intra.name} in the box, ${cluster.inter.name} between boxes. ` +
    `A model of ${model.layers.length} layers, hidden ${whole(model.hidden)}, ${heads} heads, FFN ${whole(width)}, ` +
    `vocabulary ${whole(model.vocabulary)}; ${whole(batch.sequences)} sequences of ${whole(batch.length)} a step. ` +
    `bf16 with Adam and fp32 gradients is ${STATE_PER_PARAMETER} bytes of state a parameter. Nothing is sharded over data ranks; ` +
    'backward computes each block again. Split it.'
  );
}
