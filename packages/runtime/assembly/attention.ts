/** @file The steps of blockwise attention between its products (Dao et al. 2022): scores of a block of queries and keys become
 * exponentials below running maxima, and in backward gradients of scores. The host walks the blocks and knows who sees
 * whom: `seen` holds two numbers for each query, its first key and the one behind its last, counted from the first key of
 * all; `first` is the first key of the block.
 */
import { dot, exp1, exp4, max4, sum4, tanh4 } from './math';

const LOWEST: f32 = -1e30;

/** Statistics and sums before the first block: `top` and `sum`, or what earlier keys have left. */
export function beginRows(
  rows: i32,
  size: i32,
  o: usize,
  oRow: i32,
  tops: usize,
  sums: usize,
  top: f32,
  sum: f32,
  before: usize,
  lseBefore: usize,
  lseRow: i32,
): void {
  for (let r = 0; r < rows; r++) {
    const at = (r * oRow) << 2;
    if (before) memory.copy(o + at, before + at, size << 2);
    else memory.fill(o + at, 0, size << 2);
    store<f32>(tops + (r << 2), before ? load<f32>(lseBefore + ((r * lseRow) << 2)) : top);
    store<f32>(sums + (r << 2), before ? 1 : sum);
  }
}

/** Scores in place of products: scaled, capped where there is a cap, less by `fall` for each token of distance. `lag`: the
 * place of the row's query less that of its first key. */
function scoreRow(x: usize, from: i32, to: i32, scale: f32, cap: f32, fall: f32, lag: i32): void {
  for (let c = from; c < to; c += 4) {
    let score = f32x4.mul(v128.load(x + (c << 2)), f32x4.splat(scale));
    if (cap !== 0) score = f32x4.mul(f32x4.splat(cap), tanh4(f32x4.mul(score, f32x4.splat(1 / cap))));
    if (fall !== 0) score = f32x4.sub(score, f32x4.mul(f32x4.splat(fall), distance(lag, c)));
    v128.store(x + (c << 2), score);
  }
}

function distance(lag: i32, column: i32): v128 {
  const away = <f32>(lag - column);
  return f32x4.sub(f32x4.splat(away), f32x4(0, 1, 2, 3));
}

/** Writes `value` outside of the columns that are seen, up to the end of the last vector. */
function cover(x: usize, from: i32, to: i32, columns: i32, value: f32): void {
  for (let c = 0; c < from; c++) store<f32>(x + (c << 2), value);
  for (let c = to; c < ((columns + 3) & ~3); c++) store<f32>(x + (c << 2), value);
}

/** Writes `value` outside of the columns that are seen, within their first and last vector. */
function coverEnds(x: usize, from: i32, to: i32, value: f32): void {
  for (let c = from & ~3; c < from; c++) store<f32>(x + (c << 2), value);
  for (let c = to; c < ((to + 3) & ~3); c++) store<f32>(x + (c << 2), value);
}

