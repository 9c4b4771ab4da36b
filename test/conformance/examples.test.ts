import { readFileSync } from 'node:fs';
import { resizeCluster } from '@meshwright/core/cluster';
import { createExam } from '@meshwright/core/explain';
import { readJob } from '@meshwright/core/io';
import type { Job } from '@meshwright/core/job';
import { countParameters } from '@meshwright/core/model';
import { planJob, type Shown, showLayout } from '@meshwright/core/plan';
import { describe, expect, it } from 'vitest';

const textOf = (name: string): string => readFileSync(new URL(`../../examples/${name}.yaml`, import.meta.url), 'utf8');

function jobOf(text: string): Job {
  const { job, issues } = readJob(text, 'job.yaml');
  if (!job) throw new Error(issues.map(({ message }) => message).join('\n'));
  return job;
}

const codesOf = ({ warnings }: Shown): readonly string[] => warnings.map(({ code }) => code);
const tensorRow = ({ traffic }: Shown) => traffic.find(({ axis }) => axis === 'tensor');

describe('the examples', { timeout: 120_000 }, () => {
  it('exam-512 is the job of the exam, and its layout has 512 = 8 x 32 x 2 ranks', () => {
    const job = jobOf(textOf('exam-512'));
    expect(job).toEqual(createExam().job);
    const { plans, rejected } = planJob(job, { top: 1 });
    expect(plans[0]?.layout).toMatchObject({ tensor: 8, pipeline: 32, data: 2 });
    expect(rejected.LAYER_DOES_NOT_FIT).toBeGreaterThan(0);
  });

  it.each([1, 2])('exam-512 refuses tensor %i: one layer does not fit', (tensor) => {
    const job = jobOf(textOf('exam-512'));
    const { plans, issues } = planJob({ ...job, layout: { ...job.layout, tensor } }, { top: 1 });
    expect(plans).toEqual([]);
    expect(issues[0]).toMatchObject({ code: 'LAYER_DOES_NOT_FIT', path: 'layout.tensor' });
    expect(issues[0]?.message).toContain('216 GiB of state');
    expect(issues[0]?.hint).toContain('2.73 devices hold a layer');
  });

  it('moe-1t-512xh200 is 8 x 8 x 8 with 64 micro-batches and a bubble of 9.9 %, of 18 % at length 8192', () => {
    const job = jobOf(textOf('moe-1t-512xh200'));
    expect(countParameters(job.model).total).toBeGreaterThan(1e12);
    const shown = showLayout(job);
    expect(shown.gpus).toBe(512);
    expect(shown.memory.verdict).toBe('fits');
    expect(shown.pipeline).toMatchObject({ stages: 8, microBatches: 64 });
    expect(shown.pipeline.closedFormShare).toBeCloseTo(7 / 71, 12);
    const long = showLayout(jobOf(textOf('moe-1t-512xh200').replace('length: 4096', 'length: 8192')));
    expect(long.pipeline.microBatches).toBe(32);
    expect(long.pipeline.closedFormShare).toBeCloseTo(7 / 39, 12);
  });

  it('llama-3.1-70b-lora-8xh100: a node holds it with adapters, and not with all weights trained', () => {
    const job = jobOf(textOf('llama-3.1-70b-lora-8xh100'));
    const { total, trainable } = countParameters(job.model);
    // r (in + out) of q, k, v, o, gate, up and down, 80 times.
    const layer = 2 * (8192 + 8192) + 2 * (8192 + 1024) + 3 * (8192 + 28_672);
    expect([trainable, total - trainable]).toEqual([80 * 16 * layer, 70_553_706_496]);
    const shown = showLayout({ ...job, layout: { tensor: 8 } });
    expect(shown.memory.verdict).toBe('fits');
    const [stage] = shown.memory.stages;
    expect((stage?.partsBytes['optimizer'] ?? 0) / 2 ** 30).toBeLessThan(1.1);
    const full = jobOf(textOf('llama-3.1-70b-lora-8xh100').replace(/^workload:.*$/m, 'workload: sft'));
    expect(showLayout({ ...full, layout: { tensor: 8 } }).memory.verdict).toBe('does-not-fit');
  });

  it('dense-100b-1024xh100 is 8 x 8 x 16: tensor in the box, stages and replicas between boxes', () => {
    const shown = showLayout(jobOf(textOf('dense-100b-1024xh100')));
    expect([shown.gpus, shown.memory.verdict]).toEqual([1024, 'fits']);
    const links = shown.traffic.map(({ axis, link, crossesNode }) => `${axis} ${link} ${crossesNode}`);
    expect(new Set(links)).toEqual(
      new Set(['tensor NVLink 4 false', 'data InfiniBand 400 Gb/s true', 'pipeline InfiniBand 400 Gb/s true']),
    );
  });

  it('llama-3.2-3b-8x4090 has at most two tensor ranks in its best plans', () => {
    const { plans } = planJob(jobOf(textOf('llama-3.2-3b-8x4090')), { top: 5 });
    expect(plans).toHaveLength(5);
    expect(Math.max(...plans.map(({ layout }) => layout.tensor))).toBeLessThanOrEqual(2);
    expect(plans[0]?.layout.tensor).toBe(1);
  });

  it('dense-150b-nvl72 keeps tensor 16 in the NVLink domain; on boxes of eight the same layout crosses nodes', () => {
    const inside = showLayout(jobOf(textOf('dense-150b-nvl72')));
    expect(tensorRow(inside)?.link).toBe('NVLink 5');
    expect(codesOf(inside)).not.toContain('TENSOR_CROSSES_NODE');
    const across = showLayout(jobOf(textOf('dense-150b-nvl72').replace('16x gb200-nvl72', '8x dgx-b200')));
    expect(tensorRow(across)?.link).toBe('InfiniBand 400 Gb/s');
    expect(codesOf(across)).toContain('TENSOR_CROSSES_NODE');
    expect(across.step.partsSeconds.tensor).toBeGreaterThan(inside.step.partsSeconds.tensor);
  });

  it('all clusters of examples can be another size', () => {
    for (const name of ['exam-512', 'llama-3.2-3b-8x4090', 'dense-150b-nvl72']) {
      expect(resizeCluster(jobOf(textOf(name)).cluster, 8)).toBeDefined();
    }
  });
});
