import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderIssue } from '../errors/index.ts';
import type { Layout } from '../layout/index.ts';
import { verifyProgram } from '../program/index.ts';
import { compileProgram } from './index.ts';
import { cases } from './laws/cases.fixture.ts';

const recomputesAll = ({ recompute, layers }: Layout): boolean =>
  recompute === 'full' && layers.every((each) => each.recompute === 'full');

describe('a compiled program', () => {
  it('passes the verifier, for every kind of model and every legal layout', () => {
    fc.assert(
      fc.property(cases('padded'), ({ job, layout }) => {
        expect(verifyProgram(compileProgram(job, layout)).map(renderIssue)).toEqual([]);
      }),
      { numRuns: 100 },
    );
  }, 30_000);

  it('is the same whatever keys say that have no effect', () => {
    const idle = fc.record({
      sharding: fc.constantFrom<Layout['sharding']>(0, 1, 2, 3),
      prefetch: fc.nat({ max: 3 }),
      bucketMB: fc.constantFrom(0.001, 40),
      keepGathered: fc.boolean(),
    });
    fc.assert(
      fc.property(cases('padded'), idle, ({ job, layout }, { sharding, prefetch, bucketMB, keepGathered }) => {
        const changed: Layout = {
          ...layout,
          ...(layout.data === 1 && { sharding }),
          ...(layout.sharding < 3 && { prefetch }),
          ...((layout.data === 1 || layout.sharding === 3) && { bucketMB }),
          ...((!layout.sequenceParallel || recomputesAll(layout)) && { keepGathered }),
        };
        expect(compileProgram(job, changed)).toEqual(compileProgram(job, layout));
      }),
      { numRuns: 40 },
    );
  }, 30_000);
});
