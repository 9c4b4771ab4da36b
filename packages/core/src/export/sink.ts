/** @file Bytes that grow, for writers of binary formats. */
import { writeUtf8 } from './utf8.ts';

/** Takes bytes one after another. */
export interface ByteSink {
  put(byte: number): void;
  /** Four bytes, least first. */
  int32(value: number): void;
  /** A text in UTF-8. */
  text(text: string): void;
  /** Makes room for `count` bytes before the byte at `at`. */
  insert(at: number, count: number): void;
  /** Writes over the byte at `at`. */
  set(at: number, byte: number): void;
  /** Bytes since the last `take`. */
  readonly length: number;
  /** What was written since the last `take`, as a copy. */
  take(): Uint8Array;
}

/** An empty sink. */
export function createByteSink(): ByteSink {
  let bytes = new Uint8Array(1 << 16);
  let at = 0;
  const room = (more: number): void => {
    if (at + more <= bytes.length) return;
    const larger = new Uint8Array(2 * bytes.length + more);
    larger.set(bytes);
    bytes = larger;
  };
  const put = (byte: number): void => {
    if (at === bytes.length) room(1);
    bytes[at++] = byte;
  };
  return {
    put,
    int32: (value) => {
      for (let shift = 0; shift < 32; shift += 8) put((value >> shift) & 255);
    },
    text: (text) => writeUtf8(text, put),
    insert: (from, count) => {
      room(count);
      bytes.copyWithin(from + count, from, at);
      at += count;
    },
    set: (index, byte) => {
      bytes[index] = byte;
    },
    get length() {
      return at;
    },
    take: () => {
      const taken = bytes.slice(0, at);
      at = 0;
      return taken;
    },
  };
}
