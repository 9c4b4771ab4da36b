import { describe, expect, it } from 'vitest';
import { codes, didYouMean, InputError, issue, renderIssue, throwOnErrors, warning } from './index.ts';

const at = (text: string, column: number) => ({ file: 'a.yaml', line: 3, column, text });

describe('an issue as text', () => {
  it('shows place, code, path, what is wrong, what to do, and the line with a caret', () => {
    const each = { ...issue('KEY_UNKNOWN', 'batch.lenght', 'lenght is not read.', 'Did you mean length?') };
    expect(renderIssue({ ...each, position: at('batch: {lenght: 3}', 9) })).toBe(
      [
        'a.yaml:3:9  KEY_UNKNOWN  batch.lenght: lenght is not read. Did you mean length?',
        '    batch: {lenght: 3}',
        '            ^',
      ].join('\n'),
    );
  });
  it('keeps tabs before the caret, so that it stands under its character', () => {
    const text = renderIssue({ ...issue('SYNTAX', '', 'x.'), position: at('\t\tx', 3) });
    expect(text.split('\n').slice(1)).toEqual(['    \t\tx', '    \t\t^']);
  });
  it('shows the part of a very long line that it speaks of', () => {
    const long = `${'a'.repeat(5000)}!${'b'.repeat(5000)}`;
    const [, line = '', caret = ''] = renderIssue({ ...issue('SYNTAX', '', 'x.'), position: at(long, 5001) }).split(
      '\n',
    );
    expect(line.length).toBeLessThan(180);
    expect(line[caret.indexOf('^')]).toBe('!');
  });
});

describe('errors', () => {
  it('are thrown together, warnings are not', () => {
    expect(() => throwOnErrors([warning('SYNTAX', '', 'x.')])).not.toThrow();
    expect(() => throwOnErrors([issue('SYNTAX', 'a', 'x.'), issue('SYNTAX', 'b', 'y.')])).toThrow(InputError);
  });
  it('have a meaning and a fix that end with a full stop, for every code', () => {
    for (const [code, row] of Object.entries(codes)) {
      expect(code).toMatch(/^[A-Z][A-Z0-9_]+$/);
      expect(row.meaning.endsWith('.') && row.fix.endsWith('.')).toBe(true);
    }
  });
});

describe('did you mean', () => {
  it('finds a slip of the finger and leaves other words alone', () => {
    expect(didYouMean('lama-2-7b', ['llama-2-7b', 'gpt2'])).toBe('llama-2-7b');
    expect(didYouMean('zebra', ['llama', 'gpt2'])).toBeUndefined();
  });
});
