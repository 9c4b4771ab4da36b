/** @file Text as bytes in UTF-8, written out here because this package knows neither Node nor a browser. */

/** Calls `push` with each byte of a text. Halves of surrogate pairs without the other half become U+FFFD. */
export function writeUtf8(text: string, push: (byte: number) => void): void {
  for (let index = 0; index < text.length; index++) {
    const code = text.codePointAt(index) as number;
    if (code < 0x80) {
      push(code);
      continue;
    }
    const point = code >= 0xd800 && code < 0xe000 ? 0xfffd : code;
    if (point > 0xffff) index++;
    const bits = point < 0x800 ? 6 : point < 0x10000 ? 12 : 18;
    push((bits === 6 ? 0xc0 : bits === 12 ? 0xe0 : 0xf0) | (point >> bits));
    for (let rest = bits - 6; rest >= 0; rest -= 6) push(0x80 | ((point >> rest) & 0x3f));
  }
}

/** Bytes that a text takes in UTF-8. */
export function utf8Length(text: string): number {
  let length = 0;
  writeUtf8(text, () => {
    length += 1;
  });
  return length;
}

/** A text in UTF-8. */
export function encodeUtf8(text: string): Uint8Array {
  const bytes = new Uint8Array(utf8Length(text));
  let at = 0;
  writeUtf8(text, (byte) => {
    bytes[at++] = byte;
  });
  return bytes;
}
