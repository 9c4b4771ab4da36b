import { expect, it } from 'vitest';
import { clusterFromRequest } from '../cluster/index.ts';
import { createJob, type JobInput } from '../job/index.ts';
import type { LayoutRequest } from '../layout/index.ts';
import { modelFromPreset } from '../model/index.ts';
import { planJob } from './plan-job.ts';
import { searchLayouts } from './search.ts';

const alone = { tensor: 1, pipeline: 1, recompute: 'none', microBatch: 1 } as const;

/** A job on A100 nodes with so many sequences of 512 tokens. */
function jobOf(nodes: number, sequences: number, layout: LayoutRequest) {
  const { cluster } = clusterFromRequest(`${nodes}x dgx-a100`, 'cluster');
  const { model } = modelFromPreset('llama-2-7b', 'model');
  if (!cluster || !model) throw new Error('internal: the fixture is broken.');
  const input: JobInput = { name: 'sets', model, cluster, batch: { sequences, length: 512 }, layout };
  return createJob(input);
}

function fastest(nodes: number, sequences: number, layout: LayoutRequest) {
  const [best] = searchLayouts(jobOf(nodes, sequences, layout), { top: 1 }).best;
  return { layout: best?.layout, seconds: best?.evaluation.seconds ?? Number.POSITIVE_INFINITY };
}

it('keeps gathers inside of nodes where weights are gathered for several micro-batches', () => {
  const { layout } = fastest(16, 512, { ...alone, sharding: 3 });
  expect([layout?.data, layout?.replicate]).toEqual([128, 16]);
});

it.each([
  [2, 64],
  [8, 64],
  [16, 512],
])('is never slower than without sets: %i nodes, %i sequences', (nodes, sequences) => {
  const free = fastest(nodes, sequences, { ...alone });
  expect(free.seconds).toBeLessThanOrEqual(fastest(nodes, sequences, { ...alone, replicate: 1 }).seconds);
});

it('names the link of each part of an axis: neighbours stay in the node, the others are sent between nodes', () => {
  const links = (axis: string, layout: LayoutRequest) => {
    const job = jobOf(2, 32, { tensor: 1, pipeline: 1, ...layout });
    const [plan] = planJob(job, { top: 1 }).plans;
    const rows = plan?.traffic.filter((row) => row.axis === axis) ?? [];
    return Object.fromEntries(rows.map((row) => [row.collective, row.crossesNode]));
  };
  expect(links('data', { sharding: 3, shard: 8 })).toMatchObject({ 'all-gather': false, 'all-reduce': true });
  expect(links('context', { context: 16, contextKind: 'hybrid' })).toMatchObject({ 'all-to-all': false, shift: true });
});
