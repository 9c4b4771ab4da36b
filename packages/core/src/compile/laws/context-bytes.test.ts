import { describe, expect, it } from 'vitest';
import type { Layout } from '../../layout/index.ts';
import { bytesSent, type WhyRule } from '../../program/index.ts';
import { compileProgram, microBatches } from '../index.ts';
import { toyJob, toyLayout } from '../toy.fixture.ts';

const job = { ...toyJob(), batch: { ...toyJob().batch, sequences: 8, length: 64 } };
const hidden = job.model.hidden;
const w = 2;

function sentBy(changes: Partial<Layout>) {
  const layout = toyLayout({
    tensor: 1,
    pipeline: 1,
    layersPerStage: [2],
    schedule: 'none',
    sequenceParallel: false,
    ...changes,
  });
  const [list] = bytesSent(compileProgram(job, layout)).lists;
  const calls = 2 * microBatches(job, layout);
  const each = (rule: WhyRule): number => (list?.byRule[rule]?.bytes ?? 0) / calls;
  return { each, list };
}

/** Values of a micro-batch of one sequence, whole. */
const values = job.batch.length * hidden * w;

describe('context exchanges of one layer and micro-batch, closed forms', () => {
  it.each([2, 4, 8])('ring of %i: 2 (c-1)/c s b h_kv w forward, as much backward, gradients c hops', (context) => {
    const { each } = sentBy({ context });
    const hop = (2 * values) / context;
    expect(each('pass-keys')).toBe(2 * (context - 1) * hop);
    expect(each('pass-key-gradients')).toBe(context * hop);
  });

  it('ring under full recomputation: forward once more', () => {
    expect(sentBy({ context: 4, recompute: 'full' }).each('pass-keys')).toBe((3 * 3 * 2 * values) / 4);
  });

  it('all-gather: what the ring sends, gathered twice and scattered once', () => {
    const { each } = sentBy({ context: 4, contextKind: 'all-gather' });
    expect(each('gather-keys')).toBe(2 * ((3 / 4) * 2 * values));
    expect(each('scatter-key-gradients')).toBe((3 / 4) * 2 * values);
  });

  it('all-to-all: (c-1)/c s b (2 h + 2 h_kv)/c w each way', () => {
    const { each } = sentBy({ context: 2, contextKind: 'all-to-all' });
    expect(each('heads-for-tokens')).toBe((2 * ((1 / 2) * 4 * values)) / 2);
  });

  it.each([1, 2])('gradients are reduced over data %i x context 2, once, booked on data', (data) => {
    const { list } = sentBy({ context: 2, data, sharding: 0 });
    const parameters = (list?.byRule['reduce-gradient']?.bytes ?? 0) / (2 * ((2 * data - 1) / (2 * data)) * 4);
    const alone = sentBy({ context: 1, data: 2 * data, sharding: 0 }).list;
    expect(list?.byRule['reduce-gradient']?.bytes).toBe(alone?.byRule['reduce-gradient']?.bytes);
    expect(parameters).toBeGreaterThan(0);
    expect(list?.byAxis['data']?.bytes).toBeGreaterThanOrEqual(list?.byRule['reduce-gradient']?.bytes ?? 0);
  });
});
