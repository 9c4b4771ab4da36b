import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileProgram } from '../compile/index.ts';
import { toyJob, toyLayout } from '../compile/toy.fixture.ts';
import type { Layout } from '../layout/index.ts';
import {
  type ExpandedList,
  type ExpandedOperation,
  expandList,
  type Program,
  type RankList,
} from '../program/index.ts';
import { bubbleShare } from '../schedules/index.ts';
import { blockPrices, pipelineProgram, smallJob } from './compiled.fixture.ts';
import { stepGraph } from './graph.ts';
import { slowTimes } from './hand.fixture.ts';
import { criticalPathOf, type OperationPrices, partsOfList, simulateProgram } from './index.ts';
import { matchExchanges } from './match.ts';
import { placeOperations } from './place.ts';
import { placeTurns } from './turns/place.ts';

/** Layouts that between them use every lane and every rule. */
const layouts: readonly Partial<Layout>[] = [
  {},
  { sharding: 0, gradientReduction: 'per-step' },
  { sharding: 2, gradientReduction: 'per-micro-batch', bucketMB: 0.001 },
  { sharding: 3, gradientReduction: 'per-micro-batch' },
  { sharding: 3, gradientReduction: 'per-micro-batch', prefetch: 0, recompute: 'full' },
  { pipeline: 1, layersPerStage: [2], schedule: 'none', data: 4 },
  { tensor: 1, sequenceParallel: false, schedule: 'gpipe' },
  { recompute: 'full', keepGathered: true },
];
const programs = [
  ...layouts.map((layout) => compileProgram(toyJob(), toyLayout(layout))),
  compileProgram(
    smallJob(8, 16),
    toyLayout({ pipeline: 2, chunks: 2, layersPerStage: [2, 2, 2, 2], schedule: 'interleaved-1f1b' }),
  ),
  pipelineProgram('1f1b', 4, 16),
];
/** And schedules in which stages meet otherwise. */
const folded = [pipelineProgram('zero-bubble-v', 2, 4, 2), pipelineProgram('dualpipe', 4, 8)];
/** By number and by seed, so that a counterexample is short. */
const number = fc.nat({ max: programs.length - 1 });
const programOf = (index: number): Program => programs[index] as Program;

/** Durations that look random and are the same each time: a hash of the operation. */
function hashed([seed, launchCompute, launchExchange]: readonly [number, number, number]): OperationPrices {
  return {
    duration: ({ index, operation }, list) => {
      const salt = operation.kind === 'send' || operation.kind === 'recv' ? 0 : index + 977 * list.pipeline;
      return (Math.imul(salt + seed, 2654435761) >>> 22) / 1024;
    },
    launchCompute,
    launchExchange,
  };
}

/** The same for all operations of a kind: in few different lengths many end together. */
function byKind(
  [seed, launchCompute, launchExchange]: readonly [number, number, number],
  coarse: number,
): OperationPrices {
  return {
    duration: ({ operation }, list) => {
      const sends = operation.kind === 'send' || operation.kind === 'recv';
      const name = sends ? '' : JSON.stringify([operation.kind, operation.writes]);
      let hash = seed + (sends ? 0 : 977 * list.pipeline);
      for (const letter of name) hash = Math.imul(hash + letter.charCodeAt(0), 2654435761);
      return Math.ceil((hash >>> 22) / coarse) * (coarse === 1 ? 1e-3 / 7 : 0.3);
    },
    byShape: true,
    launchCompute,
    launchExchange,
  };
}
const coarseness = fc.constantFrom(1, 256, 512);
const seeds = fc.tuple(fc.nat(), fc.constantFrom(0, 0.05, 1.5), fc.constantFrom(0, 0.1, 2));

