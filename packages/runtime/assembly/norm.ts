/** @file Layer norm and RMS norm, forward and backward. Statistics: mean, then reciprocal deviation; or the latter alone. */
import { sum4 } from './math';

export function layernorm(rows: i32, h: i32, x: usize, w: usize, b: usize, y: usize, st: usize, epsilon: f32): void {
  for (let r = 0; r < rows; r++) {
    const from = x + ((r * h) << 2);
    const mean = sumOf(from, h) / <f32>h;
    const scale: f32 = 1 / sqrt(squaresOf(from, h, mean) / <f32>h + epsilon);
    store<f32>(st + (r << 2), mean);
    store<f32>(st + ((rows + r) << 2), scale);
    normRow(from, w, b, y + ((r * h) << 2), h, mean, scale);
  }
}

export function rmsnorm(rows: i32, h: i32, x: usize, w: usize, y: usize, st: usize, epsilon: f32): void {
  for (let r = 0; r < rows; r++) {
    const from = x + ((r * h) << 2);
    const scale: f32 = 1 / sqrt(squaresOf(from, h, 0) / <f32>h + epsilon);
    store<f32>(st + (r << 2), scale);
    normRow(from, w, 0, y + ((r * h) << 2), h, 0, scale);
  }
}

function sumOf(x: usize, length: i32): f32 {
  let sums = f32x4.splat(0);
  let i = 0;
  for (; i + 4 <= length; i += 4) sums = f32x4.add(sums, v128.load(x + (i << 2)));
  let sum = sum4(sums);
  for (; i < length; i++) sum += load<f32>(x + (i << 2));
  return sum;
}

function squaresOf(x: usize, length: i32, mean: f32): f32 {
  let sums = f32x4.splat(0);
  let i = 0;
  for (; i + 4 <= length; i += 4) {
    const d = f32x4.sub(v128.load(x + (i << 2)), f32x4.splat(mean));
    sums = f32x4.add(sums, f32x4.mul(d, d));
  }
  let sum = sum4(sums);
  for (; i < length; i++) {
    const d = load<f32>(x + (i << 2)) - mean;
    sum += d * d;
  }
  return sum;
}

/** y = (x - mean) scale w + b; `b` may be 0. */
function normRow(x: usize, w: usize, b: usize, y: usize, length: i32, mean: f32, scale: f32): void {
  let i = 0;
  for (; i + 4 <= length; i += 4) {
    const at = i << 2;
    const normal = f32x4.mul(f32x4.sub(v128.load(x + at), f32x4.splat(mean)), f32x4.splat(scale));
    const gained = f32x4.mul(normal, v128.load(w + at));
    v128.store(y + at, b ? f32x4.add(gained, v128.load(b + at)) : gained);
  }
  for (; i < length; i++) {
    const at = i << 2;
    const gained = (load<f32>(x + at) - mean) * scale * load<f32>(w + at);
    store<f32>(y + at, b ? gained + load<f32>(b + at) : gained);
  }
}

/** dw and db are added to; `residual` may be 0. */
export function layernormDx(
  rows: i32,
  h: i32,
  dy: usize,
  x: usize,
  st: usize,
  w: usize,
  residual: usize,
  dx: usize,
  dw: usize,
  db: usize,
): void {
  for (let r = 0; r < rows; r++) {
    const at = (r * h) << 2;
    const mean = load<f32>(st + (r << 2));
    const scale = load<f32>(st + ((rows + r) << 2));
    backRow(dy + at, x + at, w, residual ? residual + at : 0, dx + at, dw, db, h, mean, scale);
  }
}

export function rmsnormDx(
  rows: i32,
  h: i32,
  dy: usize,
  x: usize,
  st: usize,
  w: usize,
  residual: usize,
  dx: usize,
  dw: usize,
): void {
  for (let r = 0; r < rows; r++) {
    const at = (r * h) << 2;
    const scale = load<f32>(st + (r << 2));
    backRow(dy + at, x + at, w, residual ? residual + at : 0, dx + at, dw, 0, h, 0, scale);
  }
}

/** Without `db` the norm has no mean to pass a gradient through. Rows are done four elements at a time, the rest one by one. */
function backRow(
  dy: usize,
  x: usize,
  w: usize,
  residual: usize,
  dx: usize,
  dw: usize,
  db: usize,
  h: i32,
  mean: f32,
  scale: f32,
): void {
  let gradients = f32x4.splat(0);
  let products = gradients;
  let i = 0;
  for (; i + 4 <= h; i += 4) {
    const at = i << 2;
    const normal = f32x4.mul(f32x4.sub(v128.load(x + at), f32x4.splat(mean)), f32x4.splat(scale));
    const slope = v128.load(dy + at);
    const gained = f32x4.mul(slope, v128.load(w + at));
    v128.store(dw + at, f32x4.add(v128.load(dw + at), f32x4.mul(slope, normal)));
    if (db) v128.store(db + at, f32x4.add(v128.load(db + at), slope));
    gradients = f32x4.add(gradients, gained);
    products = f32x4.add(products, f32x4.mul(gained, normal));
  }
  let gradient = sum4(gradients);
  let product = sum4(products);
  for (; i < h; i++) {
    const at = i << 2;
    const normal = (load<f32>(x + at) - mean) * scale;
    const slope = load<f32>(dy + at);
    store<f32>(dw + at, load<f32>(dw + at) + slope * normal);
    if (db) store<f32>(db + at, load<f32>(db + at) + slope);
    gradient += slope * load<f32>(w + at);
    product += slope * load<f32>(w + at) * normal;
  }
  writeRow(dy, x, w, residual, dx, h, mean, scale, db ? gradient / <f32>h : 0, product / <f32>h);
}

function writeRow(
  dy: usize,
  x: usize,
  w: usize,
  residual: usize,
  dx: usize,
  h: i32,
  mean: f32,
  scale: f32,
  gradient: f32,
  product: f32,
): void {
  let i = 0;
  for (; i + 4 <= h; i += 4) {
    const at = i << 2;
    const normal = f32x4.mul(f32x4.sub(v128.load(x + at), f32x4.splat(mean)), f32x4.splat(scale));
    const gained = f32x4.mul(v128.load(dy + at), v128.load(w + at));
    const own = f32x4.sub(f32x4.sub(gained, f32x4.splat(gradient)), f32x4.mul(normal, f32x4.splat(product)));
    const scaled = f32x4.mul(f32x4.splat(scale), own);
    v128.store(dx + at, residual ? f32x4.add(scaled, v128.load(residual + at)) : scaled);
  }
  for (; i < h; i++) {
    const at = i << 2;
    const normal = (load<f32>(x + at) - mean) * scale;
    const own = scale * (load<f32>(dy + at) * load<f32>(w + at) - gradient - normal * product);
    store<f32>(dx + at, residual ? own + load<f32>(residual + at) : own);
  }
}
