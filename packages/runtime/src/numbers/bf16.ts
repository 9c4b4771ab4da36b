/** @file bfloat16: the upper half of a float32, rounded to nearest, ties to even. Values are held as float32. */
import type { Elements } from '../kernels/tensor.ts';

/** Rounds elements [from, to) in place. */
export function roundToBf16(values: Elements, from: number, to: number): void {
  if (values instanceof Float32Array) {
    const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
    for (let index = from; index < to; index++) bits[index] = (upperHalf(bits[index]!) << 16) >>> 0;
    return;
  }
  const one = new Float32Array(1);
  for (let index = from; index < to; index++) {
    one[0] = values[index]!;
    roundToBf16(one, 0, 1);
    values[index] = one[0]!;
  }
}

/** The upper halves of float32 values, rounded. */
export function bf16Of(values: Float32Array): Uint16Array {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
  return Uint16Array.from(bits, upperHalf);
}

/** The 16 bits that stand for a float32 of the given bits. */
export function upperHalf(bits: number): number {
  const isNaN = (bits & 0x7fffffff) >>> 0 > 0x7f800000;
  if (isNaN) return (bits >>> 16) | 0x40;
  return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}
