/** @file Long files in pieces: exports give their bytes one megabyte after the other, so that none is held whole. */
import { encodeUtf8 } from './utf8.ts';

/** Bytes after which a piece is handed on. */
export const CHUNK_BYTES: number = 1 << 20;

/** All pieces as one array, for what is small. */
export function joinChunks(chunks: Iterable<Uint8Array>): Uint8Array {
  const all = [...chunks];
  const joined = new Uint8Array(all.reduce((sum, chunk) => sum + chunk.length, 0));
  let at = 0;
  for (const chunk of all) {
    joined.set(chunk, at);
    at += chunk.length;
  }
  return joined;
}

/** Texts as bytes in UTF-8. */
export function* encodeTexts(texts: Iterable<string>): Generator<Uint8Array> {
  for (const text of texts) yield encodeUtf8(text);
}
