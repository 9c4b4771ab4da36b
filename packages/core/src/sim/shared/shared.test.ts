import { describe, expect, it } from 'vitest';
import { networkOf } from '../../cost/index.ts';
import { worldSize } from '../../mesh/index.ts';
import { pricesOf, type SharedStep, simulateProgram, simulateShared } from '../index.ts';
import { network, type SharedCase, sharedCase, sharedLayouts } from './shared.fixture.ts';

const aloneOf = ({ program, prices }: SharedCase) => simulateProgram(program, pricesOf(program, prices));
const sharedOf = (each: SharedCase) => simulateShared(each.program, { prices: each.prices, network: network(each) });
const slowDown = { compute: 1.2, exchange: 1.1 };

describe('a step on shared links', () => {
  it('is that of operations alone, to the last bit, where none share a link', () => {
    const each = sharedCase({ tensor: 8, pipeline: 1, data: 1, sharding: 0, schedule: 'none' }, '1x dgx-h100');
    const [alone, shared] = [aloneOf(each), sharedOf(each)];
    expect(shared.start).toEqual(alone.start);
    expect(shared.end).toEqual(alone.end);
  });

  it('is never shorter than with operations alone: nothing starts or ends earlier', () => {
    for (const layout of sharedLayouts) {
      for (const cluster of ['2x dgx-h100', '2x pcie-8x-a100']) {
        const each = sharedCase(layout, cluster);
        const [alone, shared] = [aloneOf(each), sharedOf(each)];
        const slowed = simulateShared(each.program, { prices: each.prices, network: network(each), slowDown });
        for (let at = 0; at < alone.end.length; at++) {
          expect(shared.start[at]).toBeGreaterThanOrEqual((alone.start[at] as number) * (1 - 1e-12));
          expect(shared.end[at]).toBeGreaterThanOrEqual((alone.end[at] as number) * (1 - 1e-12));
        }
        expect(slowed.seconds).toBeGreaterThanOrEqual(shared.seconds * (1 - 1e-12));
      }
    }
  });

  it('has the same times whether or not what nothing disturbs is placed ahead of the clock', () => {
    // A slow-down too small to see makes an event of all that takes time.
    const unseen = { compute: 1, exchange: 1 + 1e-14 };
    for (const layout of sharedLayouts) {
      for (const cluster of ['2x dgx-h100', '2x pcie-8x-a100']) {
        const each = sharedCase(layout, cluster, 6);
        const [ahead, events] = [
          sharedOf(each),
          simulateShared(each.program, { prices: each.prices, network: network(each), slowDown: unseen }),
        ];
        expect(ahead.flowEvents).toBe(events.flowEvents);
        expect(ahead.seconds / events.seconds).toBeCloseTo(1, 12);
        const close = ahead.end.every((end, at) => Math.abs(end - (events.end[at] as number)) <= 1e-9 * ahead.seconds);
        expect(close).toBe(true);
        const busyOf = ({ links }: SharedStep) => new Map(links.map((link) => [link.name, link.busySeconds]));
        for (const [name, busy] of busyOf(events)) expect(busyOf(ahead).get(name)).toBeCloseTo(busy, 9);
      }
    }
  });

  it('is longer where gathers and reductions of sharded weights meet on a link', () => {
    const each = sharedCase(sharedLayouts[2] ?? {}, { preset: 'dgx-h100', nodes: 2, inter: { Gbps: 20 } }, 4);
    expect(sharedOf(each).seconds).toBeGreaterThan(aloneOf(each).seconds * 1.01);
  });

  it('puts no more bytes on a link than it carries in the time that it is busy', () => {
    for (const layout of sharedLayouts) {
      const { links } = sharedOf(sharedCase(layout));
      expect(links.length).toBeGreaterThan(0);
      for (const { bytes, capacity, busySeconds } of links)
        expect(bytes).toBeLessThanOrEqual(capacity * busySeconds * (1 + 1e-9));
    }
  });
});

