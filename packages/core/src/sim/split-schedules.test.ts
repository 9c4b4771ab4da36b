import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SplitScheduleName, scheduleTimes, splitSchedules } from '../schedules/index.ts';
import { partPrices, pipelineProgram } from './compiled.fixture.ts';
import { simulateProgram } from './index.ts';

/** Stages, micro-batches and seconds of forward, input and weight part of a layer. */
type Shape = readonly [stages: number, microBatches: number, forward: number, input: number, weight: number];

const compiled = [
  'zero-bubble-h1',
  'zero-bubble-h2',
  'zero-bubble-v',
  'dualpipe',
  'dualpipe-v',
] as const satisfies readonly SplitScheduleName[];

const chunksOf = (schedule: SplitScheduleName): number =>
  schedule === 'zero-bubble-v' || schedule === 'dualpipe-v' ? 2 : 1;

const simulated = (schedule: SplitScheduleName, [stages, microBatches, forward, input, weight]: Shape): number => {
  const chunks = chunksOf(schedule);
  const program = pipelineProgram(schedule, stages, microBatches, chunks);
  return simulateProgram(program, partPrices(program, { forward, input, weight })).seconds;
};

/** Idle time of the stage that idles most, from its first start to its last end. */
function mostIdle(schedule: SplitScheduleName, shape: Shape): number {
  const [stages, microBatches, forward, input, weight] = shape;
  const program = pipelineProgram(schedule, stages, microBatches, chunksOf(schedule));
  const prices = partPrices(program, { forward, input, weight });
  const { lists } = simulateProgram(program, prices);
  const idle = lists.map(({ expanded, start, end }) => {
    const work = expanded.operations.map((operation) => prices.duration(operation, expanded.list));
    const busy = work.flatMap((seconds, at) => (seconds > 0 ? [at] : []));
    const length = (end[busy.at(-1) ?? 0] as number) - (start[busy[0] ?? 0] as number);
    return length - work.reduce((sum, seconds) => sum + seconds, 0);
  });
  return Math.max(...idle);
}

/** The closed form of idle time, where it is exact. */
function bubbleOf(schedule: SplitScheduleName, [stages, microBatches, forward, input, weight]: Shape): number {
  const shape = { stages, microBatches };
  const costs = { forward, input, weight };
  expect(splitSchedules[schedule].exact(shape, costs)).toBe(true);
  return splitSchedules[schedule].bubble(shape, costs);
}

/** Work of a stage and the closed form of its idle time. */
function byForm(schedule: SplitScheduleName, shape: Shape): number {
  const [, microBatches, forward, input, weight] = shape;
  return chunksOf(schedule) * microBatches * (forward + input + weight) + bubbleOf(schedule, shape);
}

describe('compiled programs with fixed parts and free transfers', () => {
  it('take what the lists take in time, under every schedule that splits backward', () => {
    const shapes: readonly Shape[] = [
      [2, 4, 1, 1, 1],
      [3, 8, 1, 1.3, 0.8],
      [4, 9, 1, 2, 0.5],
      [4, 8, 2, 1.5, 1],
    ];
    for (const schedule of compiled) {
      const chunks = chunksOf(schedule);
      for (const shape of shapes) {
        const [stages, microBatches, forward, input, weight] = shape;
        if (!splitSchedules[schedule].takes({ stages, microBatches })) continue;
        const held = schedule === 'dualpipe' ? 2 : chunks;
        const times = scheduleTimes({ schedule, stages, chunks: held, microBatches }, { forward, input, weight });
        // Pairs of DualPipe wait for both inputs on lists, one after the other in programs: never longer.
        if (schedule === 'dualpipe-v' || schedule === 'dualpipe')
          expect(simulated(schedule, shape)).toBeLessThanOrEqual(times.length + 1e-9);
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

  it('of ZB-V with equal parts and of ZB-H2 idle as their closed forms between first start and last end of a stage', () => {
    for (const [schedule, shape] of [
      ['zero-bubble-v', [2, 4, 1, 1, 1]],
      ['zero-bubble-v', [3, 6, 2, 2, 2]],
      ['zero-bubble-v', [4, 8, 0.7, 0.7, 0.7]],
      ['zero-bubble-h2', [2, 4, 1, 1, 1]],
      ['zero-bubble-h2', [3, 6, 2, 3, 1]],
      ['zero-bubble-h2', [4, 9, 3, 4, 3]],
    ] as const) {
      expect(mostIdle(schedule, shape)).toBeCloseTo(bubbleOf(schedule, shape), 9);
    }
  });

  it('take their golden seconds where no closed form is exact', () => {
    const shapes: readonly Shape[] = [
      [4, 8, 1, 1, 1],
      [4, 8, 1, 2, 1],
      [4, 8, 1, 1, 2],
      [4, 12, 3, 2, 4],
    ];
    const secondsOf = (schedule: SplitScheduleName) =>
      shapes.map((shape) => Number(simulated(schedule, shape).toFixed(9)));
    expect({
      h1: secondsOf('zero-bubble-h1'),
      h2: secondsOf('zero-bubble-h2'),
      v: secondsOf('zero-bubble-v'),
      dual: secondsOf('dualpipe'),
      dualV: secondsOf('dualpipe-v'),
    }).toEqual({
      h1: [27, 38, 35, 117],
      h2: [27, 35, 35, 117],
      v: [51, 70, 69, 227],
      dual: [25, 34, 33, 111],
      dualV: [51, 72, 67, 225],
    });
  });

  it('take at least their work, and at most what 1F1B takes where the weight part is the shortest', () => {
    const parts = fc.double({ min: 0.5, max: 2, noNaN: true });
    const shape = fc.record({
      stages: fc.integer({ min: 2, max: 4 }),
      rounds: fc.integer({ min: 2, max: 3 }),
      forward: parts,
      input: parts,
      weight: parts,
    });
    fc.assert(
      fc.property(fc.constantFrom(...compiled), shape, (schedule, { stages, rounds, forward, input, weight }) => {
        if (!splitSchedules[schedule].takes({ stages, microBatches: rounds * stages })) return;
        const seconds = simulated(schedule, [stages, rounds * stages, forward, input, weight]);
        const chunks = chunksOf(schedule);
        const work = chunks * rounds * stages * (forward + input + weight);
        expect(seconds).toBeGreaterThanOrEqual(work - 1e-9);
        const plain = work + chunks * (stages - 1) * (forward + input + weight);
        if (weight <= Math.min(forward, input)) expect(seconds).toBeLessThanOrEqual(plain + 1e-9);
      }),
      { numRuns: 30 },
    );
  });
});
