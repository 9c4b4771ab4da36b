import { describe, expect, it } from 'vitest';
import { type Code, renderIssue } from '../../errors/index.ts';
import { type Fault, faults, plantFault } from '../faults.ts';
import { toyProgram } from '../fixtures/toy.fixture.ts';
import { verifyProgram } from './index.ts';

describe('the verifier', () => {
  it('finds nothing wrong with the example program', () => {
    expect(verifyProgram(toyProgram()).map(renderIssue)).toEqual([]);
  });
});

const expected: Readonly<Record<Fault, Code>> = {
  'norm-gradients-not-summed': 'GRADIENT_NOT_SUMMED',
  'tied-counted-twice': 'NORM_COUNTED_TWICE',
  'tied-not-summed': 'TIED_NOT_SUMMED',
  'mean-over-data': 'MEAN_NOT_ALLOWED',
  'stale-weights': 'WEIGHTS_NOT_GATHERED',
  'bias-before-sum': 'BIAS_BEFORE_SUM',
};

describe('planted faults', () => {
  it.each(faults)('%s is refused by its own code and by no other', (fault) => {
    const issues = verifyProgram(plantFault(toyProgram(), fault));
    expect([...new Set(issues.map((each) => each.code))]).toEqual([expected[fault]]);
  });
});
