import { describe, expect, it } from 'vitest';
import { compileProgram } from '../compile/index.ts';
import { toyJob, toyLayout } from '../compile/toy.fixture.ts';
import { createPrices } from '../cost/index.ts';
import type { Layout } from '../layout/index.ts';
import { bytesSent } from '../program/index.ts';
import {
  criticalPathSummary,
  laneUseOf,
  operationCount,
  pricesOf,
  type SimulatedStep,
  simulateProgram,
} from './index.ts';

function toyStep(changes: Partial<Layout> = {}): SimulatedStep {
  const job = toyJob();
  const program = compileProgram(job, toyLayout(changes));
  return simulateProgram(program, pricesOf(program, createPrices(job.cluster, program.mesh)));
}

const cases: readonly (readonly [string, Partial<Layout>])[] = [
  ['sharding 1', {}],
  ['sharding 3', { sharding: 3 }],
  ['full recomputation', { recompute: 'full' }],
  ['gpipe', { schedule: 'gpipe' }],
];

describe('the parts of the critical path', () => {
  for (const [name, changes] of cases) {
    it(`cover the step without gaps, ${name}`, () => {
      const step = toyStep(changes);
      const { seconds, parts, segments } = criticalPathSummary(step);
      expect(parts.reduce((sum, part) => sum + part.seconds, 0)).toBeCloseTo(step.seconds, 12);
      expect(seconds).toBe(step.seconds);
      let end = 0;
      for (const segment of segments) {
        expect(segment.start).toBeCloseTo(end, 15);
        end = segment.end;
      }
      expect(end).toBe(step.seconds);
    });
  }

  it('are what is slow: with free kernels and exchanges the host alone is left', () => {
    const { program } = toyStep();
    const step = simulateProgram(program, { duration: () => 0, launchCompute: 1e-6, launchExchange: 1e-6 });
    expect(criticalPathSummary(step).parts.map(({ kind }) => kind)).toEqual(['host']);
    const compute = simulateProgram(program, {
      duration: ({ operation }) => (operation.kind === 'compute' ? 1e-3 : 0),
      launchCompute: 0,
      launchExchange: 0,
    });
    const { parts } = criticalPathSummary(compute);
    expect(parts.map(({ kind }) => kind).sort()).toEqual(['backward', 'forward', 'tail']);
    expect(parts[0]?.kind).toBe('backward');
  });
});

describe('the use of lanes', () => {
  it('sums to the ledger and to the operations of the program', () => {
    const step = toyStep();
    const { lists } = bytesSent(step.program);
    const uses = step.lists.map((_, list) => laneUseOf(step, list));
    expect(uses.map((each) => each.reduce((sum, { bytes }) => sum + bytes, 0))).toEqual(
      lists.map(({ total }) => total.bytes),
    );
    expect(uses.flat().reduce((sum, { operations }) => sum + operations, 0)).toBe(operationCount(step.program));
    expect(operationCount(step.program)).toBe(step.start.length);
  });
});
