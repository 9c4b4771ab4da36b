import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PriceBook } from '../../cost/index.ts';
import { seconds as inSeconds } from '../../units/index.ts';
import { type CaseRange, evaluationCases } from '../evaluate/cases.fixture.ts';
import { createEvaluator, evaluateStep } from '../evaluate/index.ts';
import { boundOf } from './index.ts';

const ranges: readonly (readonly [string, CaseRange])[] = [
  ['anything', {}],
  ['backward in two parts', { split: true }],
  ['experts over a grid of their own', { experts: true }],
];

/** Made-up prices of exchanges that grow with bytes, which bounds rest on: a latency and a rate of each kind. */
const growing = (book: Pick<PriceBook, 'pricesOf'>): Pick<PriceBook, 'pricesOf'> => ({
  pricesOf: (mesh) => {
    const prices = book.pricesOf(mesh);
    return {
      ...prices,
      exchange: (request) =>
        inSeconds(
          prices.exchange({ ...request, bytes: 1 }) + (prices.exchange({ ...request, bytes: 2 }) * request.bytes) / 1e4,
        ),
    };
  },
});

describe('bound of a generated layout', () => {
  it.each(ranges)('is at most its evaluation, in time and memory: %s', (_, range) => {
    fc.assert(
      fc.property(evaluationCases(range), ({ job, layout, book }) => {
        const evaluator = createEvaluator(job, {}, growing(book));
        const bound = boundOf(evaluator, layout);
        const { seconds, peakBytes } = evaluateStep(evaluator.specOf(layout), evaluator.orderOf(layout));
        expect(bound.lightestSeconds).toBeLessThanOrEqual(bound.floorSeconds);
        expect(bound.floorSeconds).toBeLessThanOrEqual(bound.computeSeconds);
        expect(bound.computeSeconds).toBeLessThanOrEqual(bound.seconds);
        expect(bound.seconds).toBeLessThanOrEqual(seconds * (1 + 1e-12));
        expect(bound.peakBytes).toBeLessThanOrEqual(Math.max(...peakBytes) + 1e-6);
      }),
      { numRuns: 150 },
    );
  });
});