/** Products become exponentials below each query's running maximum; what was summed before is scaled to it. */
export function softenRows(
  rows: i32,
  columns: i32,
  stride: i32,
  scores: usize,
  seen: usize,
  first: i32,
  scale: f32,
  cap: f32,
  fall: f32,
  lag: i32,
  tops: usize,
  sums: usize,
  o: usize,
  oRow: i32,
  size: i32,
): void {
  for (let r = 0; r < rows; r++) {
    const x = scores + ((r * stride) << 2);
    const from = max(0, min(columns, load<i32>(seen + (r << 3)) - first));
    const to = max(from, min(columns, load<i32>(seen + (r << 3), 4) - first));
    if (from === to) {
      cover(x, 0, 0, columns, 0);
      continue;
    }
    const first4 = from & ~3;
    if (cap !== 0 || fall !== 0) scoreRow(x, first4, to, scale, cap, fall, lag + r);
    const factor4 = f32x4.splat(cap !== 0 || fall !== 0 ? 1 : scale);
    coverEnds(x, from, to, LOWEST);
    let most4 = f32x4.splat(LOWEST);
    for (let c = first4; c < to; c += 4) most4 = f32x4.pmax(most4, f32x4.mul(factor4, v128.load(x + (c << 2))));
    const before = load<f32>(tops + (r << 2));
    const most = max(before, max4(most4));
    let sum = load<f32>(sums + (r << 2));
    if (most > before) {
      const factor = exp1(before - most);
      store<f32>(tops + (r << 2), most);
      sum *= factor;
      scaleRow(o + ((r * oRow) << 2), size, factor);
    }
    const shift = f32x4.splat(most);
    let powers = f32x4.splat(0);
    for (let c = first4; c < to; c += 4) {
      const at = x + (c << 2);
      const power = exp4(f32x4.sub(f32x4.mul(factor4, v128.load(at)), shift));
      v128.store(at, power);
      powers = f32x4.add(powers, power);
    }
    cover(x, from, to, columns, 0);
    store<f32>(sums + (r << 2), sum + sum4(powers));
  }
}

/** What was summed is divided by its sum of exponentials, whose logarithm is kept. */
export function finishRows(
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

function scaleRow(x: usize, length: i32, factor: f32): void {
  let i = 0;
  for (; i + 4 <= length; i += 4) {
    v128.store(x + (i << 2), f32x4.mul(v128.load(x + (i << 2)), f32x4.splat(factor)));
  }
  for (; i < length; i++) store<f32>(x + (i << 2), load<f32>(x + (i << 2)) * factor);
}

/** means[r] = dy[r] . y[r]. */
export function rowMeans(rows: i32, size: i32, dy: usize, y: usize, row: i32, means: usize): void {
  for (let r = 0; r < rows; r++) {
    const at = (r * row) << 2;
    store<f32>(means + (r << 2), dot(dy + at, y + at, size));
  }
}

/** Products become probabilities, and gradients of probabilities gradients of products. */
export function slopeRows(
  rows: i32,
  columns: i32,
  stride: i32,
  scores: usize,
  slopes: usize,
  seen: usize,
  first: i32,
  scale: f32,
  cap: f32,
  fall: f32,
  lag: i32,
  lse: usize,
  lseRow: i32,
  means: usize,
): void {
  for (let r = 0; r < rows; r++) {
    const x = scores + ((r * stride) << 2);
    const dx = slopes + ((r * stride) << 2);
    const from = max(0, min(columns, load<i32>(seen + (r << 3)) - first));
    const to = max(from, min(columns, load<i32>(seen + (r << 3), 4) - first));
    const shift = f32x4.splat(load<f32>(lse + ((r * lseRow) << 2)));
    const mean = f32x4.splat(load<f32>(means + (r << 2)));
    if (from < to) {
      for (let c = from & ~3; c < to; c += 4) {
        let score = f32x4.mul(v128.load(x + (c << 2)), f32x4.splat(scale));
        let bend = f32x4.splat(scale);
        if (cap !== 0) {
          const part = tanh4(f32x4.mul(score, f32x4.splat(1 / cap)));
          score = f32x4.mul(f32x4.splat(cap), part);
          bend = f32x4.mul(bend, f32x4.sub(f32x4.splat(1), f32x4.mul(part, part)));
        }
        if (fall !== 0) score = f32x4.sub(score, f32x4.mul(f32x4.splat(fall), distance(lag + r, c)));
        const probability = exp4(f32x4.sub(score, shift));
        const slope = f32x4.sub(v128.load(dx + (c << 2)), mean);
        v128.store(x + (c << 2), probability);
        v128.store(dx + (c << 2), f32x4.mul(bend, f32x4.mul(probability, slope)));
      }
    }
    cover(x, from, to, columns, 0);
    cover(dx, from, to, columns, 0);
  }
}
