import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { wrap } from './wrap.ts';

describe('wrapped text', () => {
  it('breaks between words, behind the indent', () => {
    expect(wrap('one two three four', 11, '  ')).toEqual(['  one two', '  three', '  four']);
    expect(wrap('', 10)).toEqual(['']);
  });

  it('keeps every word, in order, and no line too long but for a long word', () => {
    const word = fc.stringMatching(/^[a-z]{1,12}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), fc.integer({ min: 4, max: 40 }), (words, width) => {
        const lines = wrap(words.join(' '), width);
        expect(lines.join(' ').split(' ')).toEqual(words);
        for (const line of lines) expect(line.length <= width || !line.includes(' ')).toBe(true);
      }),
    );
  });
});
