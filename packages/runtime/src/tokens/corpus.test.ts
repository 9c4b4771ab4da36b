import { describe, expect, test } from 'vitest';
import { builtinCorpus, type Corpus, type CorpusFormat, checkCorpus, corpusTokens, readCorpus } from './corpus.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const read = (text: string, format: CorpusFormat): Corpus => readCorpus('file', bytes(text), format);
const textOf = ({ tokens }: Corpus): string => String.fromCharCode(...tokens);

describe('the tokens of a file', () => {
  test('text is its bytes', () => {
    expect([...read('A\u00e9', 'text').tokens]).toEqual([0x41, 0xc3, 0xa9]);
  });

  test('JSONL is the texts of its lines', () => {
    expect(textOf(read('{"text": "one"}\n\n"two"\n', 'jsonl'))).toBe('one\ntwo');
    expect(() => read('{"text": "one"}\n{"words": 2}', 'jsonl')).toThrow('DATA_UNREADABLE  --data: line 2 of file');
  });

  test('a .bin file is 16-bit ids, the lower byte first', () => {
    expect([...readCorpus('ids', Uint8Array.of(1, 0, 0, 1, 255, 255), 'bin').tokens]).toEqual([1, 256, 65_535]);
    expect(() => readCorpus('ids', Uint8Array.of(1), 'bin')).toThrow('DATA_UNREADABLE');
  });

  test('the text that ships is ASCII, and begins and ends where it should', () => {
    const corpus = builtinCorpus();
    expect(Math.max(...corpus.tokens)).toBeLessThan(128);
    expect(textOf(corpus)).toMatch(/^The Declaration of Independence[\s\S]*Representatives shall have intervened\.\n$/);
  });
});

describe('samples', () => {
  const corpus = readCorpus(
    'counting',
    new Uint8Array(Uint16Array.from({ length: 200 }, (_, index) => index).buffer),
    'bin',
  );

  test('are neighbouring tokens, fixed by seed, step and sample', () => {
    const sample = [...corpusTokens(corpus, 7, 3, 5, 8)];
    expect(sample).toEqual(Array.from({ length: 9 }, (_, index) => sample[0]! + index));
    expect([...corpusTokens(corpus, 7, 3, 5, 8)]).toEqual(sample);
    const others = [
      corpusTokens(corpus, 8, 3, 5, 8),
      corpusTokens(corpus, 7, 4, 5, 8),
      corpusTokens(corpus, 7, 3, 6, 8),
    ];
    expect(new Set(others.map(([first]) => first)).size).toBeGreaterThan(1);
  });

  test('training never reads what validates, validation reads nothing else', () => {
    for (let sample = 0; sample < 500; sample++) {
      expect(Math.max(...corpusTokens(corpus, 1, 1 + (sample % 9), sample, 8))).toBeLessThan(180);
      expect(Math.min(...corpusTokens(corpus, 1, 0, sample, 8))).toBeGreaterThanOrEqual(180);
    }
  });
});

test('a corpus that is too short or speaks another vocabulary is refused', () => {
  const corpus = read('only a few words', 'text');
  expect(checkCorpus(corpus, 256, 8).map(({ code }) => code)).toEqual(['DATA_TOO_SHORT']);
  expect(checkCorpus(builtinCorpus(), 100, 8).map(({ code }) => code)).toEqual(['TOKEN_UNKNOWN']);
  expect(checkCorpus(builtinCorpus(), 256, 8)).toEqual([]);
});
