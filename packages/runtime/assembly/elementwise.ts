/** @file Activations, gates and sums, element by element. A function is named by its number. */
import { exp4, loadSome, madd, normalBelow4, storeSome, tanh4 } from './math';

const GELU_TANH: i32 = 0;
const GELU: i32 = 1;
const SILU: i32 = 2;

const CUBIC: f32 = 0.044715;
const ROOT_TWO_OVER_PI: f32 = 0.7978845608;
const DENSITY_AT_ZERO: f32 = 0.3989422804;

/** (1 + tanh u) / 2 = 1 / (1 + e^-2u) of u = sqrt(2/pi) (x + 0.044715 x^3). */
function shareOf(x: v128, square: v128): v128 {
  const twice = f32x4.mul(
    x,
    madd(square, f32x4.splat(2 * ROOT_TWO_OVER_PI * CUBIC), f32x4.splat(2 * ROOT_TWO_OVER_PI)),
  );
  return logistic4(twice);
}

function geluTanh4(x: v128): v128 {
  return f32x4.mul(x, shareOf(x, f32x4.mul(x, x)));
}

function geluTanhSlope4(x: v128): v128 {
  const square = f32x4.mul(x, x);
  const share = shareOf(x, square);
  const inner = madd(square, f32x4.splat(6 * ROOT_TWO_OVER_PI * CUBIC), f32x4.splat(2 * ROOT_TWO_OVER_PI));
  const bend = f32x4.mul(f32x4.mul(x, inner), f32x4.sub(f32x4.splat(1), share));
  return madd(share, bend, share);
}

/** e^(-x^2/2). */
function bell4(x: v128): v128 {
  return exp4(f32x4.mul(f32x4.splat(-0.5), f32x4.mul(x, x)));
}

function geluSlope4(x: v128): v128 {
  const bell = bell4(x);
  return f32x4.add(normalBelow4(x, bell), f32x4.mul(x, f32x4.mul(f32x4.splat(DENSITY_AT_ZERO), bell)));
}

function logistic4(x: v128): v128 {
  const one = f32x4.splat(1);
  return f32x4.div(one, f32x4.add(one, exp4(f32x4.neg(x))));
}

function siluSlope4(x: v128): v128 {
  const one = f32x4.splat(1);
  const share = logistic4(x);
  return f32x4.mul(share, f32x4.add(one, f32x4.mul(x, f32x4.sub(one, share))));
}

function value4(kind: i32, x: v128): v128 {
  if (kind === GELU_TANH) return geluTanh4(x);
  if (kind === GELU) return f32x4.mul(x, normalBelow4(x, bell4(x)));
  if (kind === SILU) return f32x4.mul(x, logistic4(x));
  return f32x4.max(x, f32x4.splat(0));
}

function slope4(kind: i32, x: v128): v128 {
  if (kind === GELU_TANH) return geluTanhSlope4(x);
  if (kind === GELU) return geluSlope4(x);
  if (kind === SILU) return siluSlope4(x);
  return v128.and(f32x4.splat(1), f32x4.gt(x, f32x4.splat(0)));
}

function load4(from: usize, count: i32): v128 {
  return count >= 4 ? v128.load(from) : loadSome(from, count);
}

function store4(to: usize, x: v128, count: i32): void {
  if (count >= 4) v128.store(to, x);
  else storeSome(to, x, count);
}

export function activate(kind: i32, count: i32, x: usize, y: usize): void {
  for (let i = 0; i < count; i += 4) store4(y + (i << 2), value4(kind, load4(x + (i << 2), count - i)), count - i);
}

export function activateDx(kind: i32, count: i32, dy: usize, x: usize, dx: usize): void {
  for (let i = 0; i < count; i += 4) {
    const slope = slope4(kind, load4(x + (i << 2), count - i));
    store4(dx + (i << 2), f32x4.mul(load4(dy + (i << 2), count - i), slope), count - i);
  }
}

/** y = function(gate) up; a row of x holds `width` gates, then as many ups. */
export function gated(kind: i32, rows: i32, width: i32, x: usize, y: usize): void {
  for (let r = 0; r < rows; r++) {
    const gates = x + ((2 * r * width) << 2);
    const ups = gates + (width << 2);
    const to = y + ((r * width) << 2);
    for (let i = 0; i < width; i += 4) {
      const rest = width - i;
      const gate = load4(gates + (i << 2), rest);
      store4(to + (i << 2), f32x4.mul(value4(kind, gate), load4(ups + (i << 2), rest)), rest);
    }
  }
}

export function gatedDx(kind: i32, rows: i32, width: i32, dy: usize, x: usize, dx: usize): void {
  for (let r = 0; r < rows; r++) {
    const row = (2 * r * width) << 2;
    const from = dy + ((r * width) << 2);
    for (let i = 0; i < width; i += 4) {
      const rest = width - i;
      const at = row + (i << 2);
      const gate = load4(x + at, rest);
      const up = load4(x + at + (width << 2), rest);
      const slope = load4(from + (i << 2), rest);
      store4(dx + at, f32x4.mul(f32x4.mul(slope, up), slope4(kind, gate)), rest);
      store4(dx + at + (width << 2), f32x4.mul(slope, value4(kind, gate)), rest);
    }
  }
}

/** y = limit tanh(x / limit). */
export function cap(count: i32, limit: f32, x: usize, y: usize): void {
  for (let i = 0; i < count; i += 4) {
    const part = tanh4(f32x4.div(load4(x + (i << 2), count - i), f32x4.splat(limit)));
    store4(y + (i << 2), f32x4.mul(f32x4.splat(limit), part), count - i);
  }
}

/** The slope of a capped value is told by the value itself. */
export function capDx(count: i32, limit: f32, dy: usize, y: usize, dx: usize): void {
  for (let i = 0; i < count; i += 4) {
    const part = f32x4.div(load4(y + (i << 2), count - i), f32x4.splat(limit));
    const slope = f32x4.sub(f32x4.splat(1), f32x4.mul(part, part));
    store4(dx + (i << 2), f32x4.mul(load4(dy + (i << 2), count - i), slope), count - i);
  }
}

/** y = branch + bias + residual; `bias`, one for each column, may be 0. */
export function add(rows: i32, h: i32, branch: usize, bias: usize, residual: usize, y: usize): void {
  for (let r = 0; r < rows; r++) {
    const row = (r * h) << 2;
    let i = 0;
    for (; i + 4 <= h; i += 4) {
      const at = row + (i << 2);
      const sum = f32x4.add(v128.load(branch + at), v128.load(residual + at));
      v128.store(y + at, bias ? f32x4.add(sum, v128.load(bias + (i << 2))) : sum);
    }
    for (; i < h; i++) {
      const at = row + (i << 2);
      const sum = load<f32>(branch + at) + load<f32>(residual + at);
      store<f32>(y + at, bias ? sum + load<f32>(bias + (i << 2)) : sum);
    }
  }
}
