/** @file C = A B (+ C): any strides in A and B, so that all three products of a linear layer and those of attention are one
 * routine. Blocks are packed into panels of 4 rows and 8 columns (the way of Goto and van de Geijn 2008).
 */
import { madd } from './math';

const ROWS: i32 = 4;
const COLUMNS: i32 = 8;
const DEPTH_BLOCK: i32 = 256;
const ROW_BLOCK: i32 = 64;
const COLUMN_BLOCK: i32 = 512;

/** Adds to C where `adds` is not 0. `pack` has room for 600 KiB. `bias`, one for each column, is 0 where there is none. */
export function gemm(
  m: i32,
  n: i32,
  k: i32,
  a: usize,
  aRow: i32,
  aColumn: i32,
  b: usize,
  bRow: i32,
  bColumn: i32,
  c: usize,
  cRow: i32,
  adds: i32,
  bias: usize,
  pack: usize,
): void {
  const packedA = pack;
  const packedB = pack + 4 * ROW_BLOCK * DEPTH_BLOCK;
  const tile = packedB + 4 * COLUMN_BLOCK * DEPTH_BLOCK;
  if (bias) fillRows(m, n, c, cRow, bias);
  for (let j = 0; j < n; j += COLUMN_BLOCK) {
    const width = min(COLUMN_BLOCK, n - j);
    for (let p = 0; p < k; p += DEPTH_BLOCK) {
      const depth = min(DEPTH_BLOCK, k - p);
      packColumns(b + ((p * bRow + j * bColumn) << 2), bRow, bColumn, depth, width, packedB);
      const adding = adds !== 0 || p > 0 || bias !== 0;
      for (let i = 0; i < m; i += ROW_BLOCK) {
        const height = min(ROW_BLOCK, m - i);
        packRows(a + ((i * aRow + p * aColumn) << 2), aRow, aColumn, depth, height, packedA);
        multiplyBlock(height, width, depth, packedA, packedB, c + ((i * cRow + j) << 2), cRow, adding, tile);
      }
    }
  }
}

/** Every row of C = `bias`. */
export function fillRows(m: i32, n: i32, c: usize, cRow: i32, bias: usize): void {
  for (let i = 0; i < m; i++) memory.copy(c + ((i * cRow) << 2), bias, n << 2);
}

/** Panels of 4 rows: depth by depth, the 4 values of a depth side by side; missing rows are zero. */
function packRows(a: usize, aRow: i32, aColumn: i32, depth: i32, height: i32, to: usize): void {
  for (let i = 0; i < height; i += ROWS) {
    const rows = min(ROWS, height - i);
    const from = a + ((i * aRow) << 2);
    if (rows === ROWS) {
      if (aRow === 1) {
        for (let p = 0; p < depth; p++) {
          v128.store(to, v128.load(from + ((p * aColumn) << 2)));
          to += 16;
        }
      } else {
        packFour(from, aRow, aColumn, depth, to, 16);
        to += depth << 4;
      }
      continue;
    }
    for (let p = 0; p < depth; p++) {
      for (let r = 0; r < ROWS; r++) {
        const value: f32 = r < rows ? load<f32>(from + ((r * aRow + p * aColumn) << 2)) : 0;
        store<f32>(to + (r << 2), value);
      }
      to += 16;
    }
  }
}

/** Panels of 8 columns, alike. */
function packColumns(b: usize, bRow: i32, bColumn: i32, depth: i32, width: i32, to: usize): void {
  for (let j = 0; j < width; j += COLUMNS) {
    const columns = min(COLUMNS, width - j);
    const from = b + ((j * bColumn) << 2);
    if (columns === COLUMNS) {
      if (bColumn === 1) {
        for (let p = 0; p < depth; p++) {
          const row = from + ((p * bRow) << 2);
          v128.store(to + (p << 5), v128.load(row));
          v128.store(to + (p << 5), v128.load(row, 16), 16);
        }
      } else {
        packFour(from, bColumn, bRow, depth, to, 32);
        packFour(from + (bColumn << 4), bColumn, bRow, depth, to + 16, 32);
      }
    } else {
      for (let p = 0; p < depth; p++) {
        for (let q = 0; q < COLUMNS; q++) {
          const value: f32 = q < columns ? load<f32>(from + ((p * bRow + q * bColumn) << 2)) : 0;
          store<f32>(to + (p << 5) + (q << 2), value);
        }
      }
    }
    to += depth << 5;
  }
}

