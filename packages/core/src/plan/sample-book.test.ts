import { describe, expect, it } from 'vitest';
import { clusterFromRequest } from '../cluster/index.ts';
import { blockContext } from '../compile/index.ts';
import { createJob } from '../job/index.ts';
import { completeLayout, equalCosts, type LayoutRequest } from '../layout/index.ts';
import { type Mixed, mixedModel } from '../model/mixed.fixture.ts';
import { sampleOf } from './sample.ts';
import { sampleBook } from './sample-book.ts';

const sizes = { layers: 12, hidden: 1024, heads: 16, ffn: 4096, vocab: 32000, positions: 1024, kvHeads: 4 };

function contextsOf(kind: Mixed, request: LayoutRequest, imbalance?: number) {
  const { cluster } = clusterFromRequest('2x dgx-h100', 'cluster');
  const model = mixedModel(kind, sizes);
  if (!cluster) throw new Error('internal: the fixture is broken.');
  const job = createJob({
    name: 'sampled',
    model,
    cluster,
    batch: { sequences: 96, length: 1024 },
    ...(imbalance && { routing: { imbalance } }),
  });
  return [1, 2, 3].map((microBatch) =>
    blockContext(job, completeLayout({ ...request, microBatch }, job, equalCosts(sizes.layers)).layout),
  );
}

describe('samples of one job', () => {
  it.each([
    ['windows', { tensor: 4, sequenceParallel: true, lossChunks: 2 }],
    ['latent', { tensor: 2, recompute: 'selective' }],
    ['leading', { tensor: 2, sequenceParallel: true, keepGathered: true }],
    ['experts', { tensor: 2, expert: 4, expertTensor: 1 }],
    ['experts', { tensor: 4, expert: 2, expertTensor: 4, recompute: 'full' }],
  ] as const)('are what each micro-batch would be written as: %s, %j', (kind, request) => {
    const book = sampleBook();
    for (const context of contextsOf(kind, request, kind === 'experts' ? 1.3 : undefined)) {
      const { program, ...mine } = book(context, 'fp32');
      const { program: own, ...written } = sampleOf(context, 'fp32');
      expect(mine.operations.length).toBeGreaterThan(50);
      expect(JSON.stringify(mine)).toBe(JSON.stringify(written));
      expect(program.mesh).toEqual(own.mesh);
      expect(program.groups).toEqual(own.groups);
    }
  });
});
