import { describe, expect, it } from 'vitest';
import type { LayoutRequest } from '../layout/index.ts';
import { showLayout } from './index.ts';
import { presetJob } from './sizes/jobs.fixture.ts';

const job = presetJob('llama-2-7b', '2x dgx-h100', { batch: { sequences: 256, length: 4096 } });
const needsOf = (layout: LayoutRequest, storageBytesPerSecond?: number) => {
  const { storage, step } = showLayout(job, layout, { ...(storageBytesPerSecond && { storageBytesPerSecond }) });
  return { ...storage, seconds: step.seconds };
};

describe('what a job asks of storage', { timeout: 60_000 }, () => {
  it('reads the tokens of each data rank once, on the node that holds it', () => {
    const { input, seconds } = needsOf({ tensor: 4, data: 4, sharding: 1 });
    expect(input.tokensPerSecond).toBeCloseTo((256 * 4096) / seconds, 6);
    expect(input.dataRanksPerNode).toBe(2);
    expect(input.bytesPerSecondPerNode).toBeCloseTo((256 * 4096 * 4) / 2 / seconds, 6);
  });

  it('reads all on every node where a replica is larger than one', () => {
    const { input, seconds } = needsOf({ tensor: 8, pipeline: 2, data: 1 });
    expect(input.bytesPerSecondPerNode).toBeCloseTo((256 * 4096 * 4) / seconds, 6);
  });

  it('keeps 14 bytes of a parameter, whatever is sharded', () => {
    const whole = needsOf({ tensor: 8, pipeline: 2, data: 1 });
    const sharded = needsOf({ tensor: 1, data: 16, sharding: 3 }, 10e9);
    expect(whole.checkpoint.bytes).toBe(14 * 6_738_415_616);
    expect(sharded.checkpoint.bytes).toBe(whole.checkpoint.bytes);
    expect(whole.checkpoint.writeSeconds).toBeUndefined();
    expect(sharded.checkpoint.writeSeconds).toBeCloseTo(9.4338, 3);
    expect(whole.checkpoint.frozenBytes).toBe(0);
    expect(whole.checkpoint.bytesPerSecondForOneStep * whole.seconds).toBeCloseTo(whole.checkpoint.bytes, 0);
  });

  it('keeps the weight alone of a parameter that is frozen', () => {
    const adapted = presetJob('llama-2-7b', '2x dgx-h100', {
      batch: { sequences: 256, length: 4096 },
      workload: { lora: { rank: 16, alpha: 16, targets: ['all-linear'] } },
    });
    const { checkpoint } = showLayout(adapted, { tensor: 8, pipeline: 2, data: 1 }).storage;
    expect(checkpoint.frozenBytes).toBe(2 * 6_738_415_616);
    // Rank 16: query, key, value and output of 4,096 to 4,096; gate, up and down between 4,096 and 11,008.
    expect(checkpoint.bytes - checkpoint.frozenBytes).toBe(14 * 32 * 16 * (4 * 8192 + 3 * 15_104));
  });
});
