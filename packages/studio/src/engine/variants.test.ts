import { describe, expect, it } from 'vitest';
import { firstScenario } from '../scenario/scenario.ts';
import { changesOf } from './changes.ts';
import { planOf } from './plan.ts';
import { memoryVariants } from './variants.ts';

describe('changes that take bytes away', () => {
  const scenario = { ...firstScenario, model: 'gpt2-xl', nodes: 1, sequences: 64, length: 1024 };
  const [best] = planOf({ ...scenario, layout: { tensor: 1, pipeline: 1, sharding: 1, recompute: 'none' } }).plans;

  it('are every kind that the engine offers: sharding, recomputation, degrees, micro-batches, buffers', () => {
    if (!best) throw new Error('no plan');
    const words = changesOf({ ...best.layout, microBatch: 4 }).map(([each]) => each);
    for (const each of [
      'sharded weights (ZeRO-3)',
      'recompute attention',
      'recompute whole layers',
      'tensor 2, data 4',
      'pipeline 2, data 4',
      'micro-batch 2',
      'optimizer state in host memory',
      'loss in 8 pieces',
    ])
      expect(words).toContain(each);
  });

  it('all free bytes, and are what the engine says of the changed layout', () => {
    if (!best) throw new Error('no plan');
    const found = memoryVariants(scenario, best.layout);
    expect(found.length).toBeGreaterThan(4);
    const now = Math.max(...best.memory.stages.map(({ deviceBytes }) => deviceBytes));
    for (const { bytesLess, deviceBytes } of found) {
      expect(bytesLess).toBeGreaterThan(0);
      expect(deviceBytes + bytesLess).toBeCloseTo(now, -1);
    }
    const freed = found.map(({ bytesLess }) => bytesLess);
    expect(freed).toEqual(freed.toSorted((one, other) => other - one));
  });
});
