import { describe, expect, test } from 'vitest';
import { checkCorpus, readCorpus } from './corpus.ts';
import { byteTokenizer, readTokenizer } from './tokenizer.ts';

/** Byte pairs over four letters: `ab`, then `abab`. */
const json = (vocab: Readonly<Record<string, number>>): string =>
  JSON.stringify({
    version: '1.0',
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: null,
    post_processor: null,
    decoder: { type: 'Fuse' },
    model: { type: 'BPE', vocab, merges: ['a b', 'ab ab'], unk_token: null, fuse_unk: false, byte_fallback: false },
  });
const vocab = { a: 0, b: 1, c: 2, d: 3, ab: 4, abab: 5 };

describe('a tokenizer.json', () => {
  test('makes tokens of a text, and a text of tokens', async () => {
    const tokenizer = await readTokenizer(json(vocab), 'pairs');
    expect(tokenizer.vocabulary).toBe(6);
    const tokens = Array.from(tokenizer.encode('ababcabd'));
    expect(tokens).toEqual([5, 2, 4, 3]);
    expect(tokenizer.decode(tokens)).toBe('ababcabd');
  });

  test('that does not match the model is refused by its largest token', async () => {
    const tokenizer = await readTokenizer(json({ ...vocab, abab: 99_000 }), 'pairs');
    const corpus = readCorpus('text', new TextEncoder().encode('abab'.repeat(400)), 'text', tokenizer);
    expect(corpus.tokens[0]).toBe(99_000);
    expect(checkCorpus(corpus, 256, 8).map(({ code, message }) => [code, message])).toEqual([
      ['TOKEN_UNKNOWN', 'text has the token 99000, and the model knows 0 to 255.'],
    ]);
  });

  test('is refused where nothing reads it', async () => {
    const absent = () => Promise.reject(new Error('not installed'));
    await expect(readTokenizer(json(vocab), 'pairs', absent)).rejects.toThrow(/^TOKENIZER_MISSING .*npm install/);
  });

  test('that is none is refused', async () => {
    for (const text of ['', '{', '[]', '{"model":{}}', 'null']) {
      await expect(readTokenizer(text, 'x.json')).rejects.toThrow(
        /^TOKENIZER_UNREADABLE {2}--tokenizer: "x\.json" is no/,
      );
    }
  });
});

test('bytes that end inside a letter are shown as such', () => {
  expect(byteTokenizer.decode([0x61, 0xc3])).toBe('a\ufffd');
  expect(Array.from(byteTokenizer.encode('\u00e9'))).toEqual([0xc3, 0xa9]);
});

describe('text that is not text', () => {
  test('is refused at its first wrong byte', () => {
    const bytes = Uint8Array.from({ length: 3000 }, (_, index) => (index === 1234 ? 0xff : 0x61));
    expect(() => readCorpus('x.txt', bytes, 'text')).toThrow(
      /DATA_UNREADABLE {2}--data: x\.txt is not UTF-8 at byte 1234/,
    );
    expect(() => readCorpus('x.jsonl', bytes, 'jsonl')).toThrow(/not UTF-8 at byte 1234/);
  });
  test('empty and tiny texts have too few tokens', () => {
    for (const length of [0, 1, 12]) {
      const corpus = readCorpus('x', new Uint8Array(length).fill(0x61), 'text');
      expect(checkCorpus(corpus, 256, 8).map(({ code }) => code)).toEqual(['DATA_TOO_SHORT']);
    }
  });
});
