import { describe, expect, it } from 'vitest';
import { decodeInvocation, formatInvocations, type Invocation } from '../invocation.ts';
import { placementOf } from '../placement.ts';
import {
  mostInFlight,
  type SplitCosts,
  type SplitListName,
  type SplitShape,
  splitSchedules,
  splitTimes,
} from './index.ts';

const names = Object.keys(splitSchedules) as SplitListName[];
const unit: SplitCosts = { forward: 1, input: 1, weight: 1 };
const uneven: readonly SplitCosts[] = [
  unit,
  { forward: 2, input: 3, weight: 1 },
  { forward: 2, input: 2, weight: 1 },
  { forward: 3, input: 4, weight: 3 },
  { forward: 10, input: 11, weight: 9 },
];

/** Shapes up to 16 stages and 64 micro-batches that a schedule takes: around each of its limits. */
function shapesOf(name: SplitListName): readonly SplitShape[] {
  const shapes: SplitShape[] = [];
  for (let stages = 2; stages <= 16; stages++) {
    const counts = [
      1,
      2,
      3,
      stages - 1,
      stages,
      stages + 1,
      2 * stages - 1,
      2 * stages,
      2 * stages + 2,
      3 * stages,
      64,
    ];
    for (const microBatches of new Set(counts)) shapes.push({ stages, microBatches });
  }
  return shapes.filter((shape) => splitSchedules[name].takes(shape));
}

/** Kinds of the passes of each micro-batch through each chunk, in order. */
function passesOf(list: readonly Invocation[]): ReadonlyMap<string, string> {
  const passes = new Map<string, string>();
  for (const { kind, chunk, microBatch } of list) {
    const key = `${chunk} ${microBatch}`;
    passes.set(key, (passes.get(key) ?? '') + kind);
  }
  return passes;
}

for (const name of names) {
  const schedule = splitSchedules[name];

  describe(`schedule ${name}`, () => {
    it('passes every micro-batch of every chunk forward once and backward once, in an order that can run', () => {
      for (const shape of shapesOf(name)) {
        const { lists } = splitTimes(name, shape, unit);
        const placement = name === 'pipedream' ? 'line' : placementOf(name);
        const chunks = placement === 'line' ? 1 : 2;
        const each = placement === 'mirror' ? shape.microBatches / 2 : shape.microBatches;
        const passes = lists.map((list) => passesOf(Array.from(list, decodeInvocation)));
        const whole = (pass: ReadonlyMap<string, string>): boolean =>
          pass.size === chunks * each && [...pass.values()].every((kinds) => kinds === 'FB' || kinds === 'FIW');
        expect({ shape, wrong: passes.filter((pass) => !whole(pass)) }).toEqual({ shape, wrong: [] });
      }
    });

    it('holds what it says at most', () => {
      for (const shape of shapesOf(name)) {
        const held = Array.from({ length: shape.stages }, (_, stage) => mostInFlight(schedule.list(shape, stage)));
        const most = Math.max(...held);
        const over = held.filter((each, stage) => each > schedule.inFlight(shape, stage));
        expect({ shape, over }).toEqual({ shape, over: [] });
        if (schedule.exact(shape, unit)) expect({ shape, most }).toEqual({ shape, most: schedule.inFlight(shape, 0) });
      }
    });

    it('idles as long as its closed form where that is exact', () => {
      for (const shape of shapesOf(name)) {
        for (const costs of uneven) {
          if (!schedule.exact(shape, costs)) continue;
          const { idle } = splitTimes(name, shape, costs);
          expect({ shape, costs, idle: Math.max(...idle) }).toEqual({
            shape,
            costs,
            idle: schedule.bubble(shape, costs),
          });
        }
      }
    });
  });
}

describe('pairs that run together', () => {
  it('idle no longer than the closed form, whatever the parts take', () => {
    for (const name of ['dualpipe', 'dualpipe-v'] as const) {
      for (const shape of shapesOf(name)) {
        for (const costs of uneven) {
          const { idle } = splitTimes(name, shape, costs);
          expect(Math.max(...idle)).toBeLessThanOrEqual(splitSchedules[name].bubble(shape, costs));
        }
      }
    }
  });

  it('idle less than the closed form where a pair takes less than its sum', () => {
    for (const name of ['dualpipe', 'dualpipe-v'] as const) {
      for (const shape of shapesOf(name)) {
        const costs = { forward: 2, input: 2, weight: 2, pair: 5 };
        const { idle } = splitTimes(name, shape, costs);
        expect(Math.max(...idle)).toBeLessThanOrEqual(splitSchedules[name].bubble(shape, costs));
      }
    }
  });
});

describe('pipedream', () => {
  it('has no bubble once it runs: a further micro-batch takes its own work', () => {
    for (const { stages, microBatches } of shapesOf('pipedream')) {
      if (microBatches < stages) continue;
      const before = splitTimes('pipedream', { stages, microBatches }, unit);
      const after = splitTimes('pipedream', { stages, microBatches: microBatches + 1 }, unit);
      expect(after.length - before.length).toBe(3);
    }
  });
});

describe('split lists in words', () => {
  it('read as people write them', () => {
    const shape = { stages: 4, microBatches: 4 };
    expect(formatInvocations(splitSchedules['zero-bubble-h1'].list(shape, 3), 1)).toBe(
      'F0 I0 F1 I1 F2 I2 F3 I3 W0 W1 W2 W3',
    );
    expect(formatInvocations(splitSchedules.dualpipe.list({ stages: 4, microBatches: 8 }, 1), 2)).toBe(
      'F0.0 F4.1 F1.0 F5.1 F2.0 B4.1 F6.1+B0.0 F3.0+B5.1 F7.1+B1.0 B6.1 B2.0 I7.1 I3.0 W7.1 W3.0',
    );
  });
});