describe('ranks that run alike', () => {
  /** The same step with a class for every rank. */
  const everyRank = (each: SharedCase): SharedStep =>
    simulateShared(each.program, {
      prices: each.prices,
      network: {
        ...network(each),
        colours: new Map(Array.from({ length: worldSize(each.program.mesh) }, (_, rank) => [rank, `${rank}`])),
      },
      slowDown,
    });

  it('have the times that each of them has by itself', () => {
    for (const layout of sharedLayouts) {
      const each = sharedCase(layout);
      const classes = simulateShared(each.program, { prices: each.prices, network: network(each), slowDown });
      const ranks = everyRank(each);
      expect(ranks.lists.length).toBe(worldSize(each.program.mesh));
      ranks.graph.classes.forEach(({ list }, index) => {
        const own = ranks.lists[index]?.end ?? [];
        const quotient = classes.lists[list]?.end ?? [];
        for (let at = 0; at < quotient.length; at++) expect(own[at]).toBeCloseTo(quotient[at] as number, 12);
      });
    }
  });

  it('split where a device is slow, and only into those that meet it near or far', () => {
    const each = sharedCase({ tensor: 2, pipeline: 2, data: 4, sharding: 1 });
    const slow = { device: 5, seconds: 1.5 };
    const setting = { prices: each.prices, slowDown, slowDevices: [slow] };
    const step = simulateShared(each.program, { ...setting, network: network(each) });
    expect(step.seconds).toBeGreaterThan(sharedOf(each).seconds * 1.1);
    // Per stage: the device (or its stage neighbour), its tensor partner, its data replicas, and theirs.
    expect(step.lists.length).toBe(8);
    const ranks = simulateShared(each.program, {
      ...setting,
      network: { ...network(each), colours: new Map(Array.from({ length: 16 }, (_, rank) => [rank, `${rank}`])) },
    });
    expect(ranks.seconds).toBeCloseTo(step.seconds, 12);
  });

  it('wait for a slow link, and share the card that stands in for one that is gone', () => {
    const each = sharedCase({
      tensor: 1,
      pipeline: 1,
      data: 16,
      sharding: 0,
      schedule: 'none',
      sequenceParallel: false,
    });
    const secondsWith = (speed: number): number => {
      const faulty = networkOf(each.cluster, [{ family: 'nic', index: 3, speed }]);
      return simulateShared(each.program, { prices: each.prices, network: faulty }).seconds;
    };
    const healthy = sharedOf(each).seconds;
    expect(secondsWith(0.9)).toBeGreaterThanOrEqual(healthy);
    expect(secondsWith(0.25)).toBeGreaterThan(secondsWith(0.5));
    // Two devices on one card: as slow as a card at half of its speed.
    expect(secondsWith(0)).toBeCloseTo(secondsWith(0.5), 9);
  });

  it('vary with a seed, the same each time', () => {
    const each = sharedCase({ tensor: 2, pipeline: 2, data: 4, sharding: 1 });
    const secondsOf = (seed: number, spread: number): number =>
      simulateShared(each.program, { prices: each.prices, network: network(each), jitter: { seed, spread } }).seconds;
    expect(secondsOf(1, 0.02)).toBe(secondsOf(1, 0.02));
    expect(secondsOf(1, 0.02)).not.toBe(secondsOf(2, 0.02));
    expect(secondsOf(1, 0.02)).toBeGreaterThan(sharedOf(each).seconds);
    expect(secondsOf(1, 0)).toBe(sharedOf(each).seconds);
  });

  it('are not found for a device or link that is not there', () => {
    const each = sharedCase({ tensor: 2, pipeline: 2, data: 4, sharding: 1 });
    const setting = { prices: each.prices, network: network(each) };
    expect(() => simulateShared(each.program, { ...setting, slowDevices: [{ device: 16, seconds: 2 }] })).toThrow(
      'device 16 is not one of the 16 of this step',
    );
    expect(() => networkOf(each.cluster, [{ family: 'nic', index: 16, speed: 0.5 }])).toThrow('nic 16 is not a link');
    expect(() => networkOf(each.cluster, [{ family: 'device', index: 1, speed: 0 }])).toThrow('no other way is known');
  });
});
