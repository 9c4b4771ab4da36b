import { describe, expect, it } from 'vitest';
import { presetJob, smallJob } from './jobs.fixture.ts';
import { smallestCluster } from './smallest.ts';
import { usualAdapters, workloadSizes } from './workloads.ts';

const options = { top: 1 };
const rowsOf = (job: Parameters<typeof smallestCluster>[0]) =>
  workloadSizes(job, smallestCluster(job, options), options);

describe('the smallest cluster of each workload', { timeout: 60_000 }, () => {
  const job = presetJob('llama-2-7b', '8x dgx-h100', { batch: { sequences: 64, length: 4096 } });

  it('is that of training for full fine-tuning, and smaller for adapters', () => {
    const [training, full, adapters] = rowsOf(job);
    expect([training?.workload, full?.workload]).toEqual(['pretrain', 'sft']);
    expect(full?.size).toEqual(training?.size);
    expect(training?.size?.gpus).toBe(2);
    expect(adapters).toMatchObject({ workload: { lora: usualAdapters }, size: { gpus: 1, verdict: 'fits' } });
    expect(training?.trainedParameters).toBe(6_738_415_616);
    expect(adapters?.trainedParameters).toBe(32 * 16 * (4 * 8192 + 3 * 15_104));
  });

  it('is the same from the side of the adapters, which are then those of the job', () => {
    const lora = { rank: 16, alpha: 16, targets: ['all-linear'] } as const;
    const adapted = presetJob('llama-2-7b', '8x dgx-h100', {
      batch: { sequences: 64, length: 4096 },
      workload: { lora },
    });
    expect(rowsOf(adapted)).toEqual(rowsOf(job));
  });

  it('says why where adapters are not modelled', () => {
    const dense = smallJob('1x rtx-workstation', { hidden: 1024 });
    expect(rowsOf(dense).every(({ size }) => size !== undefined)).toBe(true);
    const experts = presetJob('mixtral-8x7b', '8x dgx-h100', {
      batch: { sequences: 64, length: 4096 },
      layout: { tensor: 8 },
    });
    const adapters = workloadSizes(experts, { sizes: [] }, options).at(-1);
    expect(adapters?.size).toBeUndefined();
    expect(adapters?.why).toMatch(/adapters on experts and their router are not modelled/);
  });
});
