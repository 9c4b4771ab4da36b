/** @file The tokens of a run. A sample is a row of neighbouring tokens whose place is a hash of seed, step and sample, so
 * that every layout and every restart sees the same sequence of samples; the last tenth is kept for validation.
 */
import { InputError, type Issue, issue } from '@meshwright/core/errors';
import { mix, uniform } from '../numbers/hash.ts';
import { builtinText } from './generated/builtin-text.ts';

/** Tokens in memory that all ranks share. */
export interface Corpus {
  /** What it is, in words. */
  readonly name: string;
  readonly tokens: Uint16Array<SharedArrayBuffer>;
  /** Tokens before this place are trained on, those from it on are for validation. */
  readonly validation: number;
}

/** How the bytes of a file are read: text as it is, the `text` of each line of JSONL, or 16-bit little-endian token ids. */
export type CorpusFormat = 'text' | 'jsonl' | 'bin';

/** Tokens of text are its bytes. */
export const BYTE_VOCABULARY = 256;

/** One part in this many is kept for validation. */
const VALIDATION_SHARE = 10;

export const builtinCorpus = (): Corpus =>
  corpusOf('builtin (the Declaration of Independence and the Constitution of the United States)', bytesOf(builtinText));

/** The tokens of a file's bytes. Throws DATA_UNREADABLE with the line of what is wrong. */
export function readCorpus(name: string, bytes: Uint8Array, format: CorpusFormat): Corpus {
  switch (format) {
    case 'text':
      return corpusOf(name, bytes);
    case 'jsonl':
      return corpusOf(name, bytesOf(textOfLines(name, new TextDecoder().decode(bytes))));
    case 'bin':
      return corpusOf(name, idsOf(name, bytes));
  }
}

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

function corpusOf(name: string, values: ArrayLike<number>): Corpus {
  const tokens = new Uint16Array(new SharedArrayBuffer(2 * values.length));
  tokens.set(values);
  return { name, tokens, validation: tokens.length - Math.floor(tokens.length / VALIDATION_SHARE) };
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
  const largest = tokens.reduce((most, token) => Math.max(most, token), 0);
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
): Uint16Array {
  const [from, to] = step === 0 ? [validation, tokens.length] : [0, validation];
  const places = to - from - length;
  const start = from + Math.floor(uniform(mix(mix(seed, 0x5a3b1e), step), sample) * places);
  return tokens.subarray(start, start + length + 1);
}
