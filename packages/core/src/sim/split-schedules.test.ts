import { describe, expect, it } from 'vitest';
import { type SplitScheduleName, scheduleTimes, splitSchedules } from '../schedules/index.ts';
import { partPrices, pipelineProgram } from './compiled.fixture.ts';
import { simulateProgram } from './index.ts';

/** Stages, micro-batches and seconds of forward, input and weight part of a layer. */
type Shape = readonly [stages: number, microBatches: number, forward: number, input: number, weight: number];

const simulated = (schedule: SplitScheduleName, [stages, microBatches, forward, input, weight]: Shape): number => {
  const chunks = schedule === 'zero-bubble-v' || schedule === 'dualpipe-v' ? 2 : 1;
  const program = pipelineProgram(schedule, stages, microBatches, chunks);
  return simulateProgram(program, partPrices(program, { forward, input, weight })).seconds;
};

/** Work of a stage and the closed form of its idle time. */
function byForm(schedule: SplitScheduleName, [stages, microBatches, forward, input, weight]: Shape): number {
  const shape = { stages, microBatches };
  const costs = { forward, input, weight };
  expect(splitSchedules[schedule].exact(shape, costs)).toBe(true);
  const passes = schedule === 'zero-bubble-v' || schedule === 'dualpipe-v' ? 2 * microBatches : microBatches;
  return passes * (forward + input + weight) + splitSchedules[schedule].bubble(shape, costs);
}

describe('compiled programs with fixed parts and free transfers', () => {
  it('take what the lists take in time, under every schedule that splits backward', () => {
    const shapes: readonly Shape[] = [
      [2, 4, 1, 1, 1],
      [3, 8, 1, 1.3, 0.8],
      [4, 9, 1, 2, 0.5],
    ];
    for (const schedule of ['zero-bubble-h1', 'zero-bubble-h2', 'zero-bubble-v', 'dualpipe-v'] as const) {
      const chunks = schedule === 'zero-bubble-v' || schedule === 'dualpipe-v' ? 2 : 1;
      for (const shape of shapes) {
        const [stages, microBatches, forward, input, weight] = shape;
        const times = scheduleTimes({ schedule, stages, chunks, microBatches }, { forward, input, weight });
        // Pairs of DualPipeV wait for both inputs on lists, one after the other in programs: never longer.
        if (schedule === 'dualpipe-v') expect(simulated(schedule, shape)).toBeLessThanOrEqual(times.length + 1e-9);
        else expect(simulated(schedule, shape)).toBeCloseTo(times.length, 9);
      }
    }
  });

  it('of ZB-H1 with W <= B idle (p - 1) (F + B - W), a third of 1F1B where all are equal', () => {
    for (const shape of [
      [2, 4, 1, 1, 1],
      [4, 8, 1, 1, 1],
      [4, 8, 2, 3, 1],
      [3, 7, 3, 4, 3],
    ] as const) {
      expect(simulated('zero-bubble-h1', shape)).toBeCloseTo(byForm('zero-bubble-h1', shape), 9);
    }
    const [stages, microBatches] = [4, 8];
    const plain = pipelineProgram('1f1b', stages, microBatches);
    const equal = { forward: 1, input: 1, weight: 1 };
    const bubble = simulateProgram(plain, partPrices(plain, equal)).seconds - 3 * microBatches;
    expect(simulated('zero-bubble-h1', [stages, microBatches, 1, 1, 1]) - 3 * microBatches).toBeCloseTo(bubble / 3, 9);
  });
});
