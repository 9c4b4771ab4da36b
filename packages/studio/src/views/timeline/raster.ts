/** @file Slices as pixels: where many fall into one, one is painted. Costs slices and pixels, never a rectangle for each slice. */
import { firstEndingAfter, type LaneRow, type Window } from './lanes.ts';

/** For each row and pixel of a window 1 + the kind of the last slice that touches it, 0 where nothing runs. Rows follow each
 * other, `width` pixels each. */
export function rasterOf(rows: readonly LaneRow[], window: Window, width: number): Uint8Array {
  const pixels = new Uint8Array(rows.length * width);
  const scale = width / (window.to - window.from);
  rows.forEach((row, index) => {
    const { start, end, kind } = row;
    const base = index * width;
    const last = firstEndingAfter(row, window.to);
    // The slice that the window ends in is the first to end behind it.
    const until = Math.min(end.length, last + 1);
    for (let at = firstEndingAfter(row, window.from); at < until; at++) {
      const from = ((start[at] as number) - window.from) * scale;
      if (from >= width) break;
      const x = from > 0 ? from | 0 : 0;
      const to = Math.min(width, Math.max(x + 1, Math.ceil(((end[at] as number) - window.from) * scale)));
      const value = (kind[at] as number) + 1;
      if (to - x < 16) for (let pixel = base + x; pixel < base + to; pixel++) pixels[pixel] = value;
      else pixels.fill(value, base + x, base + to);
    }
  });
  return pixels;
}

/** The same in colour, see-through where nothing runs; `colours` are `#rrggbb`, by kind. */
export function imageOf(pixels: Uint8Array, width: number, colours: readonly string[]): ImageData {
  const image = new ImageData(width, pixels.length / width);
  const words = new Uint32Array(image.data.buffer);
  const palette = Uint32Array.from(['', ...colours], (colour) => (colour === '' ? 0 : opaque(colour)));
  for (let at = 0; at < pixels.length; at++) words[at] = palette[pixels[at] as number] as number;
  return image;
}

/** `#rrggbb` as the bytes of a pixel. */
function opaque(colour: string): number {
  const [red, green, blue] = channels(colour);
  return new Uint32Array(Uint8ClampedArray.from([red, green, blue, 255]).buffer)[0] as number;
}

/** Red, green and blue of `#rrggbb`. */
export const channels = (colour: string): readonly [red: number, green: number, blue: number] => [
  Number.parseInt(colour.slice(1, 3), 16),
  Number.parseInt(colour.slice(3, 5), 16),
  Number.parseInt(colour.slice(5, 7), 16),
];
