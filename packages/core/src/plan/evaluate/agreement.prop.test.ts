import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileProgram, microBatches } from '../../compile/index.ts';
import { memoryOf } from '../../memory/index.ts';
import { expandList } from '../../program/index.ts';
import { scheduleCodes, shapeOf } from '../../schedules/index.ts';
import { pricesOf, simulateProgram } from '../../sim/index.ts';
import { type CaseRange, type EvaluationCase, evaluationCases } from './cases.fixture.ts';
import { createEvaluator, evaluateStep } from './index.ts';
import { fullOrder } from './order.ts';

/** Block level and operation level of one case: peak bytes of each stage, and seconds as a ratio. */
function expectAgreement({ job, layout, book }: EvaluationCase): void {
  const evaluator = createEvaluator(job, {}, book);
  const evaluation = evaluateStep(evaluator.specOf(layout), evaluator.orderOf(layout));
  const program = compileProgram(job, layout);
  const lists = program.lists.map((list) => expandList(program, list));
  const step = simulateProgram(program, pricesOf(program, evaluator.pricesOf(layout)), lists);
  const memory = memoryOf(program, lists);
  const ratio = step.seconds === evaluation.seconds ? 1 : evaluation.seconds / step.seconds;
  expect({
    peakBytes: [...evaluation.peakBytes],
    ratio: Math.abs(ratio - 1) < 1e-9 ? 1 : ratio,
  }).toEqual({ peakBytes: memory.lists.map((list) => list.peakBytes), ratio: 1 });
}

/** With steady rounds skipped and with every micro-batch walked. */
function expectSkipIsExact({ job, layout, book }: EvaluationCase): void {
  const evaluator = createEvaluator(job, {}, book);
  const shape = shapeOf(layout, microBatches(job, layout));
  const spec = evaluator.specOf(layout);
  const short = evaluateStep(spec, evaluator.orderOf(layout));
  const full = evaluateStep(spec, fullOrder(shape));
  const lists = Array.from({ length: shape.stages }, (_, stage) => scheduleCodes(shape, stage).length);
  expect(full.walked).toBe(lists.reduce((sum, length) => sum + length, 0));
  expect(short.walked).toBeLessThanOrEqual(full.walked);
  expect([...short.peakBytes]).toEqual([...full.peakBytes]);
  expect(Math.abs(short.seconds - full.seconds)).toBeLessThanOrEqual(1e-9 * full.seconds);
}

const properties: readonly (readonly [string, number, CaseRange])[] = [
  ['in anything', 85, {}],
  [
    'with units that are gathered across invocations',
    80,
    { sharding: [3], prefetch: [1, 2, 3, 7], data: [2, 4], rounds: [2, 9] },
  ],
  ['with several buckets', 55, { sharding: [0, 1, 2], bucketMB: [0.004, 0.01, 0.03], data: [2, 4] }],
  ['with several chunks', 45, { interleaved: true, rounds: [1, 6] }],
  ['with backward in two parts', 90, { split: true, rounds: [1, 9] }],
  [
    'with backward in two parts and gathered units',
    65,
    { split: true, sharding: [3], prefetch: [1, 2, 7], data: [2, 4], rounds: [1, 5] },
  ],
  ['with experts over a grid of their own', 80, { experts: true, bucketMB: [0.02, 0.1, 25] }],
  [
    'with sets of shards that repeat each other',
    70,
    { sharding: [1, 2, 3], data: [2, 4, 6, 8], replicate: [2, 3, 4], bucketMB: [0.02, 25] },
  ],
  [
    'with sets of shards and backward in two parts',
    40,
    { split: true, sharding: [1, 2, 3], data: [4, 6], replicate: [2, 3] },
  ],
  ['with state in host memory', 30, { offload: ['optimizer'], bucketMB: [0.004, 0.02, 25] }],
];
const cases = properties.reduce((sum, [, numRuns]) => sum + numRuns, 0);

describe(`block level equals operation level, in ${cases} generated cases`, () => {
  it.each(properties)(
    '%s',
    (_, numRuns, range) => {
      fc.assert(fc.property(evaluationCases(range), expectAgreement), { numRuns });
    },
    60_000,
  );
});

describe('skipping the steady state equals walking in full', () => {
  it.each(properties)(
    '%s',
    (_, numRuns, range) => {
      fc.assert(fc.property(evaluationCases({ ...range, rounds: [2, 60] }), expectSkipIsExact), { numRuns });
    },
    60_000,
  );
});
