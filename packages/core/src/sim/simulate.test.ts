import { describe, expect, it } from 'vitest';
import { compileProgram } from '../compile/index.ts';
import { toyJob, toyLayout } from '../compile/toy.fixture.ts';
import { createPrices } from '../cost/index.ts';
import { partsOfList, pricesOf, simulateProgram } from './index.ts';

describe('the worked example', () => {
  it('runs, and its parts add up', () => {
    const job = toyJob();
    const program = compileProgram(job, toyLayout());
    const step = simulateProgram(program, pricesOf(program, createPrices(job.cluster, program.mesh)));
    for (const list of [0, 1]) {
      const sum = Object.values(partsOfList(step, list, () => 1e15)).reduce((total, part) => total + part, 0);
      expect(Math.abs(step.seconds - sum)).toBeLessThan(1e-12);
    }
  });
});
