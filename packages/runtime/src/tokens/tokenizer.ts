/** @file From text to tokens and back: bytes as they are, or a `tokenizer.json` of Hugging Face by its own library, which is
 * loaded only when a tokenizer is named.
 */
import { InputError, issue, quote } from '@meshwright/core/errors';

export interface Tokenizer {
  readonly name: string;
  /** Tokens are below this. */
  readonly vocabulary: number;
  encode(text: string): ArrayLike<number>;
  decode(tokens: readonly number[]): string;
}

/** Tokens of text are its bytes. */
export const BYTE_VOCABULARY = 256;

export const byteTokenizer: Tokenizer = {
  name: 'bytes',
  vocabulary: BYTE_VOCABULARY,
  encode: (text) => new TextEncoder().encode(text),
  decode: (tokens) => new TextDecoder().decode(Uint8Array.from(tokens)),
};

type Library = typeof import('@huggingface/tokenizers');
const loadLibrary = (): Promise<Library> => import('@huggingface/tokenizers');

/** The tokenizer of a `tokenizer.json`. Throws TOKENIZER_UNREADABLE, or TOKENIZER_MISSING where the library is not there. */
export async function readTokenizer(
  json: string,
  name: string,
  load: () => Promise<Library> = loadLibrary,
): Promise<Tokenizer> {
  const library = await load().catch(() => undefined);
  if (library === undefined) {
    const message = 'the package @huggingface/tokenizers is not installed.';
    const hint = 'Install it beside meshwright (npm install @huggingface/tokenizers@0.2.0), or leave --tokenizer out.';
    throw new InputError([issue('TOKENIZER_MISSING', '--tokenizer', message, hint)]);
  }
  try {
    const tokenizer = new library.Tokenizer(JSON.parse(json), {});
    const ids = tokenizer.encode('a', { add_special_tokens: false }).ids;
    if (!ids.every(Number.isSafeInteger)) throw new Error('no ids');
    return {
      name,
      vocabulary: 1 + [...tokenizer.get_vocab().values()].reduce((most, id) => Math.max(most, id), 0),
      encode: (text) => tokenizer.encode(text, { add_special_tokens: false }).ids,
      decode: (tokens) => tokenizer.decode([...tokens], { clean_up_tokenization_spaces: false }),
    };
  } catch {
    const message = `${quote(name)} is no tokenizer that its library reads.`;
    throw new InputError([issue('TOKENIZER_UNREADABLE', '--tokenizer', message, 'Use the tokenizer.json of a model.')]);
  }
}
