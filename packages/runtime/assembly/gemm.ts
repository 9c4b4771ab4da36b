/** @file C = A B (+ C): any strides in A and B, so that all three products of a linear layer and those of attention are one
 * routine. Blocks of both operands are packed into panels (the way of Goto and van de Geijn 2008): those of B stay in the
 * nearest cache while all rows of a block of A, in the next one, pass by.
 */
import { packColumns, packRows } from './gemm-pack';
import { COLUMNS, multiplyTile, panelRows, TALL } from './gemm-tile';

const DEPTH_BLOCK: i32 = 256;
const ROW_BLOCK: i32 = 20 * TALL;
const COLUMN_BLOCK: i32 = 512;

/** Adds to C where `adds` is not 0. `pack` has room for 700 KiB. `bias`, one for each column, is 0 where there is none. */
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
  const packedB = packedA + 4 * ROW_BLOCK * DEPTH_BLOCK;
  const tile = packedB + 4 * COLUMN_BLOCK * DEPTH_BLOCK;
  for (let j = 0; j < n; j += COLUMN_BLOCK) {
    const width = min(COLUMN_BLOCK, n - j);
    for (let p = 0; p < k; p += DEPTH_BLOCK) {
      const depth = min(DEPTH_BLOCK, k - p);
      packColumns(b + ((p * bRow + j * bColumn) << 2), bRow, bColumn, depth, width, packedB);
      const from: usize = bias && p === 0 ? bias + (j << 2) : 0;
      for (let i = 0; i < m; i += ROW_BLOCK) {
        const height = min(ROW_BLOCK, m - i);
        packRows(a + ((i * aRow + p * aColumn) << 2), aRow, aColumn, depth, height, packedA);
        const to = c + ((i * cRow + j) << 2);
        multiplyBlock(height, width, depth, packedA, packedB, to, cRow, adds !== 0 || p > 0, from, tile);
      }
    }
  }
}

/** Every row of C = `bias`. */
export function fillRows(m: i32, n: i32, c: usize, cRow: i32, bias: usize): void {
  for (let i = 0; i < m; i++) memory.copy(c + ((i * cRow) << 2), bias, n << 2);
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
  bias: usize,
  tile: usize,
): void {
  let i = 0;
  while (i < height) {
    const rows = panelRows(height - i);
    const panelA = packedA + ((i * depth) << 2);
    for (let j = 0; j < width; j += COLUMNS) {
      const panelB = packedB + ((j * depth) << 2);
      const columns = min(COLUMNS, width - j);
      const from = bias ? eightOf(bias + (j << 2), columns, tile + 4 * TALL * COLUMNS) : 0;
      const to = c + ((i * cRow + j) << 2);
      if (height - i >= rows && columns === COLUMNS) {
        multiplyTile(rows, depth, panelA, panelB, to, cRow, adds, from);
      } else {
        multiplyTile(rows, depth, panelA, panelB, tile, COLUMNS, false, from);
        copyTile(tile, min(rows, height - i), columns, to, cRow, adds);
      }
    }
    i += rows;
  }
}

/** Where `columns` numbers, and what follows up to 8, may be read: in place, or copied to `room`. */
function eightOf(from: usize, columns: i32, room: usize): usize {
  if (columns === COLUMNS) return from;
  memory.copy(room, from, columns << 2);
  return room;
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
