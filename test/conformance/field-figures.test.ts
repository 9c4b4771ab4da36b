/** @file Figures that the field quotes of schedules: from simulated programs, and from lists in time where pairs share their
 * time, which programs issue one after the other. */
import { clusterFromRequest } from '@meshwright/core/cluster';
import { createJob } from '@meshwright/core/job';
import { completeLayout } from '@meshwright/core/layout';
import { modelFromPreset } from '@meshwright/core/model';
import { createEvaluator, evaluateStep, splitCosts } from '@meshwright/core/plan';
import { bubbleShare, splitTimes } from '@meshwright/core/schedules';
import { describe, expect, it } from 'vitest';

const shareOf = (stages: number, microBatches: number): string =>
  `${Math.round(100 * bubbleShare({ schedule: '1f1b', stages, chunks: 1, microBatches }))} %`;

describe('what the field says of bubbles', () => {
  it('eight stages idle 47 % of a step of 8 micro-batches and 18 % of one of 32', () => {
    expect([shareOf(8, 8), shareOf(8, 32)]).toEqual(['47 %', '18 %']);
  });

  it('two stages with 8 micro-batches idle 11 %, eight with 16 idle 30 %', () => {
    expect([shareOf(2, 8), shareOf(8, 16)]).toEqual(['11 %', '30 %']);
  });

  it('ZB-H1 has a third of the bubble of 1F1B where forward, input and weight part are equal', () => {
    for (const stages of [4, 8, 16]) {
      const { idle } = splitTimes(
        'zero-bubble-h1',
        { stages, microBatches: 4 * stages },
        { forward: 1, input: 1, weight: 1 },
      );
      expect(Math.max(...idle)).toBe((3 * (stages - 1)) / 3);
    }
  });

  it('DualPipe beats ZB-H1 where it hides an all-to-all that ZB-H1 waits for, and not where there is none', () => {
    const shape = { stages: 8, microBatches: 32 };
    const lengths = (exchange: number) => {
      const waited = { forward: 1 + exchange, input: 1 + exchange, weight: 1 };
      // A stage of DualPipe holds two copies and passes half of the micro-batches each way: as many passes in all.
      return {
        dual: splitTimes('dualpipe', shape, { ...waited, pair: 3 }).length,
        zeroBubble: splitTimes('zero-bubble-h1', shape, waited).length,
      };
    };
    // In units of a pass: with an all-to-all of half a pass in forward and in input part a step of ZB-H1 is 26 % longer, with
    // none 1 %. Pairs hide theirs whole: 3 where their kernels alone take 3.
    expect([lengths(0.5), lengths(0)]).toEqual([
      { dual: 112.5, zeroBubble: 142 },
      { dual: 102, zeroBubble: 103 },
    ]);
  });

  it('interleaving gains 10 % and more on GPT-3 175B over 96 GPUs at small batches (Narayanan et al. 2021, abstract)', () => {
    const { cluster } = clusterFromRequest('12x dgx-a100', 'cluster');
    const { model } = modelFromPreset('gpt3-175b', 'model');
    if (!cluster || !model) throw new Error('internal: the fixture is broken.');
    const secondsOf = (sequences: number, chunks: number): number => {
      const job = createJob({ name: 'interleaved', model, cluster, batch: { sequences, length: 2048 } });
      const schedule = chunks > 1 ? 'interleaved-1f1b' : '1f1b';
      const request = { tensor: 8, pipeline: 12, microBatch: 1, chunks, schedule, recompute: 'full' } as const;
      const { layout } = completeLayout(request, job, splitCosts(job));
      const evaluator = createEvaluator(job);
      return evaluateStep(evaluator.specOf(layout), evaluator.orderOf(layout)).seconds;
    };
    const gains = [12, 24, 60].map((sequences) => secondsOf(sequences, 1) / secondsOf(sequences, 2) - 1);
    expect(gains[0]).toBeGreaterThan(0.1);
    expect(gains[1]).toBeGreaterThan(0.1);
    // It closes as the batch grows.
    expect(gains).toEqual([...gains].sort((one, other) => other - one));
  });
});
