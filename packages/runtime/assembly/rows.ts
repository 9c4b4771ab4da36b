/** @file Rows moved by a table of places, and summed: what experts need beside products. */
import { dot, madd } from './math';

/** to[r] = from[places[r]]. */
export function gatherRows(count: i32, width: i32, from: usize, places: usize, to: usize): void {
  for (let r = 0; r < count; r++) {
    memory.copy(to + ((r * width) << 2), from + ((load<i32>(places + (r << 2)) * width) << 2), width << 2);
  }
}

/** to[places[r]] = from[r]. */
export function scatterRows(count: i32, width: i32, from: usize, places: usize, to: usize): void {
  for (let r = 0; r < count; r++) {
    memory.copy(to + ((load<i32>(places + (r << 2)) * width) << 2), from + ((r * width) << 2), width << 2);
  }
}

/** to[r] = factor times the sum over `each` copies of weight times copy; `places` and `weights` may be 0: copies then lie in
 * order, and each weight is 1. */
export function sumCopies(
  count: i32,
  each: i32,
  width: i32,
  from: usize,
  places: usize,
  weights: usize,
  factor: f32,
  to: usize,
): void {
  for (let r = 0; r < count; r++) {
    const row = to + ((r * width) << 2);
    memory.fill(row, 0, width << 2);
    for (let t = 0; t < each; t++) {
      const copy = r * each + t;
      const place = places ? load<i32>(places + (copy << 2)) : copy;
      const weight = factor * (weights ? load<f32>(weights + (copy << 2)) : 1);
      addScaled(row, from + ((place * width) << 2), width, weight);
    }
  }
}

function addScaled(sum: usize, x: usize, width: i32, factor: f32): void {
  const wide = f32x4.splat(factor);
  let i = 0;
  for (; i + 4 <= width; i += 4) {
    v128.store(sum + (i << 2), madd(wide, v128.load(x + (i << 2)), v128.load(sum + (i << 2))));
  }
  for (; i < width; i++) store<f32>(sum + (i << 2), load<f32>(sum + (i << 2)) + factor * load<f32>(x + (i << 2)));
}

/** Backward of {@link sumCopies}: gradients of the copies, and of the weights where `dWeights` is not 0. */
export function sumCopiesDx(
  count: i32,
  each: i32,
  width: i32,
  dy: usize,
  copies: usize,
  places: usize,
  weights: usize,
  factor: f32,
  dCopies: usize,
  dWeights: usize,
): void {
  for (let r = 0; r < count; r++) {
    const slope = dy + ((r * width) << 2);
    for (let t = 0; t < each; t++) {
      const copy = r * each + t;
      const row = ((places ? load<i32>(places + (copy << 2)) : copy) * width) << 2;
      const weight = factor * (weights ? load<f32>(weights + (copy << 2)) : 1);
      if (dWeights) store<f32>(dWeights + (copy << 2), copies ? factor * dot(slope, copies + row, width) : 0);
      timesRow(width, slope, weight, dCopies + row);
    }
  }
}

function timesRow(width: i32, x: usize, factor: f32, y: usize): void {
  let i = 0;
  for (; i + 4 <= width; i += 4) {
    v128.store(y + (i << 2), f32x4.mul(v128.load(x + (i << 2)), f32x4.splat(factor)));
  }
  for (; i < width; i++) store<f32>(y + (i << 2), load<f32>(x + (i << 2)) * factor);
}

/** y[r] = x[r] + factor bias, in place or out of place. */
export function addBias(rows: i32, width: i32, x: usize, bias: usize, factor: f32, y: usize): void {
  const wide = f32x4.splat(factor);
  for (let r = 0; r < rows; r++) {
    const row = (r * width) << 2;
    let i = 0;
    for (; i + 4 <= width; i += 4) {
      const at = row + (i << 2);
      v128.store(y + at, madd(wide, v128.load(bias + (i << 2)), v128.load(x + at)));
    }
    for (; i < width; i++) {
      const at = row + (i << 2);
      store<f32>(y + at, load<f32>(x + at) + factor * load<f32>(bias + (i << 2)));
    }
  }
}

/** y[r] = x[r] times weights[r]. */
export function weighRows(rows: i32, width: i32, x: usize, weights: usize, y: usize): void {
  for (let r = 0; r < rows; r++) {
    timesRow(width, x + ((r * width) << 2), load<f32>(weights + (r << 2)), y + ((r * width) << 2));
  }
}

/** products[r] = x[r] . y[r]. */
export function dotRows(rows: i32, width: i32, x: usize, y: usize, products: usize): void {
  for (let r = 0; r < rows; r++) {
    const row = (r * width) << 2;
    store<f32>(products + (r << 2), dot(x + row, y + row, width));
  }
}
