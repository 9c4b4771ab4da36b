/** @file Files of tensors as Hugging Face lays them out: eight bytes of length, a JSON header, the elements. Files may come
 * from strangers, so everything that the header says is checked before it is believed.
 */
import { type Issue, issue, quote } from '@meshwright/core/errors';

/** Element types that are read. All but the last one are written. */
const WIDTHS = { F32: 4, F64: 8, BF16: 2, F16: 2 } as const;
export type StoredType = keyof typeof WIDTHS;
export type Stored = Float32Array | Float64Array;

/** A tensor to be written; of bf16 its upper halves of float32. */
export interface NamedTensor {
  readonly name: string;
  readonly shape: readonly number[];
  readonly data: Stored | Uint16Array;
}

/** A tensor as the header of a file describes it. Bytes count from the begin of the file. */
export interface StoredTensor {
  readonly name: string;
  readonly dtype: StoredType;
  readonly shape: readonly number[];
  readonly begin: number;
  readonly end: number;
}

/** Headers beyond this are no tensors of anybody. */
const LARGEST_HEADER = 64 << 20;
const LENGTH_BYTES = 8;

/** A file in pieces, in the order of writing. The elements begin at a multiple of eight bytes. */
export function safetensorsChunks(
  tensors: readonly NamedTensor[],
  metadata: Readonly<Record<string, string>> = {},
): readonly Uint8Array[] {
  let offset = 0;
  const entries = tensors.map(({ name, shape, data }) => {
    const begin = offset;
    offset += data.byteLength;
    return [name, { dtype: typeOf(data), shape, data_offsets: [begin, offset] }] as const;
  });
  const named = Object.keys(metadata).length > 0 ? [['__metadata__', metadata] as const] : [];
  const header = new TextEncoder().encode(JSON.stringify(Object.fromEntries([...named, ...entries])));
  const padded = Math.ceil(header.length / LENGTH_BYTES) * LENGTH_BYTES;
  const head = new Uint8Array(LENGTH_BYTES + padded).fill(0x20, LENGTH_BYTES + header.length);
  new DataView(head.buffer).setBigUint64(0, BigInt(padded), true);
  head.set(header, LENGTH_BYTES);
  return [head, ...tensors.map(({ data }) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength))];
}

function typeOf(data: NamedTensor['data']): StoredType {
  if (data instanceof Uint16Array) return 'BF16';
  return data instanceof Float64Array ? 'F64' : 'F32';
}

/** What a file holds, or everything that is wrong with it: lengths, bounds, overlaps, gaps, types, shapes. */
export interface SafetensorsReading {
  readonly tensors: readonly StoredTensor[];
  readonly issues: readonly Issue[];
}

/** Reads the header of a whole file. `name` is how the file is called in issues. */
export function readSafetensors(bytes: Uint8Array, name: string): SafetensorsReading {
  const wrong = (message: string): SafetensorsReading => ({ tensors: [], issues: [damaged(name, message)] });
  if (bytes.length < LENGTH_BYTES) return wrong(`it has ${bytes.length} bytes and a header begins with 8.`);
  const length = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
  if (length > BigInt(Math.min(LARGEST_HEADER, bytes.length - LENGTH_BYTES))) {
    return wrong(`its header of ${length} bytes does not fit in the ${bytes.length} bytes of the file.`);
  }
  const begin = LENGTH_BYTES + Number(length);
  const header = parseHeader(bytes.subarray(LENGTH_BYTES, begin));
  if (header === undefined) return wrong('its header is not a JSON object.');
  const tensors: StoredTensor[] = [];
  const issues: Issue[] = [];
  for (const [tensor, entry] of Object.entries(header)) {
    if (tensor === '__metadata__') continue;
    const read = readEntry(tensor, entry, begin, bytes.length);
    if (typeof read === 'string') issues.push(damaged(name, `the tensor ${quote(tensor)} ${read}.`));
    else tensors.push(read);
  }
  if (issues.length === 0) issues.push(...layoutIssues(tensors, begin, bytes.length, name));
  return { tensors: issues.length === 0 ? tensors : [], issues };
}

function parseHeader(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
const isCounts = (value: unknown): value is readonly number[] => Array.isArray(value) && value.every(isCount);
const isStoredType = (value: unknown): value is StoredType => typeof value === 'string' && Object.hasOwn(WIDTHS, value);

/** One entry of a header, or what is wrong with it in words. */
function readEntry(name: string, entry: unknown, begin: number, fileBytes: number): StoredTensor | string {
  if (!isObject(entry)) return 'is described by no JSON object';
  const { dtype, shape, data_offsets: offsets } = entry;
  if (!isStoredType(dtype))
    return `has the type ${quote(String(dtype))} and not one of ${Object.keys(WIDTHS).join(', ')}`;
  if (!isCounts(shape)) return 'has a shape that is no list of sizes';
  if (!isCounts(offsets) || offsets.length !== 2) return 'has no two offsets';
  const [first = 0, last = 0] = offsets;
  const bytes = shape.reduce((product, size) => product * size, WIDTHS[dtype]);
  if (last - first !== bytes) return `has ${last - first} bytes, and its shape asks for ${bytes}`;
  if (begin + last > fileBytes) return `ends ${begin + last - fileBytes} bytes behind the file`;
  return { name, dtype, shape, begin: begin + first, end: begin + last };
}

/** Tensors lie one behind another and fill the file. */
function layoutIssues(
  tensors: readonly StoredTensor[],
  begin: number,
  fileBytes: number,
  name: string,
): readonly Issue[] {
  let at = begin;
  for (const tensor of [...tensors].sort((one, other) => one.begin - other.begin || one.end - other.end)) {
    if (tensor.begin < at) return [damaged(name, `the tensor ${quote(tensor.name)} overlaps another.`)];
    if (tensor.begin > at)
      return [damaged(name, `${tensor.begin - at} bytes before ${quote(tensor.name)} are nobody's.`)];
    at = tensor.end;
  }
  return at === fileBytes ? [] : [damaged(name, `${fileBytes - at} bytes at its end are nobody's.`)];
}

/** The one issue that is made of a file that is not what it should be; the end of its path tells which. */
export function damaged(file: string, message: string): Issue {
  const end = file.split(/[\\/]/).slice(-2).join('/');
  return issue('CHECKPOINT_DAMAGED', '', `${end}: ${message}`, 'Use an earlier checkpoint, or copy it anew.');
}

/** The elements of a tensor, widened to float32 (float64 stays). A copy: the bytes of the file may lie anywhere. */
export function storedValues(bytes: Uint8Array, { dtype, begin, end }: StoredTensor): Stored {
  const copy = new Uint8Array(bytes.subarray(begin, end)).buffer;
  switch (dtype) {
    case 'F32':
      return new Float32Array(copy);
    case 'F64':
      return new Float64Array(copy);
    case 'BF16':
      return new Float32Array(Uint32Array.from(new Uint16Array(copy), (half) => (half << 16) >>> 0).buffer);
    case 'F16':
      return Float32Array.from(new Uint16Array(copy), halfToFloat);
  }
}

/** IEEE half precision: sign, 5 bits of exponent (bias 15), 10 of fraction. */
function halfToFloat(half: number): number {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 31;
  const fraction = half & 1023;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}
