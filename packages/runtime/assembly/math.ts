/** @file Exponentials on vectors, and sums over lanes. */

/** a b + c: rounded once in the relaxed build, where the processor can, and twice in the portable one. */
export function madd(a: v128, b: v128, c: v128): v128 {
  if (ASC_FEATURE_RELAXED_SIMD) return f32x4.relaxed_madd(a, b, c);
  return f32x4.add(f32x4.mul(a, b), c);
}

/** 3/2 of 2^23: a number below 2^22 that is added to it leaves its nearest integer in the low bits. */
const ROUNDER: f32 = 12582912;

/** The range of {@link exp4}, log2 e, -ln 2 in two parts, and the polynomial from its highest power. In memory, because
 * compilers of WebAssembly read a vector of equal numbers in one instruction and write one in three. */
const EXPONENTIAL: usize = memory.data<f32>([
  -87.3, 88.3, 1.44269504, -0.693359375, 2.1219444e-4, 1.98756915e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2,
  1.6666665459e-1, 5.0000001201e-1,
]);

function part(index: i32): v128 {
  return v128.load32_splat(EXPONENTIAL + (index << 2));
}

/** e^x to about two units in the last place, for x in [-87, 88]; below that about 1e-38; what is no number stays none. Method:
 * Cephes expf. */
export function exp4(x: v128): v128 {
  const clamped = f32x4.pmin(f32x4.pmax(x, part(0)), part(1));
  const rounded = madd(clamped, part(2), f32x4.splat(ROUNDER));
  const n = f32x4.sub(rounded, f32x4.splat(ROUNDER));
  let r = madd(n, part(3), clamped);
  r = madd(n, part(4), r);
  let p = part(5);
  p = madd(p, r, part(6));
  p = madd(p, r, part(7));
  p = madd(p, r, part(8));
  p = madd(p, r, part(9));
  p = madd(p, r, part(10));
  p = f32x4.add(madd(f32x4.mul(p, r), r, r), f32x4.splat(1));
  return f32x4.mul(p, i32x4.shl(i32x4.add(rounded, i32x4.splat(127)), 23));
}

/** {@link exp4} of one number. */
export function exp1(x: f32): f32 {
  return f32x4.extract_lane(exp4(f32x4.splat(x)), 0);
}

/** tanh: 1 - 2 / (e^2x + 1), and near zero, where that cancels, an odd polynomial. Method: Cephes tanhf. */
export function tanh4(x: v128): v128 {
  const one = f32x4.splat(1);
  const far = f32x4.sub(one, f32x4.div(f32x4.splat(2), f32x4.add(exp4(f32x4.add(x, x)), one)));
  const square = f32x4.mul(x, x);
  let p = f32x4.splat(-5.70498872745e-3);
  p = madd(p, square, f32x4.splat(2.06390887954e-2));
  p = madd(p, square, f32x4.splat(-5.37397155531e-2));
  p = madd(p, square, f32x4.splat(1.33314422036e-1));
  p = madd(p, square, f32x4.splat(-3.33332819422e-1));
  const near = madd(f32x4.mul(p, square), x, x);
  return v128.bitselect(near, far, f32x4.lt(f32x4.abs(x), f32x4.splat(0.625)));
}

/** Half the error function's complement of -x / sqrt 2: the part of a normal distribution below x, to 1e-7. `density` is
 * e^(-x^2/2). Source: Abramowitz and Stegun 7.1.26. */
export function normalBelow4(x: v128, density: v128): v128 {
  const one = f32x4.splat(1);
  const size = f32x4.mul(f32x4.abs(x), f32x4.splat(0.70710678));
  const t = f32x4.div(one, madd(f32x4.splat(0.3275911), size, one));
  let p = f32x4.splat(1.061405429);
  p = madd(p, t, f32x4.splat(-1.453152027));
  p = madd(p, t, f32x4.splat(1.421413741));
  p = madd(p, t, f32x4.splat(-0.284496736));
  p = madd(p, t, f32x4.splat(0.254829592));
  const above = f32x4.mul(f32x4.splat(0.5), f32x4.mul(f32x4.mul(p, t), density));
  return v128.bitselect(above, f32x4.sub(one, above), f32x4.lt(x, f32x4.splat(0)));
}

/** Sum of the four lanes. */
export function sum4(x: v128): f32 {
  return f32x4.extract_lane(x, 0) + f32x4.extract_lane(x, 1) + (f32x4.extract_lane(x, 2) + f32x4.extract_lane(x, 3));
}

/** The largest of the four lanes. */
export function max4(x: v128): f32 {
  const pairs = max(f32x4.extract_lane(x, 0), f32x4.extract_lane(x, 1));
  return max(pairs, max(f32x4.extract_lane(x, 2), f32x4.extract_lane(x, 3)));
}

/** The largest of `length` elements and `top`. */
export function largest(x: usize, length: i32, top: f32): f32 {
  let most = f32x4.splat(top);
  let i = 0;
  for (; i + 4 <= length; i += 4) most = f32x4.max(most, v128.load(x + (i << 2)));
  let result = max4(most);
  for (; i < length; i++) result = max(result, load<f32>(x + (i << 2)));
  return result;
}

/** Inner product of two rows. */
export function dot(x: usize, y: usize, length: i32): f32 {
  let sums = f32x4.splat(0);
  let i = 0;
  for (; i + 4 <= length; i += 4) {
    sums = madd(v128.load(x + (i << 2)), v128.load(y + (i << 2)), sums);
  }
  let sum = sum4(sums);
  for (; i < length; i++) sum += load<f32>(x + (i << 2)) * load<f32>(y + (i << 2));
  return sum;
}

/** Reads up to four elements; those beyond `count` are zero. */
export function loadSome(from: usize, count: i32): v128 {
  let x = f32x4.splat(0);
  x = f32x4.replace_lane(x, 0, load<f32>(from));
  if (count > 1) x = f32x4.replace_lane(x, 1, load<f32>(from, 4));
  if (count > 2) x = f32x4.replace_lane(x, 2, load<f32>(from, 8));
  return x;
}

/** Writes the first `count` of four elements. */
export function storeSome(to: usize, x: v128, count: i32): void {
  store<f32>(to, f32x4.extract_lane(x, 0));
  if (count > 1) store<f32>(to, f32x4.extract_lane(x, 1), 4);
  if (count > 2) store<f32>(to, f32x4.extract_lane(x, 2), 8);
}
