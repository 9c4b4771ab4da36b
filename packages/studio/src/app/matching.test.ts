import { describe, expect, it } from 'vitest';
import { matching } from './matching.ts';

const run = (): void => undefined;
const commands = ['Open Plan', 'Open Timeline', 'Select #1: tp=2', 'Step through pipeline'].map((words) => ({
  words,
  run,
}));
const found = (typed: string): readonly string[] => matching(commands, typed).map(({ words }) => words);

describe('commands', () => {
  it('are all listed while nothing is typed', () => {
    expect(found('')).toHaveLength(4);
  });

  it('are found by parts of words in any order and case, those that begin so first', () => {
    expect(found('PLAN open')).toEqual(['Open Plan']);
    expect(found('pi')).toEqual(['Step through pipeline']);
    expect(found('s')).toEqual(['Select #1: tp=2', 'Step through pipeline']);
    expect(found('xyz')).toEqual([]);
  });
});
