import { describe, expect, it } from 'vitest';
import { precisionName } from '../job/index.ts';
import { planJob } from '../plan/index.ts';
import { readJob } from './index.ts';

const textOf = (precision: string, cluster: string): string =>
  `model: llama-2-7b\ncluster: ${cluster}\nbatch: {sequences: 64, length: 4096}\nprecision: ${precision}\nlayout: {tensor: 2, sharding: 1, recompute: none}\n`;

const read = (precision: string, cluster = '1x dgx-b200') => readJob(textOf(precision, cluster), 'job.yaml');

function stepOf(precision: string) {
  const { job } = read(precision);
  if (!job) throw new Error('no job');
  const [plan] = planJob(job, { top: 1 }).plans;
  if (!plan) throw new Error('no plan');
  return { seconds: plan.step.seconds, bytes: Math.max(...plan.memory.stages.map((stage) => stage.allocatedBytes)) };
}

describe('narrow precisions of a job', () => {
  it.each(['fp8-delayed', 'fp8-current', 'mxfp8'])(
    '%s are products of layers; weights and activations stay bf16',
    (name) => {
      const { job, issues } = read(name);
      expect(issues.filter((each) => each.severity === 'error')).toEqual([]);
      expect(job?.precision).toBe('bf16');
      expect(job && precisionName(job)).toBe(name);
    },
  );
  it('take less time and less memory than bf16, and scales of blocks more bytes than those of tensors', () => {
    const [half, tensor, block] = ['bf16', 'fp8-current', 'mxfp8'].map(stepOf);
    expect(tensor?.seconds).toBeLessThan(half?.seconds ?? 0);
    expect(tensor?.bytes).toBeLessThan(half?.bytes ?? 0);
    expect(block?.bytes).toBeGreaterThan(tensor?.bytes ?? 0);
    expect(block?.bytes).toBeLessThan(half?.bytes ?? 0);
  });
  it.each([
    ['fp8-current', '1x dgx-a100', 'Use bf16 or fp16 or fp32.'],
    ['mxfp8', '1x dgx-h100', 'Use fp8-current or fp8-delayed.'],
  ])('%s are refused on %s, which has no such products', (name, cluster, hint) => {
    expect(read(name, cluster).issues).toMatchObject([{ code: 'PRECISION_NOT_ON_DEVICE', hint }]);
  });
  it('nvfp4 is not priced yet, and says so', () => {
    expect(read('nvfp4').issues).toMatchObject([{ code: 'VALUE_NOT_YET', path: expect.stringContaining('precision') }]);
  });
});
