import { describe, expect, it } from 'vitest';
import { degreesOf, lifetimesOf, sentBytes } from '../program/index.ts';
import { countersOf } from './counters.ts';
import { tracedToy } from './traced.fixture.ts';

/** Highest value at or before a time. */
const valueAt = (time: readonly number[], value: readonly number[], at: number): number =>
  value[time.findLastIndex((each) => each <= at)] ?? Number.NaN;

describe('the counter of memory', () => {
  for (const sharding of [0, 1, 3] as const) {
    it(`equals the lifetimes that are open, sharding ${sharding}`, () => {
      const step = tracedToy({ sharding });
      const counters = countersOf(step);
      for (const rank of step.ranks) {
        const list = step.lists[rank.list] as (typeof step.lists)[number];
        const { start, end } = step.step.lists[rank.list] as (typeof step.step.lists)[number];
        const { ranges, residentBytes } = lifetimesOf(list, degreesOf(step.program));
        const intervals = ranges.map(({ instance, first, last, bytes }) => {
          const touches = list.operations
            .slice(first, last + 1)
            .filter(({ reads, writes }) =>
              [...reads, ...writes.map(({ operand }) => operand)].some(
                (operand) => operand && ownerName(operand.instance) === instance.name,
              ),
            );
          const until = Math.max(...touches.map(({ index }) => end[index] ?? 0));
          return { from: Math.round((start[first] ?? 0) * 1e9), until: Math.round(until * 1e9), bytes };
        });
        const [memory] = counters(rank);
        expect(memory?.name).toBe('memory');
        for (const at of memory?.time ?? []) {
          const open = intervals.filter(({ from, until }) => from <= at && at < until);
          expect(valueAt(memory?.time ?? [], memory?.value ?? [], at)).toBe(
            residentBytes + open.reduce((sum, { bytes }) => sum + bytes, 0),
          );
        }
        expect(memory?.value.at(-1)).toBe(residentBytes);
      }
    });
  }

  /** A shard in place lies in its buffer. */
  const ownerName = ({
    name,
    declaration,
  }: {
    name: string;
    declaration: { name: string; shardOf?: string };
  }): string => (declaration.shardOf === undefined ? name : declaration.shardOf + name.slice(declaration.name.length));
});

describe('counters of links', () => {
  it('sum to the bytes that were sent', () => {
    const step = tracedToy();
    const degrees = degreesOf(step.program);
    const counters = countersOf(step);
    for (const rank of step.ranks) {
      const sent = counters(rank)
        .filter(({ unit }) => unit !== 'bytes')
        .flatMap(({ time, value }) =>
          time.map((at, index) => ((value[index] ?? 0) * ((time[index + 1] ?? at) - at)) / 1e9),
        )
        .reduce((sum, each) => sum + each, 0);
      const expected = (step.lists[rank.list]?.operations ?? []).reduce(
        (sum, each) => sum + sentBytes(each, degrees),
        0,
      );
      expect(sent / expected).toBeCloseTo(1, 3);
    }
  });
});
