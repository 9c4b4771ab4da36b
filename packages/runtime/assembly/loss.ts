/** @file Cross-entropy over the rank's part of the vocabulary: `valid` of `v` columns are no padding. */
import { exp1, exp4, largest, sum4 } from './math';

export function rowmax(rows: i32, v: i32, valid: i32, z: usize, mx: usize): void {
  for (let r = 0; r < rows; r++) {
    const row = z + ((r * v) << 2);
    store<f32>(mx + (r << 2), largest(row, valid, -f32.MAX_VALUE));
  }
}

/** Sum of exponentials below the maximum, and the label's logit where it is one of the rank's. */
export function rowsumexp(
  rows: i32,
  v: i32,
  valid: i32,
  origin: i32,
  z: usize,
  mx: usize,
  labels: usize,
  se: usize,
  tl: usize,
): void {
  for (let r = 0; r < rows; r++) {
    const row = z + ((r * v) << 2);
    const top = load<f32>(mx + (r << 2));
    let sums = f32x4.splat(0);
    let c = 0;
    for (; c + 4 <= valid; c += 4) sums = f32x4.add(sums, exp4(f32x4.sub(v128.load(row + (c << 2)), f32x4.splat(top))));
    let sum = sum4(sums);
    for (; c < valid; c++) sum += exp1(load<f32>(row + (c << 2)) - top);
    store<f32>(se + (r << 2), sum);
    const label = load<i32>(labels + (r << 2)) - origin;
    store<f32>(tl + (r << 2), label >= 0 && label < valid ? load<f32>(row + (label << 2)) : 0);
  }
}

/** dz = scale (probability - 1 at the label); zero in padding. */
export function crossEntropyDx(
  rows: i32,
  v: i32,
  valid: i32,
  origin: i32,
  scale: f32,
  z: usize,
  mx: usize,
  se: usize,
  labels: usize,
  dz: usize,
): void {
  for (let r = 0; r < rows; r++) {
    const row = z + ((r * v) << 2);
    const to = dz + ((r * v) << 2);
    const top = load<f32>(mx + (r << 2));
    const factor = scale / load<f32>(se + (r << 2));
    let c = 0;
    for (; c + 4 <= valid; c += 4) {
      const power = exp4(f32x4.sub(v128.load(row + (c << 2)), f32x4.splat(top)));
      v128.store(to + (c << 2), f32x4.mul(power, f32x4.splat(factor)));
    }
    for (; c < valid; c++) store<f32>(to + (c << 2), exp1(load<f32>(row + (c << 2)) - top) * factor);
    for (; c < v; c++) store<f32>(to + (c << 2), 0);
    const label = load<i32>(labels + (r << 2)) - origin;
    if (label >= 0 && label < valid) {
      const at = to + (label << 2);
      store<f32>(at, load<f32>(at) - scale);
    }
  }
}