/** Turn by turn as on the graph of all operations, with times and without. */
function expectPlacedAlike(program: Program, lists: readonly ExpandedList[], pricing: OperationPrices): void {
  const onGraph = placeOperations(stepGraph(program, lists, pricing), pricing);
  const count = onGraph.start.length;
  const placed = { start: new Float64Array(count), end: new Float64Array(count) };
  const meetings = matchExchanges(program, lists);
  const ends = placeTurns(lists, meetings, pricing, placed);
  expect(placed).toEqual(onGraph);
  expect(placeTurns(lists, meetings, pricing)).toEqual(ends);
  expect(Math.max(...(ends ?? []))).toBe(Math.max(...onGraph.end));
}

describe('a simulated step', () => {
  it('is placed turn by turn as on its graph, to the same bit', () => {
    fc.assert(
      fc.property(fc.constantFrom(...programs, ...folded), seeds, (each, seed) => {
        const pricing = hashed(seed);
        const lists = each.lists.map((list) => expandList(each, list));
        expectPlacedAlike(each, lists, pricing);
      }),
      { numRuns: 60 },
    );
  });

  it('is placed so in whole turns too, where operations of a kind take equally long', () => {
    fc.assert(
      fc.property(fc.constantFrom(...programs, ...folded), seeds, coarseness, (each, seed, coarse) => {
        const pricing = byKind(seed, coarse);
        const lists = each.lists.map((list) => expandList(each, list));
        expectPlacedAlike(each, lists, pricing);
      }),
      { numRuns: 120 },
    );
  });

  it('follows the rules word by word', () => {
    fc.assert(
      fc.property(fc.constantFrom(...programs, ...folded), seeds, (each, seed) => {
        const pricing = hashed(seed);
        const step = simulateProgram(each, pricing);
        const slow = slowTimes(step, pricing);
        for (const [list, ends] of slow.entries()) {
          const end = step.lists[list]?.end ?? [];
          for (const [at, expected] of ends.entries()) expect(end[at]).toBeCloseTo(expected, 9);
        }
      }),
      { numRuns: 20 },
    );
  }, 60_000);

  it('is the same each time', () => {
    fc.assert(
      fc.property(number, seeds, (index, seed) => {
        const [each, pricing] = [programOf(index), hashed(seed)];
        const [one, two] = [simulateProgram(each, pricing), simulateProgram(each, pricing)];
        expect(one.start).toEqual(two.start);
        expect(one.end).toEqual(two.end);
        expect(criticalPathOf(one)).toEqual(criticalPathOf(two));
      }),
      { numRuns: 10 },
    );
  });

  it('is never shortened by a slower operation: nothing starts earlier', () => {
    const more = fc.double({ min: 0, max: 9, noNaN: true });
    fc.assert(
      fc.property(number, seeds, fc.nat(), more, (index, seed, pick, extra) => {
        const [each, pricing] = [programOf(index), hashed(seed)];
        const fast = simulateProgram(each, pricing);
        const chosen = pick % fast.start.length;
        const place = (expanded: ExpandedOperation, { pipeline }: RankList): number =>
          (fast.graph.base[pipeline] ?? 0) + expanded.index;
        const slow = simulateProgram(each, {
          ...pricing,
          duration: (expanded, list) =>
            pricing.duration(expanded, list) + (place(expanded, list) === chosen ? extra : 0),
        });
        expect(slow.seconds).toBeGreaterThanOrEqual(fast.seconds);
        for (const [at, start] of fast.start.entries()) expect(slow.start[at]).toBeGreaterThanOrEqual(start);
      }),
      { numRuns: 50 },
    );
  });

  it('is as long as its critical path, which leaves no gap but for the host', () => {
    fc.assert(
      fc.property(number, seeds, (index, seed) => {
        const [each, pricing] = [programOf(index), hashed(seed)];
        const step = simulateProgram(each, pricing);
        const path = criticalPathOf(step);
        expect(path[0]?.end).toBe(step.seconds);
        for (const [place, { start, waitedFor }] of path.entries()) {
          const before = path[place + 1];
          if (waitedFor === 'host') expect(before).toBeUndefined();
          else expect(start).toBe(before?.end ?? 0);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('is cut into parts that add up, for every list', () => {
    fc.assert(
      fc.property(number, seeds, (index, seed) => {
        const [each, pricing] = [programOf(index), hashed(seed)];
        const step = simulateProgram(each, pricing);
        for (const list of step.lists.keys()) {
          const parts = Object.values(partsOfList(step, list, () => 1e6));
          for (const part of parts) expect(part).toBeGreaterThanOrEqual(0);
          expect(Math.abs(parts.reduce((sum, part) => sum + part, 0) - step.seconds)).toBeLessThan(1e-9);
        }
      }),
      { numRuns: 50 },
    );
  });
});

describe('with fixed blocks and free transfers', () => {
  const shape = fc.record({
    schedule: fc.constantFrom<Layout['schedule']>('naive', 'gpipe', '1f1b', 'interleaved-1f1b'),
    stages: fc.integer({ min: 2, max: 6 }),
    microBatches: fc.integer({ min: 1, max: 12 }),
    forward: fc.double({ min: 0.1, max: 3, noNaN: true }),
    backward: fc.double({ min: 0.1, max: 3, noNaN: true }),
  });

  it('every stage idles by the closed form of its schedule: (p - 1) / (v m + p - 1), naive (p - 1) / p', () => {
    fc.assert(
      fc.property(shape, ({ schedule, stages, microBatches, forward, backward }) => {
        const chunks = schedule === 'interleaved-1f1b' ? 2 : 1;
        const batches = chunks > 1 ? stages * Math.ceil(microBatches / stages) : microBatches;
        const compiled = pipelineProgram(schedule, stages, batches, chunks);
        const step = simulateProgram(compiled, blockPrices(compiled, forward, backward));
        const share = bubbleShare({ schedule, stages, chunks, microBatches: batches });
        const busy = chunks * batches * (forward + backward);
        expect(step.seconds).toBeCloseTo(busy / (1 - share), 9);
        for (const index of step.lists.keys()) {
          const parts = partsOfList(step, index, () => 1e30);
          expect(parts.bubble / step.seconds).toBeCloseTo(share, 9);
          expect(parts.ideal + parts.inefficiency + parts.memoryBound).toBeCloseTo(busy, 9);
        }
      }),
      { numRuns: 30 },
    );
  });
});

describe('more micro-batches', () => {
  it('never raise the bubble share in steps of p, and each further step of p takes the same time', () => {
    for (const [schedule, chunks] of [
      ['gpipe', 1],
      ['1f1b', 1],
      ['interleaved-1f1b', 2],
    ] as const) {
      for (const stages of [2, 3, 5]) {
        const steps = [1, 2, 3, 4, 5].map((rounds) => {
          const program = pipelineProgram(schedule, stages, rounds * stages, chunks);
          const { seconds } = simulateProgram(program, blockPrices(program, 1, 2));
          return { seconds, share: 1 - (3 * chunks * rounds * stages) / seconds };
        });
        for (let at = 1; at < steps.length; at++) {
          expect(steps[at]?.share).toBeLessThanOrEqual(steps[at - 1]?.share ?? 0);
          expect((steps[at]?.seconds ?? 0) - (steps[at - 1]?.seconds ?? 0)).toBeCloseTo(3 * chunks * stages, 9);
        }
      }
    }
  });
});

it('places a hundred thousand operations, and ends by the closed form', () => {
  const large = pipelineProgram('1f1b', 8, 440);
  const lists = large.lists.map((list) => expandList(large, list));
  expect(lists.reduce((sum, list) => sum + list.operations.length, 0)).toBeGreaterThan(100_000);
  const { seconds } = simulateProgram(large, blockPrices(large, 1, 2), lists);
  expect(seconds / (3 * (440 + 8 - 1))).toBeCloseTo(1, 9);
});
