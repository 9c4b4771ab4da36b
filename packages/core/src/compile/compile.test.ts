import { describe, expect, it } from 'vitest';
import { expandList } from '../program/index.ts';
import { compileProgram } from './index.ts';
import { toyJob, toyLayout } from './toy.fixture.ts';

describe('the worked example', () => {
  it('expands', () => {
    const program = compileProgram(toyJob(), toyLayout());
    for (const list of program.lists) {
      const expanded = expandList(program, list);
      expect(expanded.operations.length).toBeGreaterThan(80);
    }
  });
});
