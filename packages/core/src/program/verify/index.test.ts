import { describe, expect, it } from 'vitest';
import { renderIssue } from '../../errors/index.ts';
import { faults, plantFault } from '../faults.ts';
import { toyProgram } from '../fixtures/toy.fixture.ts';
import { faultCodes } from './fault-codes.fixture.ts';
import { verifyProgram } from './index.ts';

describe('the verifier', () => {
  it('finds nothing wrong with the example program', () => {
    expect(verifyProgram(toyProgram()).map(renderIssue)).toEqual([]);
  });
});

describe('planted faults', () => {
  it.each(faults)('%s is refused by its own code and by no other', (fault) => {
    const issues = verifyProgram(plantFault(toyProgram(), fault));
    expect([...new Set(issues.map((each) => each.code))]).toEqual([faultCodes[fault]]);
  });
});
