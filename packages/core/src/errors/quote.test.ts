import { describe, expect, it } from 'vitest';
import { quote, quoteName } from './quote.ts';

describe('quoting values of unknown origin', () => {
  it('escapes control characters, so that no terminal obeys a file', () => {
    expect(quote('\u001b[31mred\u009b')).toBe('"\\u001b[31mred?"');
  });
  it('keeps one short line', () => {
    expect(quote('x'.repeat(500)).length).toBe(60);
    expect(quote('a\nb')).toBe('"a\\nb"');
  });
  it('says what containers are instead of printing them', () => {
    expect([quote([1, 2]), quote({}), quote(null), quote(Number.NaN)]).toEqual([
      'a list of 2',
      'a mapping',
      'nothing',
      'NaN',
    ]);
  });
  it('leaves plain names bare', () => {
    expect([quoteName('llama-3.1-8b'), quoteName('a b')]).toEqual(['llama-3.1-8b', '"a b"']);
  });
});
