/** @file Causal attention in blocks of queries and keys with running maxima and sums (Dao et al. 2022), so that scores of one
 * block live at a time. Rows of queries, keys and values are `row` elements apart; grouped queries share keys and values.
 */
import { gemm } from './gemm';
import { dot, exp1, exp4, sum4 } from './math';

const BLOCK: i32 = 64;
const BLOCK_BYTES: usize = 4 * 64 * 64;
const LOWEST: f32 = -1e30;

/** One head of one sample. `scratch` has room for {@link SCRATCH} after the 600 KiB of `gemm`. */
export function attention(
  length: i32,
  size: i32,
  scale: f32,
  q: usize,
  k: usize,
  v: usize,
  row: i32,
  o: usize,
  oRow: i32,
  lse: usize,
  lseRow: i32,
  pack: usize,
  scratch: usize,
): void {
  const tops = scratch + BLOCK_BYTES;
  const sums = tops + 4 * BLOCK;
  for (let i = 0; i < length; i += BLOCK) {
    const rows = min(BLOCK, length - i);
    for (let r = 0; r < rows; r++) {
      store<f32>(tops + (r << 2), LOWEST);
      store<f32>(sums + (r << 2), 0);
      memory.fill(o + (((i + r) * oRow) << 2), 0, size << 2);
    }
    for (let j = 0; j <= i; j += BLOCK) {
      const columns = min(BLOCK, length - j);
      gemm(rows, columns, size, q + ((i * row) << 2), row, 1, k + ((j * row) << 2), 1, row, scratch, BLOCK, 0, 0, pack);
      for (let r = 0; r < rows; r++) {
        const seen = min(columns, i + r - j + 1);
        softenRow(
          scratch + ((r * BLOCK) << 2),
          seen,
          columns,
          scale,
          tops + (r << 2),
          sums + (r << 2),
          o + (((i + r) * oRow) << 2),
          size,
        );
      }
      gemm(
        rows,
        size,
        columns,
        scratch,
        BLOCK,
        1,
        v + ((j * row) << 2),
        row,
        1,
        o + ((i * oRow) << 2),
        oRow,
        1,
        0,
        pack,
      );
    }
    finishRows(rows, size, o + ((i * oRow) << 2), oRow, lse + ((i * lseRow) << 2), lseRow, tops, sums);
  }
}

/** What was summed is divided by its sum of exponentials, whose logarithm is kept. */
function finishRows(
  rows: i32,
  size: i32,
  o: usize,
  oRow: i32,
  lse: usize,
  lseRow: i32,
  tops: usize,
  sums: usize,
): void {
  for (let r = 0; r < rows; r++) {
    const sum = load<f32>(sums + (r << 2));
    scaleRow(o + ((r * oRow) << 2), size, 1 / sum);
    store<f32>(lse + ((r * lseRow) << 2), load<f32>(tops + (r << 2)) + Mathf.log(sum));
  }
}

/** Scores of one query become exponentials below its running maximum; what was summed before is scaled to it. */
function softenRow(
  scores: usize,
  seen: i32,
  columns: i32,
  scale: f32,
  top: usize,
  sum: usize,
  o: usize,
  size: i32,
): void {
  for (let c = seen; c < ((columns + 3) & ~3); c++) store<f32>(scores + (c << 2), LOWEST);
  let most = load<f32>(top);
  for (let c = 0; c < seen; c++) most = max(most, scale * load<f32>(scores + (c << 2)));
  const before = load<f32>(top);
  if (most > before) {
    const factor = exp1(before - most);
    store<f32>(top, most);
    store<f32>(sum, load<f32>(sum) * factor);
    scaleRow(o, size, factor);
  }
  let powers = f32x4.splat(0);
  for (let c = 0; c < columns; c += 4) {
    const power = exp4(f32x4.sub(f32x4.mul(v128.load(scores + (c << 2)), f32x4.splat(scale)), f32x4.splat(most)));
    v128.store(scores + (c << 2), power);
  }
  for (let c = seen; c < ((columns + 3) & ~3); c++) store<f32>(scores + (c << 2), 0);
  for (let c = 0; c < columns; c += 4) powers = f32x4.add(powers, v128.load(scores + (c << 2)));
  store<f32>(sum, load<f32>(sum) + sum4(powers));
}

function scaleRow(x: usize, length: i32, factor: f32): void {
  let i = 0;
  for (; i + 4 <= length; i += 4) {
    v128.store(x + (i << 2), f32x4.mul(v128.load(x + (i << 2)), f32x4.splat(factor)));
  }
  for (; i < length; i++) store<f32>(x + (i << 2), load<f32>(x + (i << 2)) * factor);
}

/** Adds the gradients of one head into dq, dk and dv, which lie as q, k and v do. */
export function attentionDx(
  length: i32,
  size: i32,
  scale: f32,
  q: usize,
  k: usize,
  v: usize,
  dq: usize,
  dk: usize,
  dv: usize,
  row: i32,
  o: usize,
  dO: usize,
  oRow: i32,
  lse: usize,
  lseRow: i32,
  pack: usize,
  scratch: usize,
): void {
  const slopes = scratch + BLOCK_BYTES;
  for (let i = 0; i < length; i += BLOCK) {
    const rows = min(BLOCK, length - i);
    const qi = (i * row) << 2;
    const oi = (i * oRow) << 2;
    for (let j = 0; j <= i; j += BLOCK) {
      const columns = min(BLOCK, length - j);
      const kj = (j * row) << 2;
      gemm(rows, columns, size, q + qi, row, 1, k + kj, 1, row, scratch, BLOCK, 0, 0, pack);
      gemm(rows, columns, size, dO + oi, oRow, 1, v + kj, 1, row, slopes, BLOCK, 0, 0, pack);
      for (let r = 0; r < rows; r++) {
        const at = ((i + r) * oRow) << 2;
        const mean = dot(dO + at, o + at, size);
        const shift = load<f32>(lse + (((i + r) * lseRow) << 2));
        slopeRow(
          scratch + ((r * BLOCK) << 2),
          slopes + ((r * BLOCK) << 2),
          min(columns, i + r - j + 1),
          columns,
          scale,
          shift,
          mean,
        );
      }
      gemm(columns, size, rows, scratch, 1, BLOCK, dO + oi, oRow, 1, dv + kj, row, 1, 0, pack);
      gemm(rows, size, columns, slopes, BLOCK, 1, k + kj, row, 1, dq + qi, row, 1, 0, pack);
      gemm(columns, size, rows, slopes, 1, BLOCK, q + qi, row, 1, dk + kj, row, 1, 0, pack);
    }
  }
}

/** Scores become probabilities, and gradients of probabilities become gradients of scores. */
function slopeRow(scores: usize, slopes: usize, seen: i32, columns: i32, scale: f32, shift: f32, mean: f32): void {
  for (let c = 0; c < columns; c += 4) {
    const score = f32x4.mul(v128.load(scores + (c << 2)), f32x4.splat(scale));
    const probability = exp4(f32x4.sub(score, f32x4.splat(shift)));
    const slope = f32x4.sub(v128.load(slopes + (c << 2)), f32x4.splat(mean));
    v128.store(scores + (c << 2), probability);
    v128.store(slopes + (c << 2), f32x4.mul(f32x4.splat(scale), f32x4.mul(probability, slope)));
  }
  for (let c = seen; c < columns; c++) {
    store<f32>(scores + (c << 2), 0);
    store<f32>(slopes + (c << 2), 0);
  }
}
