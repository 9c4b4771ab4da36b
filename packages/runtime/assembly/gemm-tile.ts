/** @file Tiles of a product held in vector registers, from packed panels. Compilers of WebAssembly have 15 registers of four
 * lanes. A product and a sum rounded together need none between them, so 6 rows of 8 columns fit; apart they need one, and 5
 * rows do. */
import { madd } from './math';

/** Rows of a tall panel. */
export const TALL: i32 = ASC_FEATURE_RELAXED_SIMD ? 6 : 5;
/** Rows of a short panel, which ends a block that the tall ones do not fill. */
export const SHORT: i32 = 4;
export const COLUMNS: i32 = 8;

/** Rows of the next panel where `left` rows remain: short where that wastes fewer rows. */
export function panelRows(left: i32): i32 {
  return left <= SHORT || (left > TALL && left <= 2 * SHORT) ? SHORT : TALL;
}

/** C (+)= the product of a panel of `rows` rows and one of 8 columns; from `bias`, if it is not 0, in place of zero. */
export function multiplyTile(
  rows: i32,
  depth: i32,
  a: usize,
  b: usize,
  c: usize,
  cRow: i32,
  adds: bool,
  bias: usize,
): void {
  const left = bias ? v128.load(bias) : f32x4.splat(0);
  const right = bias ? v128.load(bias, 16) : f32x4.splat(0);
  const step = cRow << 2;
  if (rows === SHORT) fourRows(depth, a, b, c, step, adds, left, right);
  else if (ASC_FEATURE_RELAXED_SIMD) sixRows(depth, a, b, c, step, adds, left, right);
  else fiveRows(depth, a, b, c, step, adds, left, right);
}

function fourRows(depth: i32, a: usize, b: usize, c: usize, step: i32, adds: bool, left: v128, right: v128): void {
  let c00 = left,
    c01 = right,
    c10 = left,
    c11 = right,
    c20 = left,
    c21 = right,
    c30 = left,
    c31 = right;
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
  storeRow(c, c00, c01, adds);
  storeRow(c + step, c10, c11, adds);
  storeRow(c + 2 * step, c20, c21, adds);
  storeRow(c + 3 * step, c30, c31, adds);
}

function fiveRows(depth: i32, a: usize, b: usize, c: usize, step: i32, adds: bool, left: v128, right: v128): void {
  let c00 = left,
    c01 = right,
    c10 = left,
    c11 = right,
    c20 = left,
    c21 = right,
    c30 = left,
    c31 = right,
    c40 = left,
    c41 = right;
  for (const end = a + depth * 20; a < end; a += 20) {
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
    const a4 = v128.load32_splat(a, 16);
    c40 = madd(a4, b0, c40);
    c41 = madd(a4, b1, c41);
  }
  storeRow(c, c00, c01, adds);
  storeRow(c + step, c10, c11, adds);
  storeRow(c + 2 * step, c20, c21, adds);
  storeRow(c + 3 * step, c30, c31, adds);
  storeRow(c + 4 * step, c40, c41, adds);
}

function sixRows(depth: i32, a: usize, b: usize, c: usize, step: i32, adds: bool, left: v128, right: v128): void {
  let c00 = left,
    c01 = right,
    c10 = left,
    c11 = right,
    c20 = left,
    c21 = right,
    c30 = left,
    c31 = right,
    c40 = left,
    c41 = right,
    c50 = left,
    c51 = right;
  for (const end = a + depth * 24; a < end; a += 24) {
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
    const a4 = v128.load32_splat(a, 16);
    c40 = madd(a4, b0, c40);
    c41 = madd(a4, b1, c41);
    const a5 = v128.load32_splat(a, 20);
    c50 = madd(a5, b0, c50);
    c51 = madd(a5, b1, c51);
  }
  storeRow(c, c00, c01, adds);
  storeRow(c + step, c10, c11, adds);
  storeRow(c + 2 * step, c20, c21, adds);
  storeRow(c + 3 * step, c30, c31, adds);
  storeRow(c + 4 * step, c40, c41, adds);
  storeRow(c + 5 * step, c50, c51, adds);
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
