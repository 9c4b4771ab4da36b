/** @file The tokens of a run. A sample is a row of neighbouring tokens whose place is a hash of seed, step and sample, so
 * that every layout and every restart sees the same sequence of samples; the last tenth is kept for validation.
 */
import { isUtf8 } from 'node:buffer';
import { InputError, type Issue, issue } from '@meshwright/core/errors';
import { mix, uniform } from '../numbers/hash.ts';
import { builtinText } from './generated/builtin-text.ts';
import { byteTokenizer, type Tokenizer } from './tokenizer.ts';

/** Tokens in two bytes, or in four where the vocabulary asks for it. */
export type TokenArray<Memory extends ArrayBufferLike = ArrayBufferLike> = Uint16Array<Memory> | Uint32Array<Memory>;

/** Tokens in memory that all ranks share. */
export interface Corpus {
  /** What it is, in words. */
  readonly name: string;
  readonly tokens: TokenArray<SharedArrayBuffer>;
  /** Tokens before this place are trained on, those from it on are for validation. */
  readonly validation: number;
}

/** How the bytes of a file are read: text as it is, the `text` of each line of JSONL, or 16-bit little-endian token ids. */
export type CorpusFormat = 'text' | 'jsonl' | 'bin';

/** One part in this many is kept for validation. */
const VALIDATION_SHARE = 10;

export const builtinCorpus = (tokenizer: Tokenizer = byteTokenizer): Corpus =>
  corpusOf(
    'builtin (the Declaration of Independence and the Constitution of the United States)',
    tokenizer.encode(builtinText),
  );

/** The tokens of a file's bytes. Throws DATA_UNREADABLE with the line or byte of what is wrong. */
export function readCorpus(
  name: string,
  bytes: Uint8Array,
  format: CorpusFormat,
  tokenizer: Tokenizer = byteTokenizer,
): Corpus {
  switch (format) {
    case 'text':
      return corpusOf(name, tokenizer.encode(textOf(name, bytes)));
    case 'jsonl':
      return corpusOf(name, tokenizer.encode(textOfLines(name, textOf(name, bytes))));
    case 'bin':
      return corpusOf(name, idsOf(name, bytes));
  }
}

function textOf(name: string, bytes: Uint8Array): string {
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes);
  const message = `${name} is not UTF-8 at byte ${firstInvalid(bytes)}.`;
  throw new InputError([issue('DATA_UNREADABLE', '--data', message, 'Save the text as UTF-8.')]);
}

/** The byte at which the longest valid beginning ends, by halving: a beginning that is cut inside a letter is valid too. */
function firstInvalid(bytes: Uint8Array): number {
  const begins = (length: number): boolean => {
    try {
      new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, length), { stream: true });
      return true;
    } catch {
      return false;
    }
  };
  let [valid, invalid] = [0, bytes.length];
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >> 1;
    if (begins(middle)) valid = middle;
    else invalid = middle;
  }
  return valid;
}

function corpusOf(name: string, values: ArrayLike<number>): Corpus {
  const tokens = sharedTokens(values);
  return { name, tokens, validation: tokens.length - Math.floor(tokens.length / VALIDATION_SHARE) };
}

/** Tokens in memory that threads share. */
export function sharedTokens(values: ArrayLike<number>): TokenArray<SharedArrayBuffer> {
  const wide = !(values instanceof Uint16Array) && largestOf(values) > 0xffff;
  const memory = new SharedArrayBuffer((wide ? 4 : 2) * values.length);
  const tokens = wide ? new Uint32Array(memory) : new Uint16Array(memory);
  tokens.set(values);
  return tokens;
}

function largestOf(values: ArrayLike<number>): number {
  let largest = 0;
  for (let index = 0; index < values.length; index++) if (values[index]! > largest) largest = values[index]!;
  return largest;
}

function textOfLines(name: string, text: string): string {
  const texts = text.split('\n').flatMap((line, index): readonly string[] => {
    if (line.trim() === '') return [];
    const found = textOfLine(line);
    if (found !== undefined) return [found];
    const message = `line ${index + 1} of ${name} is not a JSON object with a text.`;
    throw new InputError([issue('DATA_UNREADABLE', '--data', message, 'Write one {"text": "..."} a line.')]);
  });
  return texts.join('\n');
}

function textOfLine(line: string): string | undefined {
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value === 'string') return value;
    const text = (value as { readonly text?: unknown } | null)?.text;
    return typeof text === 'string' ? text : undefined;
  } catch {
    return undefined;
  }
}

function idsOf(name: string, bytes: Uint8Array): Uint16Array {
  if (bytes.length % 2 !== 0) {
    const message = `${name} has ${bytes.length} bytes, which are not 16-bit token ids.`;
    throw new InputError([
      issue('DATA_UNREADABLE', '--data', message, 'Write two bytes a token, the lower one first.'),
    ]);
  }
  return Uint16Array.from({ length: bytes.length / 2 }, (_, index) => bytes[2 * index]! | (bytes[2 * index + 1]! << 8));
}

/** What keeps a model of `vocabulary` tokens from being trained on a corpus in samples of `length` tokens. */
export function checkCorpus(corpus: Corpus, vocabulary: number, length: number): readonly Issue[] {
  const { name, tokens, validation } = corpus;
  const shortest = Math.min(validation, tokens.length - validation);
  const issues: Issue[] = [];
  if (shortest <= length) {
    const message = `${name} has ${tokens.length} tokens, of which one tenth validates: fewer than a sample of ${length + 1}.`;
    issues.push(issue('DATA_TOO_SHORT', '--data', message, `Use ${VALIDATION_SHARE * (length + 1)} tokens or more.`));
  }
  const largest = largestOf(tokens);
  if (largest >= vocabulary) {
    const message = `${name} has the token ${largest}, and the model knows 0 to ${vocabulary - 1}.`;
    issues.push(issue('TOKEN_UNKNOWN', '--data', message, `Use a vocabulary of ${largest + 1} or more.`, { largest }));
  }
  return issues;
}

/** `length` + 1 neighbouring tokens of the part that step `step` reads; step 0 is the validation. */
export function corpusTokens(
  { tokens, validation }: Corpus,
  seed: number,
  step: number,
  sample: number,
  length: number,
): TokenArray {
  const [from, to] = step === 0 ? [validation, tokens.length] : [0, validation];
  const places = to - from - length;
  const start = from + Math.floor(uniform(mix(mix(seed, 0x5a3b1e), step), sample) * places);
  return tokens.subarray(start, start + length + 1);
}