/** Four lines that are `line` elements apart, read along `along`, interleaved in steps of `step` bytes. */
function packFour(from: usize, line: i32, along: i32, depth: i32, to: usize, step: i32): void {
  const from1 = from + (line << 2);
  const from2 = from1 + (line << 2);
  const from3 = from2 + (line << 2);
  for (let p = 0; p < depth; p++) {
    const at = (p * along) << 2;
    store<f32>(to, load<f32>(from + at));
    store<f32>(to, load<f32>(from1 + at), 4);
    store<f32>(to, load<f32>(from2 + at), 8);
    store<f32>(to, load<f32>(from3 + at), 12);
    to += step;
  }
}

function multiplyBlock(
  height: i32,
  width: i32,
  depth: i32,
  packedA: usize,
  packedB: usize,
  c: usize,
  cRow: i32,
  adds: bool,
  tile: usize,
): void {
  for (let j = 0; j < width; j += COLUMNS) {
    const panelB = packedB + ((j * depth) << 2);
    for (let i = 0; i < height; i += ROWS) {
      const panelA = packedA + ((i * depth) << 2);
      const to = c + ((i * cRow + j) << 2);
      if (height - i >= ROWS && width - j >= COLUMNS) {
        multiplyTile(depth, panelA, panelB, to, cRow, adds);
      } else {
        multiplyTile(depth, panelA, panelB, tile, COLUMNS, false);
        copyTile(tile, min(ROWS, height - i), min(COLUMNS, width - j), to, cRow, adds);
      }
    }
  }
}

/** A tile of 4 x 8 in eight registers. */
function multiplyTile(depth: i32, a: usize, b: usize, c: usize, cRow: i32, adds: bool): void {
  let c00 = f32x4.splat(0),
    c01 = c00,
    c10 = c00,
    c11 = c00,
    c20 = c00,
    c21 = c00,
    c30 = c00,
    c31 = c00;
  for (const end = a + (depth << 4); a < end; a += 16) {
    const b0 = v128.load(b);
    const b1 = v128.load(b, 16);
    b += 32;
    const a0 = v128.load32_splat(a);
    c00 = madd(a0, b0, c00);
    c01 = madd(a0, b1, c01);
    const a1 = v128.load32_splat(a, 4);
    c10 = madd(a1, b0, c10);
    c11 = madd(a1, b1, c11);
    const a2 = v128.load32_splat(a, 8);
    c20 = madd(a2, b0, c20);
    c21 = madd(a2, b1, c21);
    const a3 = v128.load32_splat(a, 12);
    c30 = madd(a3, b0, c30);
    c31 = madd(a3, b1, c31);
  }
  const step = cRow << 2;
  storeRow(c, c00, c01, adds);
  storeRow(c + step, c10, c11, adds);
  storeRow(c + 2 * step, c20, c21, adds);
  storeRow(c + 3 * step, c30, c31, adds);
}

function storeRow(c: usize, left: v128, right: v128, adds: bool): void {
  if (adds) {
    v128.store(c, f32x4.add(v128.load(c), left));
    v128.store(c, f32x4.add(v128.load(c, 16), right), 16);
  } else {
    v128.store(c, left);
    v128.store(c, right, 16);
  }
}

function copyTile(tile: usize, rows: i32, columns: i32, c: usize, cRow: i32, adds: bool): void {
  for (let r = 0; r < rows; r++) {
    for (let q = 0; q < columns; q++) {
      const to = c + ((r * cRow + q) << 2);
      const value = load<f32>(tile + ((r * COLUMNS + q) << 2));
      store<f32>(to, adds ? load<f32>(to) + value : value);
    }
  }
}

/** db (+)= the sum of dy over rows. */
export function biasDw(rows: i32, n: i32, dy: usize, db: usize, adds: i32): void {
  if (!adds) memory.fill(db, 0, n << 2);
  for (let r = 0; r < rows; r++) {
    const row = dy + ((r * n) << 2);
    let j = 0;
    for (; j + 4 <= n; j += 4) {
      v128.store(db + (j << 2), f32x4.add(v128.load(db + (j << 2)), v128.load(row + (j << 2))));
    }
    for (; j < n; j++) store<f32>(db + (j << 2), load<f32>(db + (j << 2)) + load<f32>(row + (j << 2)));
  }
}
