/** @file What failures cost the layout that the search finds, and how often a checkpoint is worth its time. */
import type { Shown } from '../plan/index.ts';
import { answerOf } from './flow/index.ts';
import type { FlowStep } from './types.ts';
import { duration, quantity, share, time, whole } from './words.ts';

/** The law of Young with the numbers of this job. */
export function failureStep({ failures, gpus }: Shown): FlowStep {
  const { meanSeconds, writeSeconds, restartSeconds, intervalSeconds, intervalSteps, lost, rare } = failures;
  const stops = `${whole(gpus)} GPUs are stopped once in ${duration(meanSeconds)}~, writing a checkpoint takes ${time(writeSeconds)}~`;
  const best = `One every ${duration(intervalSeconds)} (${whole(intervalSteps)} steps) loses least, ${share(lost.share)} of the time~: ${share(lost.writing)} writing, ${share(lost.repeated)} work done again, ${share(lost.restarting)} restarts`;
  const hint =
    'Write faster, or beside the training: where writing takes a tenth of the time between failures and more, the law says too little';
  return {
    step: 'failures',
    question: 'Are failures rare enough that checkpoints cost little?',
    numbers: [
      quantity('hours between failures of the job', meanSeconds / 3600, 'count', 'M = those of a GPU / GPUs'),
      quantity('time to write a checkpoint', writeSeconds, 'seconds', 'W'),
      quantity('time of a restart', restartSeconds, 'seconds', 'R'),
      quantity('work between two checkpoints', intervalSeconds, 'seconds', 'sqrt(2 W M)'),
      quantity('share of the time that is lost', lost.share, 'share', 'W/tau + tau/2M + R/M over 1 + these'),
    ],
    answer: rare ? answerOf('yes', stops, best) : answerOf('no', stops, best, hint),
    decision: rare ? 'yes' : 'no',
  };
}
