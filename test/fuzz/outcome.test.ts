import { InputError, issue } from '@meshwright/core/errors';
import { expect, test } from 'vitest';
import { type Answer, emptyTally, tryCase } from './outcome.ts';

const refusal = issue('KEY_MISSING', 'model', 'the model is not given.', 'Add it.');
const faultsOf = (run: () => Answer): readonly string[] => {
  const tally = emptyTally();
  tryCase(tally, 'case 1', 'the text', run);
  return tally.faults;
};

test.each<[string, () => Answer]>([
  ['output.step.seconds is NaN', () => ({ output: { step: { seconds: Number.NaN } }, issues: [] })],
  ['output.0 is -1', () => ({ output: [-1], issues: [] })],
  ['output.mfu is Infinity', () => ({ output: { mfu: Number.POSITIVE_INFINITY }, issues: [] })],
  ['an internal issue', () => ({ issues: [{ ...refusal, message: 'internal: no split.' }] })],
  ['words of the program itself', () => ({ issues: [{ ...refusal, message: 'undefined is not known.' }] })],
  [
    'threw TypeError',
    () => {
      throw new TypeError('x is not a function');
    },
  ],
])('a case is a fault with its text: %s', (words, run) => {
  const [fault = ''] = faultsOf(run);
  expect(fault).toContain(`case 1: ${words}`);
  expect(fault).toContain('"the text"');
});

test('answers and refusals in words are none', () => {
  expect(faultsOf(() => ({ output: { seconds: 0.5, stages: [1, 2] }, issues: [] }))).toEqual([]);
  expect(
    faultsOf(() => {
      throw new InputError([refusal]);
    }),
  ).toEqual([]);
});
