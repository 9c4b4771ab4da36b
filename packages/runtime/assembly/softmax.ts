/** @file Attention with its scores in memory: scores under a mask, probabilities, and gradients of both. */
import { dot, exp1, exp4, largest, sum4, tanh4 } from './math';

const UNSEEN: f32 = -1e30;

/** Products [rows, columns] become scores; what a query may not see, by two numbers in `seen`, is `otherwise`. */
export function maskRows(
  rows: i32,
  columns: i32,
  x: usize,
  seen: usize,
  scale: f32,
  cap: f32,
  fall: f32,
  otherwise: f32,
): void {
  for (let r = 0; r < rows; r++) {
    const row = x + ((r * columns) << 2);
    const from = load<i32>(seen + (r << 3));
    const to = load<i32>(seen + (r << 3), 4);
    for (let c = 0; c < from; c++) store<f32>(row + (c << 2), otherwise);
    for (let c = to; c < columns; c++) store<f32>(row + (c << 2), otherwise);
    for (let c = from; c < to; c++) {
      let score = scale * load<f32>(row + (c << 2));
      if (cap !== 0) score = cap * f32x4.extract_lane(tanh4(f32x4.splat(score / cap)), 0);
      store<f32>(row + (c << 2), score - fall * <f32>(r - c));
    }
  }
}

/** Probabilities of each row; a sink for each `perSink` rows takes part and is not written. */
export function softmaxRows(rows: i32, columns: i32, x: usize, y: usize, sinks: usize, perSink: i32): void {
  for (let r = 0; r < rows; r++) {
    const from = x + ((r * columns) << 2);
    const to = y + ((r * columns) << 2);
    const sink = sinks ? load<f32>(sinks + ((r / perSink) << 2)) : UNSEEN;
    const top = largest(from, columns, sink);
    let powers = f32x4.splat(0);
    let c = 0;
    for (; c + 4 <= columns; c += 4) {
      const score = v128.load(from + (c << 2));
      const power = v128.and(exp4(f32x4.sub(score, f32x4.splat(top))), f32x4.gt(score, f32x4.splat(UNSEEN)));
      v128.store(to + (c << 2), power);
      powers = f32x4.add(powers, power);
    }
    let sum = sum4(powers) + (sinks ? exp1(sink - top) : 0);
    for (; c < columns; c++) {
      const score = load<f32>(from + (c << 2));
      const power: f32 = score > UNSEEN ? exp1(score - top) : 0;
      store<f32>(to + (c << 2), power);
      sum += power;
    }
    scale(to, columns, 1 / sum);
  }
}

/** x *= factor. */
export function scale(x: usize, length: i32, factor: f32): void {
  let i = 0;
  for (; i + 4 <= length; i += 4) {
    v128.store(x + (i << 2), f32x4.mul(v128.load(x + (i << 2)), f32x4.splat(factor)));
  }
  for (; i < length; i++) store<f32>(x + (i << 2), load<f32>(x + (i << 2)) * factor);
}

/** dx = y (dy - dy . y), row by row. */
export function softmaxRowsDx(rows: i32, columns: i32, dy: usize, y: usize, dx: usize): void {
  for (let r = 0; r < rows; r++) {
    const row = (r * columns) << 2;
    const mean = dot(dy + row, y + row, columns);
    let c = 0;
    for (; c + 4 <= columns; c += 4) {
      const at = row + (c << 2);
      v128.store(dx + at, f32x4.mul(v128.load(y + at), f32x4.sub(v128.load(dy + at), f32x4.splat(mean))));
    }
    for (; c < columns; c++) {
      const at = row + (c << 2);
      store<f32>(dx + at, load<f32>(y + at) * (load<f32>(dy + at) - mean));
    }
  }
}
