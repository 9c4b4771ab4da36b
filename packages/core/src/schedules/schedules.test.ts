import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  backwardCode,
  bubbleRatio,
  bubbleShare,
  chunkOf,
  decodeInvocation,
  formatInvocations,
  inFlight,
  isBackward,
  microBatchesForShare,
  microBatchOf,
  producerOf,
  type ScheduleName,
  type ScheduleShape,
  scheduleCodes,
  scheduleLimits,
  scheduleList,
  scheduleTimes,
} from './index.ts';

const shapeOf = (schedule: ScheduleName, stages: number, microBatches: number, chunks = 1): ScheduleShape => ({
  schedule,
  stages,
  chunks,
  microBatches,
});

const text = (shape: ScheduleShape, stage: number) => formatInvocations(scheduleCodes(shape, stage), shape.chunks);

/** Longest path with fixed durations and free transfers. */
const makespan = (shape: ScheduleShape, forward: number, backward: number): number =>
  scheduleTimes(shape, { forward, input: backward, weight: 0 }).length;

const shapes: fc.Arbitrary<ScheduleShape> = fc.oneof(
  fc.nat({ max: 63 }).map((m) => shapeOf('none', 1, m + 1)),
  fc
    .tuple(
      fc.constantFrom<ScheduleName>('naive', 'gpipe', '1f1b'),
      fc.integer({ min: 2, max: 16 }),
      fc.integer({ min: 1, max: 64 }),
    )
    .map(([schedule, p, m]) => shapeOf(schedule, p, m)),
  fc
    .tuple(fc.integer({ min: 2, max: 16 }), fc.integer({ min: 1, max: 4 }), fc.integer({ min: 2, max: 5 }))
    .map(([p, groups, v]) => shapeOf('interleaved-1f1b', p, p * groups, v)),
);

describe('schedule lists', () => {
  it('writes 1f1b of two stages and two micro-batches as F0 F1 B0 B1 and F0 B0 F1 B1', () => {
    const shape = shapeOf('1f1b', 2, 2);
    expect([text(shape, 0), text(shape, 1)]).toEqual(['F0 F1 B0 B1', 'F0 B0 F1 B1']);
  });
  it('runs every forward first under gpipe, every micro-batch alone under naive and none', () => {
    expect(text(shapeOf('gpipe', 2, 3), 1)).toBe('F0 F1 F2 B0 B1 B2');
    expect(text(shapeOf('naive', 2, 2), 0)).toBe('F0 B0 F1 B1');
    expect(text(shapeOf('none', 1, 2), 0)).toBe('F0 B0 F1 B1');
  });
  it('interleaves two chunks in the order of Megatron', () => {
    const shape = shapeOf('interleaved-1f1b', 2, 4, 2);
    expect(text(shape, 0)).toBe('F0.0 F1.0 F0.1 F1.1 F2.0 B0.1 F3.0 B1.1 F2.1 B0.0 F3.1 B1.0 B2.1 B3.1 B2.0 B3.0');
    expect(text(shape, 1)).toBe('F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 F3.0 B1.0 F2.1 B2.1 F3.1 B3.1 B2.0 B3.0');
  });
  it('hold every chunk and micro-batch once forward and later once backward', () => {
    fc.assert(
      fc.property(shapes, fc.nat(), (shape, seed) => {
        const done = new Map<string, number>();
        scheduleList(shape, seed % shape.stages).forEach(({ kind, chunk, microBatch }, index) => {
          const name = `${chunk}.${microBatch}`;
          expect(done.has(`${kind}${name}`)).toBe(false);
          done.set(`${kind}${name}`, index);
          if (kind === 'B') expect(done.get(`F${name}`)).toBeLessThan(index);
        });
        expect(done.size).toBe(2 * shape.chunks * shape.microBatches);
      }),
    );
  });
});

describe('scheduleTimes', () => {
  it('places all invocations after their stage and their producer: no deadlock up to 16 stages, 64 micro-batches', () => {
    fc.assert(
      fc.property(shapes, (shape) => {
        const { lists, start, end } = scheduleTimes(shape, { forward: 1, input: 1, weight: 1 });
        const endOf = new Map<string, number>();
        const name = (stage: number, chunk: number, code: number): string =>
          `${stage} ${chunk} ${microBatchOf(code)} ${isBackward(code)}`;
        lists.forEach((list, stage) => {
          Array.from(list).forEach((code, at) => {
            endOf.set(name(stage, chunkOf(code), code), end[stage]?.[at] ?? 0);
          });
        });
        lists.forEach((list, stage) => {
          Array.from(list).forEach((code, at) => {
            const from = producerOf(shape, stage, code);
            const ready = from === undefined ? 0 : endOf.get(name(from.stage, from.chunk, code));
            expect(start[stage]?.[at]).toBeGreaterThanOrEqual(Math.max(ready ?? Infinity, end[stage]?.[at - 1] ?? 0));
          });
        });
      }),
    );
  });
});

