import { describe, expect, it } from 'vitest';
import { readJob } from './index.ts';

const reading = (workload: string) =>
  readJob(
    `model: gpt2\ncluster: 1x dgx-h100\nbatch: { sequences: 8, length: 1024 }\nworkload: ${workload}\n`,
    'job.yaml',
  );

describe('workloads', () => {
  it('of full fine-tuning are taken as they are', () => {
    const { job, issues } = reading('sft');
    expect(job?.workload).toBe('sft');
    expect(issues).toEqual([]);
  });

  it('of packed sequences say that attention is an upper bound', () => {
    const { job, issues } = reading('packed');
    expect(job?.workload).toBe('packed');
    expect(issues).toMatchObject([{ code: 'PACKED_PRICED_WHOLE', severity: 'note', path: 'workload' }]);
    expect(issues[0]?.position?.line).toBe(4);
  });

  it('of low-rank adapters are refused by name', () => {
    const { job, issues } = reading('{ lora: { rank: 16, targets: [q] } }');
    expect(job).toBeUndefined();
    expect(issues).toMatchObject([{ code: 'VALUE_NOT_YET', message: 'lora is not priced yet.', hint: 'Use sft.' }]);
  });
});
