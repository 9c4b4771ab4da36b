/** @file Operands of a product laid out as its tiles read them: depth by depth, the values of a panel side by side. */
import { COLUMNS, panelRows, TALL } from './gemm-tile';

/** Panels of rows one after the other; what the last one lacks is zero. */
export function packRows(a: usize, aRow: i32, aColumn: i32, depth: i32, height: i32, to: usize): void {
  let i = 0;
  while (i < height) {
    const rows = panelRows(height - i);
    packPanel(a + ((i * aRow) << 2), aRow, aColumn, depth, min(rows, height - i), rows, to);
    to += (rows * depth) << 2;
    i += rows;
  }
}

/** Panels of 8 columns, alike. */
export function packColumns(b: usize, bRow: i32, bColumn: i32, depth: i32, width: i32, to: usize): void {
  for (let j = 0; j < width; j += COLUMNS) {
    packPanel(b + ((j * bColumn) << 2), bColumn, bRow, depth, min(COLUMNS, width - j), COLUMNS, to);
    to += depth << 5;
  }
}

/** A panel of `lines` lines, `line` elements apart and read along `along`; room for `room`, zero beyond the lines. */
function packPanel(from: usize, line: i32, along: i32, depth: i32, lines: i32, room: i32, to: usize): void {
  const step = room << 2;
  if (line === 1 && lines === room && room === TALL) return copyTall(from, along, depth, to);
  if (line === 1 && lines === COLUMNS) return copyEight(from, along, depth, to);
  let done = 0;
  for (; done + 4 <= lines; done += 4) {
    const first = from + ((done * line) << 2);
    if (line === 1) copyFour(first, along, depth, to + (done << 2), step);
    else interleaveFour(first, line, along, depth, to + (done << 2), step);
  }
  for (; done + 2 <= lines; done += 2) {
    interleaveTwo(from + ((done * line) << 2), line, along, depth, to + (done << 2), step);
  }
  for (; done < lines; done++) copyOne(from + ((done * line) << 2), along, depth, to + (done << 2), step);
  for (; done < room; done++) clearOne(depth, to + (done << 2), step);
}

/** A tall panel of lines that lie side by side. */
function copyTall(from: usize, along: i32, depth: i32, to: usize): void {
  const stride = along << 2;
  for (const end = to + depth * (TALL << 2); to < end; to += TALL << 2) {
    v128.store(to, v128.load(from));
    if (TALL === 6) store<u64>(to, load<u64>(from, 16), 16);
    else store<f32>(to, load<f32>(from, 16), 16);
    from += stride;
  }
}

/** Eight lines that lie side by side. */
function copyEight(from: usize, along: i32, depth: i32, to: usize): void {
  const stride = along << 2;
  for (const end = to + (depth << 5); to < end; to += 32) {
    v128.store(to, v128.load(from));
    v128.store(to, v128.load(from, 16), 16);
    from += stride;
  }
}

/** Four lines that lie side by side. */
function copyFour(from: usize, along: i32, depth: i32, to: usize, step: i32): void {
  const stride = along << 2;
  for (let p = 0; p < depth; p++) {
    v128.store(to, v128.load(from));
    from += stride;
    to += step;
  }
}

function copyOne(from: usize, along: i32, depth: i32, to: usize, step: i32): void {
  const stride = along << 2;
  for (let p = 0; p < depth; p++) {
    store<f32>(to, load<f32>(from));
    from += stride;
    to += step;
  }
}

/** Two lines that are `line` elements apart. */
function interleaveTwo(from: usize, line: i32, along: i32, depth: i32, to: usize, step: i32): void {
  const other = from + (line << 2);
  let p = 0;
  if (along === 1) {
    for (; p + 4 <= depth; p += 4) {
      const x = v128.load(from + (p << 2));
      const y = v128.load(other + (p << 2));
      const low = v128.shuffle<f32>(x, y, 0, 4, 1, 5);
      const high = v128.shuffle<f32>(x, y, 2, 6, 3, 7);
      v128.store64_lane(to, low, 0);
      v128.store64_lane(to + step, low, 1);
      v128.store64_lane(to + 2 * step, high, 0);
      v128.store64_lane(to + 3 * step, high, 1);
      to += step << 2;
    }
  }
  for (; p < depth; p++) {
    const at = (p * along) << 2;
    store<f32>(to, load<f32>(from + at));
    store<f32>(to, load<f32>(other + at), 4);
    to += step;
  }
}

function clearOne(depth: i32, to: usize, step: i32): void {
  for (let p = 0; p < depth; p++) {
    store<f32>(to, 0);
    to += step;
  }
}

/** Four lines that are `line` elements apart: four depths at once where those lie side by side. */
function interleaveFour(from: usize, line: i32, along: i32, depth: i32, to: usize, step: i32): void {
  const from1 = from + (line << 2);
  const from2 = from1 + (line << 2);
  const from3 = from2 + (line << 2);
  let p = 0;
  if (along === 1) {
    for (; p + 4 <= depth; p += 4) {
      const at = p << 2;
      transposeFour(
        v128.load(from + at),
        v128.load(from1 + at),
        v128.load(from2 + at),
        v128.load(from3 + at),
        to,
        step,
      );
      to += step << 2;
    }
  }
  for (; p < depth; p++) {
    const at = (p * along) << 2;
    store<f32>(to, load<f32>(from + at));
    store<f32>(to, load<f32>(from1 + at), 4);
    store<f32>(to, load<f32>(from2 + at), 8);
    store<f32>(to, load<f32>(from3 + at), 12);
    to += step;
  }
}

/** Writes the columns of four rows, `step` bytes apart. */
function transposeFour(x0: v128, x1: v128, x2: v128, x3: v128, to: usize, step: i32): void {
  const low01 = v128.shuffle<f32>(x0, x1, 0, 4, 1, 5);
  const low23 = v128.shuffle<f32>(x2, x3, 0, 4, 1, 5);
  const high01 = v128.shuffle<f32>(x0, x1, 2, 6, 3, 7);
  const high23 = v128.shuffle<f32>(x2, x3, 2, 6, 3, 7);
  v128.store(to, v128.shuffle<f32>(low01, low23, 0, 1, 4, 5));
  v128.store(to + step, v128.shuffle<f32>(low01, low23, 2, 3, 6, 7));
  v128.store(to + 2 * step, v128.shuffle<f32>(high01, high23, 0, 1, 4, 5));
  v128.store(to + 3 * step, v128.shuffle<f32>(high01, high23, 2, 3, 6, 7));
}