describe('scheduleLimits', () => {
  it('leave room for 512 chunks and 524,288 micro-batches', () => {
    expect(scheduleLimits).toEqual({ chunks: 512, microBatches: 2 ** 19 });
    const code = backwardCode(511, 2 ** 19 - 1);
    expect(decodeInvocation(code)).toEqual({ kind: 'B', chunk: 511, microBatch: 2 ** 19 - 1, together: false });
  });
});

describe('bubble', () => {
  it('is the known share for known shapes', () => {
    expect(bubbleShare(shapeOf('1f1b', 8, 8))).toBeCloseTo(7 / 15, 12);
    expect(bubbleShare(shapeOf('gpipe', 8, 32))).toBeCloseTo(7 / 39, 12);
    expect(bubbleShare(shapeOf('1f1b', 2, 8))).toBeCloseTo(1 / 9, 12);
    expect(bubbleShare(shapeOf('1f1b', 8, 16))).toBeCloseTo(7 / 23, 12);
    expect(bubbleShare(shapeOf('naive', 8, 16))).toBeCloseTo(7 / 8, 12);
    expect(bubbleShare(shapeOf('none', 1, 16))).toBe(0);
  });
  it('equals what the lists give by longest path', () => {
    fc.assert(
      fc.property(shapes, fc.integer({ min: 1, max: 3 }), (shape, backward) => {
        const busy = (1 + backward) * shape.chunks * shape.microBatches;
        const step = makespan(shape, 1, backward);
        expect((step - busy) / step).toBeCloseTo(bubbleShare(shape), 12);
        expect((step - busy) / busy).toBeCloseTo(bubbleRatio(shape), 10);
      }),
    );
  });
  it('needs 63 micro-batches over 8 stages to stay at 10 percent', () => {
    expect(microBatchesForShare(8, 1, 0.1)).toBe(63);
    expect(bubbleShare(shapeOf('1f1b', 8, 63))).toBeCloseTo(0.1, 12);
  });
});

describe('inFlight', () => {
  it('is min(m, p - i) under 1f1b and m under gpipe before a backward, one less before a forward', () => {
    fc.assert(
      fc.property(fc.integer({ min: 2, max: 16 }), fc.integer({ min: 1, max: 64 }), fc.nat(), (p, m, seed) => {
        const i = seed % p;
        const pair = (most: number) => [
          { kind: 'F', chunk: 0, counts: [most - 1] },
          { kind: 'B', chunk: 0, counts: [most] },
        ];
        expect(inFlight(shapeOf('1f1b', p, m), i)).toEqual(pair(Math.min(m, p - i)));
        expect(inFlight(shapeOf('gpipe', p, m), i)).toEqual(pair(m));
        expect(inFlight(shapeOf('naive', p, m), i)).toEqual(pair(1));
      }),
    );
  });
  it('covers every holding of the whole list, and is reached', () => {
    fc.assert(
      fc.property(shapes, fc.nat(), (shape, seed) => {
        const stage = seed % shape.stages;
        const facts = inFlight(shape, stage);
        const reached = facts.map(() => false);
        const held = new Array<number>(shape.chunks).fill(0);
        for (const code of scheduleCodes(shape, stage)) {
          const chunk = chunkOf(code);
          const kind = isBackward(code) ? 'B' : 'F';
          const covering = facts.filter(
            (fact, index) =>
              fact.kind === kind &&
              fact.chunk === chunk &&
              fact.counts.every((count, c) => count >= (held[c] ?? 0)) &&
              ((reached[index] ||= fact.counts.every((count, c) => count === held[c])) || true),
          );
          expect(covering.length).toBeGreaterThan(0);
          held[chunk] = (held[chunk] ?? 0) + (kind === 'B' ? -1 : 1);
        }
        expect(reached.every(Boolean)).toBe(true);
      }),
    );
  });
});
