import type { Position } from '../errors/index.ts';

/** The position of an offset in a text; an offset behind the end is the end. */
export type Locator = (offset: number) => Position;

/** Finds line and column of offsets in `text`. Characters that a terminal obeys are shown as `?`, each in its column. */
export function locatorOf(text: string, file: string): Locator {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    const wanted = Math.min(Math.max(0, offset), text.length);
    const line = lastAtMost(starts, wanted);
    const start = starts[line] ?? 0;
    const end = starts[line + 1] ?? text.length + 1;
    const shown = text.slice(start, end - 1).replace(/\r$/, '');
    return { file, line: line + 1, column: wanted - start + 1, text: printable(shown) };
  };
}

/** Index of the last of the ascending `starts` that is not behind `offset`. */
function lastAtMost(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

const printable = (line: string): string => line.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/g, '?');
