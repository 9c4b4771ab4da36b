import { describe, expect, it } from 'vitest';
import { clusterFromRequest } from '../cluster/index.ts';
import { InputError } from '../errors/index.ts';
import { createJob, type Job } from '../job/index.ts';
import { modelFromDimensions } from '../model/index.ts';
import { showLayout } from './index.ts';

function deepJob(layers: number): Job {
  const dimensions = { kind: 'llama', layers, hidden: 1024, heads: 8, ffn: 4096, vocab: 32000 };
  const { model } = modelFromDimensions(dimensions, 'model');
  const { cluster } = clusterFromRequest('32x dgx-h100', 'cluster');
  if (!model || !cluster) throw new Error('internal: the fixture is broken.');
  return createJob({ model, cluster, batch: { sequences: 4096, length: 1024 } });
}

describe('a step that is shown in full', () => {
  it('is refused with the limit when it is larger than what is written out', () => {
    // 512 layers; a full pipeline of 128 stages shows itself in 131 and 132 micro-batches.
    expect(() => showLayout(deepJob(512), { pipeline: 128 })).toThrow(
      /^STEP_TOO_LARGE {2}layout\.pipeline: 512 layers times the 263 micro-batches .* are 134656, more than the 65536 /,
    );
    expect(() => showLayout(deepJob(512), { pipeline: 128 })).toThrow(InputError);
  });

  it('is priced when deep models have few stages', () => {
    expect(showLayout(deepJob(512), { pipeline: 2 }).step.seconds).toBeGreaterThan(0);
  });
});
