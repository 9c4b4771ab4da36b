/** @file The parts of a step in words and colours; what is waited for has a hatch beside its colour. */
import type { Shown } from '@meshwright/core/plan';
import type { OperationRole } from '../palette/index.ts';

export type StepPart = keyof Shown['step']['partsSeconds'];

/** How one part is named and drawn. */
export interface StepPartLook {
  readonly words: string;
  readonly colour: OperationRole;
  readonly waits: boolean;
}

const work = (words: string, colour: OperationRole): StepPartLook => ({ words, colour, waits: false });
const wait = (words: string, colour: OperationRole): StepPartLook => ({ words, colour, waits: true });

/** In the order of the parts of a step. */
export const stepParts: Readonly<Record<StepPart, StepPartLook>> = {
  ideal: work('compute at peak rate', 'forward'),
  inefficiency: work('what it takes beyond that', 'forward'),
  memoryBound: work('other kernels', 'backward'),
  recompute: work('recomputation', 'backward'),
  optimizer: work('norm and optimizer', 'optimizer'),
  tensor: wait('waiting: tensor', 'collective'),
  context: wait('waiting: context', 'collective'),
  expert: wait('waiting: expert', 'collective'),
  data: wait('waiting: data', 'collective'),
  pipelineSend: wait('waiting: sends', 'send'),
  bubble: wait('pipeline bubble', 'send'),
  host: wait('waiting: the host', 'send'),
  offload: wait('waiting: offload', 'send'),
};

/** Parts that take at least a two-thousandth of a step. */
export const partsInSight = ({ seconds, partsSeconds }: Shown['step']): readonly (readonly [StepPart, number])[] =>
  (Object.keys(stepParts) as StepPart[])
    .map((part) => [part, partsSeconds[part]] as const)
    .filter(([, value]) => value / seconds >= 0.0005);
