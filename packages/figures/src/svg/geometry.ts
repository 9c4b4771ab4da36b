/** @file Small geometry: rounding, and how wide a text will be where nothing can measure it. */

/** A coordinate with at most two decimals. */
export const at = (value: number): number => Math.round(value * 100) / 100;

const narrow = /[ijltfr.,:;'|!()[\] ]/;
const wide = /[mwMW%@~\u2014]/;

/** Width of a text in pixels, on the safe side: of a wide sans serif. */
export function textWidth(text: string, size = 12): number {
  let width = 0;
  for (const letter of text) {
    width += narrow.test(letter) ? 0.36 : wide.test(letter) ? 0.92 : /[A-Z]/.test(letter) ? 0.7 : 0.59;
  }
  return width * size;
}

/** `text` cut to `width` with an ellipsis, whole when it fits. */
export function fitText(text: string, width: number, size = 12): string {
  if (textWidth(text, size) <= width) return text;
  let kept = text;
  while (kept.length > 0 && textWidth(`${kept}...`, size) > width) kept = kept.slice(0, -1);
  return `${kept.trimEnd()}\u2026`;
}

/** Words broken into lines of at most `width`. */
export function wrapText(text: string, width: number, size = 12): readonly string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && textWidth(longer, size) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return line === '' ? lines : [...lines, line];
}
