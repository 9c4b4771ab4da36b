import { describe, expect, it } from 'vitest';
import { countParameters } from '../model/index.ts';
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

  it('of low-rank adapters freeze the model and say what is trained', () => {
    const { job, issues } = reading('{ lora: { rank: 16, targets: [c_attn, c_fc] } }');
    expect(issues).toEqual([]);
    expect(job?.workload).toEqual({ lora: { rank: 16, alpha: 16, targets: ['c_attn', 'c_fc'] } });
    const counts = job && countParameters(job.model);
    // A and B of each layer: r (h + 3 h) and r (h + 4 h).
    expect(counts?.trainable).toBe(12 * 16 * 9 * 768);
  });

  it('of low-rank adapters stand beside every linear layer unless they say where', () => {
    expect(reading('{ lora: { rank: 8, alpha: 32 } }').job?.workload).toEqual({
      lora: { rank: 8, alpha: 32, targets: ['all-linear'] },
    });
  });

  it.each([
    ['{ lora: { rank: 16, targets: [q] } }', 'ADAPTER_TARGET_UNKNOWN', 'workload.lora.targets'],
    ['{ lora: { rank: 0 } }', 'VALUE_OUT_OF_RANGE', 'workload.lora.rank'],
    ['{ lora: { targets: c_fc } }', 'KEY_MISSING', 'workload.lora.rank'],
    ['{ lora: { rank: 4, targets: [] } }', 'VALUE_WRONG_TYPE', 'workload.lora.targets'],
    ['{ lora: { rank: 4, base: nf4 } }', 'KEY_UNKNOWN', 'workload.lora.base'],
  ])('refuses %s', (text, code, path) => {
    const { job, issues } = reading(text);
    expect(job).toBeUndefined();
    expect(issues).toMatchObject([{ code, path }]);
  });

  it('refuses adapters on experts, and where a layer would have none, by name', () => {
    const of = (model: string, targets: string) =>
      readJob(
        `model: ${model}\ncluster: 8x dgx-h100\nbatch: { sequences: 64, length: 1024 }\nworkload: { lora: { rank: 4, targets: ${targets} } }\n`,
        'job.yaml',
      ).issues.filter(({ severity }) => severity === 'error');
    expect(of('mixtral-8x7b', 'all-linear')).toMatchObject([{ code: 'ADAPTER_NOT_MODELLED' }]);
    expect(of('mixtral-8x7b', '[q_proj, w1]')).toMatchObject([{ code: 'ADAPTER_NOT_MODELLED' }]);
    expect(of('mixtral-8x7b', '[q_proj, v_proj]')).toEqual([]);
    expect(of('deepseek-v3', '[o_proj]')).toMatchObject([{ code: 'ADAPTER_NOT_MODELLED' }]);
  });
});
