/** @file How elements travel: the array of a type in shared memory, and the sums of reductions. */
import { assertInvariant } from '@meshwright/core/errors';
import { bytesOf, type DType } from '@meshwright/core/tensor';
import type { Elements } from '../kernels/tensor.ts';
import type { Add } from '../kernels/wasm/vector-add.ts';
import { upperHalf } from '../numbers/bf16.ts';

/** How fp32 and bf16 are computed. `float64` holds and sends all of them in 8 bytes: for telling logic from rounding. */
export type Arithmetic = 'float32' | 'float64';

/** Elements of one type in shared memory. */
export interface Wire {
  /** Bytes that an element takes in shared memory. */
  readonly width: number;
  /** Bytes that an element counts for when it moves: the size of its declared type. */
  readonly counted: number;
  write(memory: SharedArrayBuffer, offset: number, values: Elements): void;
  read(memory: SharedArrayBuffer, offset: number, into: Elements): void;
  /** The elements where they lie; absent where they travel in another form than they are computed in. */
  readonly view?: (memory: SharedArrayBuffer, offset: number, length: number) => Elements;
}

export function wireOf(dtype: DType, arithmetic: Arithmetic): Wire {
  const counted = bytesOf(dtype);
  const wide = arithmetic === 'float64' && (dtype === 'fp32' || dtype === 'bf16');
  if (wide) return plainWire(8, counted, (memory, offset, length) => new Float64Array(memory, offset, length));
  switch (dtype) {
    case 'fp32':
      return plainWire(4, counted, (memory, offset, length) => new Float32Array(memory, offset, length));
    case 'int32':
      return plainWire(4, counted, (memory, offset, length) => new Int32Array(memory, offset, length));
    case 'u8':
      return plainWire(1, counted, (memory, offset, length) => new Uint8Array(memory, offset, length));
    case 'bf16':
      return bf16Wire(counted);
    default:
      assertInvariant(false, () => `elements of type ${dtype} do not travel`);
  }
}

function plainWire(
  width: number,
  counted: number,
  view: (memory: SharedArrayBuffer, offset: number, length: number) => Elements,
): Wire {
  return {
    width,
    counted,
    view,
    write: (memory, offset, values) => view(memory, offset, values.length).set(values),
    read: (memory, offset, into) => into.set(view(memory, offset, into.length)),
  };
}

/** Two bytes an element: the upper half of the float32, rounded to nearest even. */
const bf16Wire = (counted: number): Wire => ({
  width: 2,
  counted,
  write: (memory, offset, values) => {
    const halves = new Uint16Array(memory, offset, values.length);
    const bits = bitsOf(values);
    for (let index = 0; index < halves.length; index++) halves[index] = upperHalf(bits[index]!);
  },
  read: (memory, offset, into) => {
    const halves = new Uint16Array(memory, offset, into.length);
    const bits = bitsOf(into);
    for (let index = 0; index < halves.length; index++) bits[index] = halves[index]! << 16;
  },
});

/** The memory of float32 elements as whole numbers. */
function bitsOf(values: Elements): Uint32Array {
  assertInvariant(values instanceof Float32Array, () => 'bf16 is computed in float32');
  return new Uint32Array(values.buffer, values.byteOffset, values.length);
}

/** sum[i] = sum[i] op values[i], rounded at every step as float32 accumulation is. */
export const reduceInto = (sum: Elements, values: Elements, reduce: 'sum' | 'max'): void =>
  combineInto(sum, sum, values, reduce);

/** Below so many elements the loop is faster. */
const FEW = 1024;

/** result[i] = left[i] op right[i], alike; the result may be one of them. `add` gives the same sums faster. */
export function combineInto(
  result: Elements,
  left: Elements,
  right: Elements,
  reduce: 'sum' | 'max',
  add: Add = addFloats,
): void {
  if (reduce === 'max') {
    for (let index = 0; index < result.length; index++) result[index] = Math.max(left[index]!, right[index]!);
  } else if (result instanceof Float32Array && left instanceof Float32Array && right instanceof Float32Array) {
    if (result.length < FEW) addFloats(result, left, right);
    else add(result, left, right);
  } else {
    for (let index = 0; index < result.length; index++) result[index] = left[index]! + right[index]!;
  }
}

/** One kind of array, so that the loop is compiled for it. */
function addFloats(result: Float32Array, left: Float32Array, right: Float32Array): void {
  const { length } = result;
  for (let index = 0; index < length; index++) result[index] = left[index]! + right[index]!;
}
